/** Remedies for system errors, by code. */
const REMEDIES: Readonly<Record<string, string>> = {
  EACCES:
    'this user may not write there; change its owner, or set FARTHING_DATA_DIR to a folder of this user',
  EPERM: 'this user may not write there; change its owner, or set FARTHING_DATA_DIR to a folder of this user',
  EROFS: 'the file system is read-only; set FARTHING_DATA_DIR to a folder that can be written',
  ENOSPC: 'the disk is full; make room, or set FARTHING_DATA_DIR to a larger disk',
  EDQUOT: 'the quota of the disk is used up; make room, or set FARTHING_DATA_DIR to another disk',
  ENOTDIR: 'a part of the path is a file; set FARTHING_DATA_DIR to a folder',
  EEXIST: 'a file is where a folder is needed; set FARTHING_DATA_DIR to a folder',
  EMFILE: 'too many files are open; raise the limit: ulimit -n 4096',
  ENOMEM: 'there is too little memory; set FARTHING_QUERY_WORKERS=1 and FARTHING_INGEST_WORKERS=1',
};

/** One line for an error of the system that stops a start, with its remedy; undefined for any other error. */
export function refusalOf(error: unknown): string | undefined {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const known = typeof code === 'string' && Object.hasOwn(REMEDIES, code) ? code : codeIn(message);
  if (known === undefined) return undefined;
  return `${path ?? message} (${known}): ${REMEDIES[known]}`;
}

/** LMDB reports system errors only by their message. */
function codeIn(message: string | undefined): string | undefined {
  if (/No space left on device/.test(message ?? '')) return 'ENOSPC';
  if (/Read-only file system/.test(message ?? '')) return 'EROFS';
  return /Permission denied/.test(message ?? '') ? 'EACCES' : undefined;
}
