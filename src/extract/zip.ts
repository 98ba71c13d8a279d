import { type UnzipFileInfo, unzipSync } from 'fflate';
import { FarthingError } from '../domain/error.ts';
import { corrupt, tooLarge } from './refusal.ts';

/** Members of an archive, and bytes that those which are read have together once unpacked. */
const MEMBERS_MAX = 10_000;
const UNPACKED_BYTES_MAX = 256 * 2 ** 20;
const ENCRYPTED = 0x0001;

const CENTRAL_ENTRY = 0x02014b50;
const END_OF_CENTRAL = 0x06054b50;
/** The end record and its longest comment (APPNOTE.TXT 4.3.16). */
const END_BYTES_MAX = 22 + 65_535;

/** A ZIP archive in memory: the list of its members is read at once, a member when it is asked for. */
export class Zip {
  readonly names: ReadonlySet<string>;
  readonly #bytes: Uint8Array;
  #unpacked = 0;

  /** @throws file_corrupt, file_encrypted, document_too_large. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.names = new Set(membersOf(bytes));
  }

  /** A member's bytes; undefined when there is none of this name. @throws file_corrupt, document_too_large. */
  read(name: string): Uint8Array | undefined {
    if (!this.names.has(name)) return undefined;
    const filter = (file: UnzipFileInfo): boolean => file.name === name && this.#fits(file);
    try {
      // It unpacks into the size that the archive claims, which was counted, and no more.
      return unzipSync(this.#bytes, { filter })[name];
    } catch (error) {
      if (error instanceof FarthingError) throw error;
      throw corrupt(`its part ${name} cannot be unpacked`);
    }
  }

  /** A member as text (UTF-8, or UTF-16 by its mark). */
  text(name: string): string | undefined {
    const bytes = this.read(name);
    if (!bytes) return undefined;
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
  }

  #fits({ originalSize }: UnzipFileInfo): boolean {
    this.#unpacked += originalSize;
    if (this.#unpacked > UNPACKED_BYTES_MAX)
      throw tooLarge(`Send files of at most ${UNPACKED_BYTES_MAX} bytes once they are unpacked.`, {
        limit_bytes: UNPACKED_BYTES_MAX,
      });
    return true;
  }
}

/** Names in the central directory. */
function membersOf(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - 22;
  const first = Math.max(0, bytes.length - END_BYTES_MAX);
  while (end >= first && view.getUint32(end, true) !== END_OF_CENTRAL) end--;
  if (end < first) throw corrupt('it is no complete archive');
  const count = view.getUint16(end + 10, true);
  if (count > MEMBERS_MAX)
    throw tooLarge(`Send archives of at most ${MEMBERS_MAX} members.`, {
      members: count,
      limit_members: MEMBERS_MAX,
    });
  const names: string[] = [];
  let at = view.getUint32(end + 16, true);
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== CENTRAL_ENTRY)
      throw corrupt('the list of its members is damaged');
    if (view.getUint16(at + 8, true) & ENCRYPTED)
      throw new FarthingError('file_encrypted', 'The file is encrypted. Send it without a password.');
    const nameBytes = view.getUint16(at + 28, true);
    names.push(new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameBytes)));
    at += 46 + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return names;
}
