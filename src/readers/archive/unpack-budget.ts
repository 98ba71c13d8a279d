import type { ExtractLimits } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { tooLarge } from '../reading/refusal.ts';

/** Files that operating systems leave in archives by themselves. */
const LEFT_BEHIND = /(^|\/)(__MACOSX\/|\.DS_Store$|\._[^/]*$|Thumbs\.db$|desktop\.ini$)/;

/** False for folders, links, and what an operating system left behind. */
export function isWanted({ path, isFile }: { path: string; isFile: boolean }): boolean {
  return isFile && !LEFT_BEHIND.test(path.replaceAll('\\', '/'));
}

/** Members of an archive and their bytes, counted while it is listed or unpacked. */
export class UnpackBudget {
  #members = 0;
  #bytes = 0;
  readonly #limits: ExtractLimits;

  constructor(limits: ExtractLimits) {
    this.#limits = limits;
  }

  /** Counts a member. @throws document_too_large. */
  add(bytes: number): void {
    const { archiveMembersMax, archiveBytesMax } = this.#limits;
    this.#members++;
    this.#bytes += bytes;
    if (this.#members > archiveMembersMax)
      throw tooLarge(`Send archives of at most ${archiveMembersMax} files.`, {
        limit_members: archiveMembersMax,
      });
    if (this.#bytes > archiveBytesMax) throw unpacksTooLarge(this.#bytes, archiveBytesMax);
  }

  /** What was counted. @throws file_empty for an archive without a file, or with empty files alone. */
  total(): { members: number; membersBytes: number } {
    if (this.#bytes === 0)
      throw new FarthingError('file_empty', 'The archive holds no files, or empty ones alone.');
    return { members: this.#members, membersBytes: this.#bytes };
  }
}

export function unpacksTooLarge(bytes: number, limit: number): FarthingError {
  return tooLarge(`Send archives of at most ${limit} bytes once they are unpacked.`, {
    bytes,
    limit_bytes: limit,
  });
}

/** Undefined for a member within the limit. */
export function memberRefusal(bytes: number, { bytesMax }: ExtractLimits): FarthingError | undefined {
  if (bytes <= bytesMax) return undefined;
  return new FarthingError('file_too_large', `A file in an archive may have at most ${bytesMax} bytes.`, {
    facts: { bytes, limit_bytes: bytesMax },
  });
}
