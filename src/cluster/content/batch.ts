import type { SegmentInput } from '@farthing/engine/shard/shard';
import type { SpaceSpec } from '@farthing/engine/space';
import type { Item } from '@farthing/protocol/schema/items';
import type { SegmentRecord } from '@farthing/protocol/schema/search';

/** An Item with its Segments as an index took them, and the spaces that this index was opened with. */
export interface Batch {
  readonly item: Item;
  readonly segments: readonly SegmentInput[];
  /** Ids of the Items that it replaces. */
  readonly replaces: readonly string[];
  readonly spaces: readonly SpaceSpec[];
}

interface WrittenSegment {
  readonly record: SegmentRecord;
  readonly words?: string;
  /** Base64. */
  readonly fingerprint?: string;
  readonly digest?: string;
  /** Names of the spaces, and the lengths of their rows; the rows follow the JSON. */
  readonly rows: readonly (readonly [space: string, length: number])[];
}

interface Written {
  readonly format: number;
  readonly item: Item;
  readonly spaces: readonly SpaceSpec[];
  readonly segments: readonly WrittenSegment[];
  readonly replaces?: readonly string[];
}

/** The second replaces Items. */
const FORMATS = { plain: 1, replacing: 2 } as const;
const LENGTH_BYTES = 4;
const FLOAT_BYTES = 4;
/** Segments between two yields to the event loop. */
const SEGMENTS_PER_TURN = 256;

/** The length of the JSON (32 bits, little-endian), the JSON padded by spaces to four bytes, and all rows as 32-bit floats of this machine. */
export async function encodeBatch({ item, segments, spaces, replaces }: Batch): Promise<Uint8Array> {
  const written: string[] = [];
  for (const [index, segment] of segments.entries()) {
    written.push(JSON.stringify(writtenSegment(segment)));
    if (index % SEGMENTS_PER_TURN === SEGMENTS_PER_TURN - 1) await new Promise(setImmediate);
  }
  const head: Omit<Written, 'segments'> = {
    format: replaces.length > 0 ? FORMATS.replacing : FORMATS.plain,
    item,
    ...(replaces.length > 0 && { replaces }),
    spaces: spaces.map(({ name, dimensions, modelSha256 }) => ({ name, dimensions, modelSha256 })),
  };
  const json = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"segments":[${written.join()}]}`);
  const padded = json.length + (-json.length & (FLOAT_BYTES - 1));
  const rows = segments.flatMap(({ vectors }) => Object.values(vectors));
  const floats = rows.reduce((sum, row) => sum + row.length, 0);
  const bytes = Buffer.alloc(LENGTH_BYTES + padded + FLOAT_BYTES * floats, ' ');
  bytes.writeUInt32LE(padded);
  json.copy(bytes, LENGTH_BYTES);
  let at = LENGTH_BYTES + padded;
  for (const row of rows) {
    bytes.set(new Uint8Array(row.buffer, row.byteOffset, row.byteLength), at);
    at += row.byteLength;
  }
  return bytes;
}

function writtenSegment({ record, words, fingerprint, digest, vectors }: SegmentInput): WrittenSegment {
  return {
    record,
    ...(words !== undefined && { words }),
    ...(fingerprint && { fingerprint: Buffer.from(fingerprint).toString('base64') }),
    ...(digest && { digest: Buffer.from(digest).toString('base64') }),
    rows: Object.entries(vectors).map(([space, row]) => [space, row.length] as const),
  };
}

/** @throws Error for bytes that `encodeBatch` did not make */
export function decodeBatch(bytes: Uint8Array): Batch {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = LENGTH_BYTES + buffer.readUInt32LE();
  const written = JSON.parse(buffer.toString('utf8', LENGTH_BYTES, start)) as Written;
  if (written.format !== FORMATS.plain && written.format !== FORMATS.replacing)
    throw new Error(`a batch of format ${written.format} needs a newer Farthing`);
  // A copy, since floats need aligned memory.
  const floats = new Float32Array(Uint8Array.from(buffer.subarray(start)).buffer);
  let at = 0;
  const take = (length: number): Float32Array => {
    at += length;
    return floats.subarray(at - length, at);
  };
  const segments = written.segments.map(
    ({ record, words, fingerprint, digest, rows }): SegmentInput => ({
      record,
      ...(words !== undefined && { words }),
      ...(fingerprint !== undefined && { fingerprint: Buffer.from(fingerprint, 'base64') }),
      ...(digest !== undefined && { digest: Buffer.from(digest, 'base64') }),
      vectors: Object.fromEntries(rows.map(([space, length]) => [space, take(length)])),
    }),
  );
  if (at !== floats.length) throw new Error('a batch has rows of no segment');
  return { item: written.item, spaces: written.spaces, replaces: written.replaces ?? [], segments };
}
