/** Plain words for system errors about a path. */
const MEANINGS: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `There is no ${path}.`,
  ENOTDIR: (path) => `${path} is not in a folder: a part of its path is a file.`,
  EISDIR: (path) => `${path} is a folder, not a file.`,
  EACCES: (path) => `${path} may not be read or written by this user.`,
  EPERM: (path) => `${path} may not be read or written by this user.`,
  EROFS: (path) => `${path} is on a disk that can only be read.`,
  EEXIST: (path) => `${path} is there already.`,
  ENOSPC: (path) => `The disk of ${path} is full.`,
};

/** An error of the file system as a sentence with its path; undefined for any other error. */
export function fileFault(error: unknown): string | undefined {
  const { code = '', path, syscall } = error as NodeJS.ErrnoException;
  const meaning = syscall !== undefined && Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  return meaning?.(path ?? 'this path');
}
