import { crc32 } from 'node:zlib';
import type { FarthingError } from '@farthing/protocol/error';
import { corrupt, tooLarge } from '../../reading/refusal.ts';
import { SevenZipBytes } from './seven-zip-bytes.ts';
import { type Coder, unpackCoder } from './seven-zip-coders.ts';

const START = [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c];
const START_BYTES = 32;
/** Kinds of the parts of a header (7zFormat.txt of the LZMA SDK). */
const KIND = {
  end: 0,
  header: 1,
  archiveProperties: 2,
  streams: 4,
  files: 5,
  packed: 6,
  folders: 7,
  substreams: 8,
  size: 9,
  checks: 10,
  folder: 11,
  unpackedSizes: 12,
  countOfStreams: 13,
  emptyStreams: 14,
  emptyFiles: 15,
  names: 17,
  attributes: 21,
  encodedHeader: 23,
} as const;
const HEADER_BYTES_MAX = 64 * 2 ** 20;
const FILES_MAX = 65_535;
const FOLDERS_MAX = 65_535;
const [IS_FOLDER, HAS_UNIX_MODE, UNIX_LINK] = [0x10, 0x8000, 0xa000];

/** Files that are packed together. */
export interface Folder {
  /** Where its packed bytes are. */
  readonly packedAt: number;
  readonly packedBytes: number;
  readonly coders: readonly Coder[];
  readonly bytes: number;
}

export interface SevenZipEntry {
  readonly name: string;
  /** False for folders and links. */
  readonly isFile: boolean;
  readonly bytes: number;
  /** Undefined for an empty file. */
  readonly folder: Folder | undefined;
  /** Where it begins in what its folder unpacks to. */
  readonly offset: number;
  readonly crc: number | undefined;
}

interface Streams {
  readonly folders: readonly Folder[];
  /** Of each folder, its files' sizes and checks. */
  readonly files: readonly (readonly { readonly bytes: number; readonly crc: number | undefined }[])[];
}

export function isSevenZip(bytes: Uint8Array): boolean {
  return START.every((byte, at) => bytes[at] === byte);
}

/** The files of an archive. @throws file_corrupt, file_encrypted (its list of files has a password), document_too_large */
export function sevenZipEntries(bytes: Uint8Array): SevenZipEntry[] {
  if (bytes.length < START_BYTES) throw corrupt('it ends within its head');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [at, length] = [12, 20].map((offset) => Number(view.getBigUint64(offset, true))) as [number, number];
  const begin = START_BYTES + at;
  if (length === 0) return [];
  if (!(begin + length <= bytes.length)) throw corrupt('its list of files is not there');
  let header = bytes.subarray(begin, begin + length);
  if (crc32(header) !== view.getUint32(28, true)) throw corrupt('its list of files is damaged');
  // The list may be packed itself, more than once.
  for (let depth = 0; header[0] === KIND.encodedHeader && depth < 4; depth++) {
    const reader = new SevenZipBytes(header.subarray(1));
    const [folder] = readStreams(reader).folders;
    if (!folder) throw corrupt('its list of files is not there');
    header = unpackFolder(bytes, folder, HEADER_BYTES_MAX);
  }
  const reader = new SevenZipBytes(header);
  if (reader.byte() !== KIND.header) throw corrupt('its list of files is damaged');
  return readHeader(reader);
}

/** What a folder unpacks to. @throws file_corrupt, file_encrypted, media_type_unsupported, document_too_large */
export function unpackFolder(bytes: Uint8Array, folder: Folder, bytesMax: number): Uint8Array {
  if (folder.bytes > bytesMax)
    throw tooLarge(`Send 7z archives whose solid blocks have at most ${bytesMax} bytes, or a zip.`, {
      bytes: folder.bytes,
      limit_bytes: bytesMax,
    });
  const start = START_BYTES + folder.packedAt;
  if (start + folder.packedBytes > bytes.length) throw corrupt('a part of it is not there');
  let unpacked = bytes.subarray(start, start + folder.packedBytes);
  for (const coder of folder.coders) unpacked = unpackCoder(coder, unpacked, bytesMax);
  return unpacked;
}

function readHeader(reader: SevenZipBytes): SevenZipEntry[] {
  let streams: Streams = { folders: [], files: [] };
  for (;;) {
    const kind = reader.byte();
    if (kind === KIND.end) return [];
    if (kind === KIND.files) return readFiles(reader, streams);
    if (kind === KIND.streams) streams = readStreams(reader);
    else if (kind === KIND.archiveProperties) skipProperties(reader);
    else throw corrupt('its list of files has an unknown part');
  }
}

function skipProperties(reader: SevenZipBytes): void {
  while (reader.byte() !== KIND.end) reader.skip(reader.number());
}

function readStreams(reader: SevenZipBytes): Streams {
  let packed: { at: number; sizes: number[] } = { at: 0, sizes: [] };
  let folders: { coders: Coder[]; streams: number }[] = [];
  let checks: (number | undefined)[] = [];
  let files: { bytes: number; crc: number | undefined }[][] | undefined;
  for (let kind = reader.byte(); kind !== KIND.end; kind = reader.byte()) {
    if (kind === KIND.packed) packed = readPacked(reader);
    else if (kind === KIND.folders) ({ folders, checks } = readFolders(reader));
    else if (kind === KIND.substreams) files = readSubstreams(reader, folders, checks);
    else throw corrupt('its list of packed data has an unknown part');
  }
  let [at, stream] = [packed.at, 0];
  const placed = folders.map(({ coders, streams }): Folder => {
    const sizes = packed.sizes.slice(stream, stream + streams);
    const packedAt = at;
    at += sizes.reduce((sum, size) => sum + size, 0);
    stream += streams;
    return { packedAt, packedBytes: sizes[0] ?? 0, coders, bytes: bytesOf(coders) };
  });
  const whole = placed.map(({ bytes }, index) => [{ bytes, crc: checks[index] }]);
  return { folders: placed, files: files ?? whole };
}

