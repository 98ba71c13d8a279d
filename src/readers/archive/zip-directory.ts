import { isUtf8 as isUtf8Text } from 'node:buffer';
import { crc32, inflateRawSync } from 'node:zlib';
import { corrupt, encrypted, tooLarge } from '../reading/refusal.ts';
import { decoderOfNames } from '../text/charset.ts';

/** A member as the archive's central directory describes it. */
export interface ZipEntry {
  readonly name: string;
  /** Bytes once unpacked, as the directory says. No more than that is unpacked. */
  readonly bytes: number;
  readonly packedBytes: number;
  readonly method: number;
  readonly crc: number;
  /** Offset of its local header. */
  readonly offset: number;
  /** False for folders and links. */
  readonly isFile: boolean;
  readonly isEncrypted: boolean;
}

/** No office program writes as many. Archives have another limit. */
const ENTRIES_MAX = 65_535;

const LOCAL_HEADER = 0x04034b50;
const LOCAL_HEADER_BYTES = 30;
const CENTRAL_ENTRY = 0x02014b50;
const CENTRAL_ENTRY_BYTES = 46;
const END_OF_CENTRAL = 0x06054b50;
const END_BYTES = 22;
/** The end record and its longest comment (APPNOTE.TXT 4.3.16). */
const END_BYTES_MAX = END_BYTES + 65_535;
const ENCRYPTED = 0x0001;
const UTF8_NAME = 0x0800;
const STORED = 0;
const DEFLATED = 8;
/** Extra field for sizes over 32 bits (4.5.3). Some programs use it for small files too. */
const ZIP64 = 0x0001;
const IN_ZIP64 = 0xffffffff;
const IN_ZIP64_COUNT = 0xffff;
const LOCATOR = 0x07064b50;
const LOCATOR_BYTES = 20;
const LARGE_END = 0x06064b50;
const LARGE_END_BYTES = 56;
/** "Made by" Unix: the file's mode is in the upper half of its attributes. */
const UNIX = 3;
const MODE_TYPE = 0o170000;
const MODE_FILE = 0o100000;

const STARTS = ['PK\x03\x04', 'PK\x05\x06'];

/** Whether a ZIP archive begins here, with a member or, when it is empty, with its end. */
export function isZip(bytes: Uint8Array): boolean {
  return STARTS.includes(Buffer.from(bytes.subarray(0, 4)).toString('latin1'));
}

/** The central directory of a ZIP archive in memory. @throws file_corrupt, document_too_large. */
export function zipEntries(bytes: Uint8Array): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, offset } = endRecord(view);
  if (count >= ENTRIES_MAX)
    throw tooLarge(`Send archives of fewer than ${ENTRIES_MAX} members.`, {
      members: count,
      limit_members: ENTRIES_MAX - 1,
    });
  const entries: ZipEntry[] = [];
  let foreign: ((name: Uint8Array) => string) | undefined;
  const decodeForeign = (name: Uint8Array): string => {
    foreign ??= decoderOfNames(foreignNames(bytes, view, offset, count));
    return foreign(name);
  };
  let at = offset;
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_ENTRY_BYTES > bytes.length || view.getUint32(at, true) !== CENTRAL_ENTRY)
      throw corrupt('the list of its members is damaged');
    const lengths = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const [nameBytes = 0, extraBytes = 0, commentBytes = 0] = lengths;
    const extraAt = at + CENTRAL_ENTRY_BYTES + nameBytes;
    if (extraAt + extraBytes > bytes.length) throw corrupt('the list of its members is damaged');
    entries.push(entryAt(bytes, view, at, { nameBytes, extraAt, extraBytes }, decodeForeign));
    at = extraAt + extraBytes + commentBytes;
  }
  return entries;
}

/** A member's bytes. @throws file_corrupt, file_encrypted. */
export function unpackEntry(bytes: Uint8Array, entry: ZipEntry): Uint8Array {
  if (entry.isEncrypted) throw encrypted('file');
  const { name, offset, packedBytes, method, crc } = entry;
  const damaged = corrupt(`its part ${name} cannot be unpacked`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (offset + LOCAL_HEADER_BYTES > bytes.length || view.getUint32(offset, true) !== LOCAL_HEADER)
    throw damaged;
  const start =
    offset + LOCAL_HEADER_BYTES + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + packedBytes > bytes.length) throw damaged;
  const packed = bytes.subarray(start, start + packedBytes);
  const unpacked = method === STORED ? packed : method === DEFLATED ? inflated(packed, entry) : undefined;
  if (unpacked?.length !== entry.bytes || crc32(unpacked) !== crc) throw damaged;
  return unpacked;
}

