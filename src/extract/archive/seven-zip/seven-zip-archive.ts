import { crc32 } from 'node:zlib';
import type { ExtractLimits } from '../../../domain/document.ts';
import { FarthingError } from '../../../domain/error.ts';
import type { MakeReader } from '../../reading/format-reader.ts';
import { corrupt } from '../../reading/refusal.ts';
import { giveBytes, type MemberSink } from '../../reading/sink.ts';
import { isWanted, memberRefusal, UnpackBudget } from '../unpack-budget.ts';
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
  open: ({ bytes }, { limits }) => {
    const budget = new UnpackBudget(limits);
    for (const entry of wantedEntries(bytes)) budget.add(entry.bytes);
    return { kind: 'archive', mediaType, ...budget.total() };
  },
  unpack: async ({ bytes }, { limits }, sink) => {
    const budget = new UnpackBudget(limits);
    const folders = new Folders(bytes);
    for (const entry of wantedEntries(bytes)) {
      budget.add(entry.bytes);
      await sink.begin(entry.name);
      await unpackMember(entry, folders, limits, sink);
    }
  },
});

function wantedEntries(bytes: Uint8Array): SevenZipEntry[] {
  return sevenZipEntries(bytes).filter(({ name, isFile }) => isWanted({ path: name, isFile }));
}

/** A member that is damaged, too large, has a password or an unknown way of packing is refused alone. */
async function unpackMember(
  entry: SevenZipEntry,
  folders: Folders,
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  const refusal = memberRefusal(entry.bytes, limits);
  if (refusal) return sink.end(refusal);
  let content: Uint8Array;
  try {
    content = folders.content(entry);
  } catch (error) {
    if (!(error instanceof FarthingError)) throw error;
    return sink.end(error);
  }
  await giveBytes(content, sink);
  await sink.end();
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