function bytesOf(coders: readonly Coder[]): number {
  return coders.at(-1)?.bytes ?? 0;
}

function readPacked(reader: SevenZipBytes): { at: number; sizes: number[] } {
  const at = reader.number();
  const count = reader.count(FOLDERS_MAX);
  let sizes: number[] = [];
  for (let kind = reader.byte(); kind !== KIND.end; kind = reader.byte()) {
    if (kind === KIND.size) sizes = Array.from({ length: count }, () => reader.number());
    else if (kind === KIND.checks) reader.checks(count);
    else throw corrupt('its list of packed data has an unknown part');
  }
  return { at, sizes };
}

function readFolders(reader: SevenZipBytes) {
  if (reader.byte() !== KIND.folder) throw corrupt('its list of packed data is damaged');
  const count = reader.count(FOLDERS_MAX);
  if (reader.byte() !== 0) throw corrupt('its list of packed data lies elsewhere');
  const folders = Array.from({ length: count }, () => reader.folder());
  if (reader.byte() !== KIND.unpackedSizes) throw corrupt('its list of packed data is damaged');
  for (const { coders } of folders) {
    const sizes = coders.map(() => reader.number());
    for (const coder of coders) coder.bytes = sizes[coder.stream] ?? 0;
  }
  let checks: (number | undefined)[] = [];
  for (let kind = reader.byte(); kind !== KIND.end; kind = reader.byte()) {
    if (kind !== KIND.checks) throw corrupt('its list of packed data has an unknown part');
    checks = reader.checks(count);
  }
  return { folders, checks };
}

function readSubstreams(
  reader: SevenZipBytes,
  folders: readonly { readonly coders: readonly Coder[] }[],
  checks: readonly (number | undefined)[],
) {
  let counts = folders.map(() => 1);
  let kind = reader.byte();
  if (kind === KIND.countOfStreams) {
    counts = folders.map(() => reader.count(FILES_MAX));
    kind = reader.byte();
  }
  if (counts.reduce((sum, count) => sum + count, 0) > FILES_MAX) throw tooManyFiles();
  const hasSizes = kind === KIND.size;
  const sizes = folders.map(({ coders }, index) => {
    const count = counts[index]!;
    if (count === 0) return [];
    const known = Array.from({ length: count - 1 }, () => (hasSizes ? reader.number() : 0));
    const last = bytesOf(coders) - known.reduce((sum, size) => sum + size, 0);
    if (last < 0) throw corrupt('its files are larger than what they are packed in');
    return [...known, last];
  });
  if (hasSizes) kind = reader.byte();
  // A folder of one file has its check already.
  const isKnown = (index: number): boolean => counts[index] === 1 && checks[index] !== undefined;
  const unknown = counts.reduce((sum, count, index) => sum + (isKnown(index) ? 0 : count), 0);
  let more: (number | undefined)[] = [];
  for (; kind !== KIND.end; kind = reader.byte()) {
    if (kind !== KIND.checks) throw corrupt('its list of files has an unknown part');
    more = reader.checks(unknown);
  }
  let at = 0;
  return sizes.map((ofFolder, index) =>
    ofFolder.map((bytes) => ({ bytes, crc: isKnown(index) ? checks[index] : more[at++] })),
  );
}

function readFiles(reader: SevenZipBytes, { folders, files }: Streams): SevenZipEntry[] {
  const count = reader.count(FILES_MAX);
  let names: string[] = [];
  let isEmpty: boolean[] = [];
  let isEmptyFile: boolean[] = [];
  let attributes: (number | undefined)[] = [];
  for (let kind = reader.byte(); kind !== KIND.end; kind = reader.byte()) {
    const part = reader.part(reader.number());
    if (kind === KIND.emptyStreams) isEmpty = part.bits(count);
    else if (kind === KIND.emptyFiles) isEmptyFile = part.bits(isEmpty.filter(Boolean).length);
    else if (kind === KIND.names) names = part.names(count);
    else if (kind === KIND.attributes) attributes = part.attributes(count);
  }
  const contents = files.flatMap((ofFolder, index) => {
    let offset = 0;
    return ofFolder.map(({ bytes, crc }) => {
      const content = { bytes, crc, folder: folders[index], offset };
      offset += bytes;
      return content;
    });
  });
  let [content, empty] = [0, 0];
  return Array.from({ length: count }, (_, index) => {
    const name = names[index] ?? '';
    const isLink = isLinkOrFolder(attributes[index]);
    if (isEmpty[index]) {
      const isFile = isEmptyFile[empty++] === true && !isLink;
      return { name, isFile, bytes: 0, folder: undefined, offset: 0, crc: undefined };
    }
    const found = contents[content++];
    if (!found) throw corrupt('it has fewer files than it says');
    return { name, isFile: !isLink, ...found };
  });
}

function isLinkOrFolder(attributes = 0): boolean {
  const isLink = (attributes & HAS_UNIX_MODE) !== 0 && ((attributes >>> 16) & 0xf000) === UNIX_LINK;
  return isLink || (attributes & IS_FOLDER) !== 0;
}

function tooManyFiles(): FarthingError {
  return tooLarge(`Send archives of at most ${FILES_MAX} files.`, { limit_members: FILES_MAX });
}
