import { crc32 } from 'node:zlib';
import { FarthingError } from '@farthing/protocol/error';
import type { MakeReader } from '../../reading/format-reader.ts';
import { corrupt } from '../../reading/refusal.ts';
import { countMembers, giveMembers } from '../members.ts';
import { isWanted } from '../unpack-budget.ts';
import {
  type Folder,
  isSevenZip,
  type SevenZipEntry,
  sevenZipEntries,
  unpackFolder,
} from './seven-zip-headers.ts';

/** Files that are packed together are unpacked in memory together. */
const FOLDER_BYTES_MAX = 256 * 2 ** 20;

/** A 7z archive: LZMA, LZMA2, Deflate and stored files. */
export const sevenZip: MakeReader = (mediaType) => ({
  sniff: ({ bytes }) => isSevenZip(bytes),
  open: ({ bytes }, { limits }) => ({
    kind: 'archive',
    mediaType,
    ...countMembers(wantedEntries(bytes), limits),
  }),
  unpack: ({ bytes }, { limits }, sink) => {
    const folders = new Folders(bytes);
    return giveMembers(wantedEntries(bytes), (entry) => folders.content(entry), limits, sink);
  },
});

function wantedEntries(bytes: Uint8Array): SevenZipEntry[] {
  return sevenZipEntries(bytes).filter(({ name, isFile }) => isWanted({ path: name, isFile }));
}

/** Unpacks folders, and keeps the last one: files come in its order. */
class Folders {
  readonly #bytes: Uint8Array;
  #folder: Folder | undefined;
  #unpacked: Uint8Array | FarthingError = new Uint8Array();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  content({ name, folder, offset, bytes, crc }: SevenZipEntry): Uint8Array {
    if (!folder) return new Uint8Array();
    if (folder !== this.#folder) {
      this.#folder = folder;
      this.#unpacked = this.#unpack(folder);
    }
    if (this.#unpacked instanceof FarthingError) throw this.#unpacked;
    const content = this.#unpacked.subarray(offset, offset + bytes);
    if (content.length !== bytes || (crc !== undefined && crc32(content) !== crc))
      throw corrupt(`its part ${name} cannot be unpacked`);
    return content;
  }

  #unpack(folder: Folder): Uint8Array | FarthingError {
    try {
      return unpackFolder(this.#bytes, folder, FOLDER_BYTES_MAX);
    } catch (error) {
      if (error instanceof FarthingError) return error;
      throw error;
    }
  }
}