/** zlib stops at the stated size. */
function inflated(packed: Uint8Array, { bytes }: ZipEntry): Uint8Array | undefined {
  if (bytes === 0) return new Uint8Array();
  try {
    return inflateRawSync(packed, { maxOutputLength: bytes });
  } catch {
    return undefined;
  }
}

/** How many members the archive has, and where their list begins. */
function endRecord(view: DataView): { count: number; offset: number } {
  let end = view.byteLength - END_BYTES;
  const first = Math.max(0, view.byteLength - END_BYTES_MAX);
  while (end >= first && view.getUint32(end, true) !== END_OF_CENTRAL) end--;
  if (end < first) throw corrupt('it is no complete archive');
  const count = view.getUint16(end + 10, true);
  const offset = view.getUint32(end + 16, true);
  const isLarge = count === IN_ZIP64_COUNT || offset === IN_ZIP64;
  return (isLarge && largeEndRecord(view, end - LOCATOR_BYTES)) || { count, offset };
}

/** The same from the record for more members and bytes (4.3.14), which some programs always write. */
function largeEndRecord(view: DataView, locator: number): { count: number; offset: number } | undefined {
  if (locator < 0 || view.getUint32(locator, true) !== LOCATOR) return undefined;
  const at = Number(view.getBigUint64(locator + 8, true));
  if (at + LARGE_END_BYTES > view.byteLength || view.getUint32(at, true) !== LARGE_END)
    throw corrupt('the list of its members is damaged');
  return {
    count: Number(view.getBigUint64(at + 32, true)),
    offset: Number(view.getBigUint64(at + 48, true)),
  };
}

function entryAt(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  { nameBytes, extraAt, extraBytes }: { nameBytes: number; extraAt: number; extraBytes: number },
  decodeForeign: (name: Uint8Array) => string,
): ZipEntry {
  const isUtf8 = (view.getUint16(at + 8, true) & UTF8_NAME) !== 0;
  const written = bytes.subarray(extraAt - nameBytes, extraAt);
  // Old programs write names in some code page. UTF-8 without its flag is common too.
  const name = isUtf8 || isUtf8Text(written) ? new TextDecoder().decode(written) : decodeForeign(written);
  const unix = view.getUint16(at + 4, true) >> 8 === UNIX;
  const type = unix ? (view.getUint32(at + 38, true) >>> 16) & MODE_TYPE : 0;
  const sizes = [24, 20, 42].map((offset) => view.getUint32(at + offset, true));
  const [unpacked = 0, packedBytes = 0, offset = 0] = withZip64(sizes, view, extraAt, extraBytes);
  return {
    name,
    bytes: unpacked,
    packedBytes,
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    offset,
    isEncrypted: (view.getUint16(at + 8, true) & ENCRYPTED) !== 0,
    isFile: !/[\\/]$/.test(name) && (type === 0 || type === MODE_FILE),
  };
}

/** Names of the archive's list that are in some code page, from its start up to where it is damaged. */
function foreignNames(bytes: Uint8Array, view: DataView, start: number, count: number): Uint8Array[] {
  const names: Uint8Array[] = [];
  let at = start;
  for (let index = 0; index < count && at + CENTRAL_ENTRY_BYTES <= bytes.length; index++) {
    const nameAt = at + CENTRAL_ENTRY_BYTES;
    const nameEnd = nameAt + view.getUint16(at + 28, true);
    const name = bytes.subarray(nameAt, nameEnd);
    if (!isUtf8Text(name)) names.push(name);
    at = nameEnd + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return names;
}

/** Replaces the sizes that stand in the extra field, in this order. */
function withZip64(sizes: readonly number[], view: DataView, at: number, length: number): number[] {
  if (!sizes.includes(IN_ZIP64)) return [...sizes];
  for (let field = at; field + 4 <= at + length; field += 4 + view.getUint16(field + 2, true)) {
    if (view.getUint16(field, true) !== ZIP64) continue;
    const end = Math.min(at + length, field + 4 + view.getUint16(field + 2, true));
    let from = field + 4;
    return sizes.map((size) => {
      if (size !== IN_ZIP64 || from + 8 > end) return size;
      const large = Number(view.getBigUint64(from, true));
      from += 8;
      return large;
    });
  }
  return [...sizes];
}
