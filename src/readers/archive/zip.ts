import { encrypted, tooLarge } from '../reading/refusal.ts';
import { unpackEntry, type ZipEntry, zipEntries } from './zip-directory.ts';

/** Members of an office file, and bytes of all members that are read, once unpacked. */
const MEMBERS_MAX = 10_000;
const UNPACKED_BYTES_MAX = 256 * 2 ** 20;

/** A ZIP archive in memory. The list of members is read at once, a member on demand. */
export class Zip {
  readonly names: ReadonlySet<string>;
  readonly #bytes: Uint8Array;
  readonly #entries: ReadonlyMap<string, ZipEntry>;
  #unpacked = 0;

  /** @throws file_corrupt, file_encrypted, document_too_large. */
  constructor(bytes: Uint8Array) {
    const entries = zipEntries(bytes);
    if (entries.length > MEMBERS_MAX)
      throw tooLarge(`Send files of at most ${MEMBERS_MAX} parts.`, {
        members: entries.length,
        limit_members: MEMBERS_MAX,
      });
    const files = entries.filter(({ isFile }) => isFile);
    if (files.length > 0 && files.every(({ isEncrypted }) => isEncrypted)) throw encrypted('file');
    this.#bytes = bytes;
    this.#entries = new Map(entries.map((entry) => [keyOf(entry.name), entry]));
    this.names = new Set(entries.map(({ name }) => name));
  }

  has(name: string): boolean {
    return this.#entries.has(keyOf(name));
  }

  /** A member's bytes; undefined for an unknown name. @throws file_corrupt, document_too_large. */
  read(name: string): Uint8Array | undefined {
    const entry = this.#entries.get(keyOf(name));
    if (!entry) return undefined;
    this.#unpacked += entry.bytes;
    if (this.#unpacked > UNPACKED_BYTES_MAX)
      throw tooLarge(`Send files of at most ${UNPACKED_BYTES_MAX} bytes once they are unpacked.`, {
        limit_bytes: UNPACKED_BYTES_MAX,
      });
    return unpackEntry(this.#bytes, entry);
  }

  /** A member as text: UTF-16 with a byte order mark, otherwise UTF-8. */
  text(name: string): string | undefined {
    const bytes = this.read(name);
    if (!bytes) return undefined;
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
  }
}

/** Names of parts have no case (ECMA-376 part 2, 6.2.2.3), and some programs write backslashes. */
function keyOf(name: string): string {
  return name.replaceAll('\\', '/').toLowerCase();
}
