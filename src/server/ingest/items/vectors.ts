import type { SpaceSpec } from '@farthing/engine/space';
import { segmentKindOf } from '@farthing/protocol/family';
import type { ItemId } from '@farthing/protocol/id';
import type { ExportPassages, ExportPictures } from '@farthing/protocol/schema/export';
import type { VectorSnapshot } from '../ports/ports.ts';
import { textOf } from './text.ts';

/** Bytes of vectors read at once; a single segment may exceed it. */
const ROWS_BYTES_MAX = 64 * 1024;
const FLOAT_BYTES = 4;

type Part = Pick<ExportPassages, 'passages'> | Pick<ExportPictures, 'pictures'>;

/** Consecutive segments of an item, each with its vectors, and the number of the next. */
export type WithVectors = Part & {
  /** Spaces of these vectors. */
  readonly spaces: readonly SpaceSpec[];
  readonly next: number;
};

/** Passages of an item from a segment on or, behind all of these, pictures. Undefined at its end. */
export async function withVectors(
  snapshot: VectorSnapshot,
  spaces: readonly SpaceSpec[],
  id: ItemId,
  from: number,
): Promise<WithVectors | undefined> {
  const range = snapshot.segmentsOf(id);
  if (!range || from >= range.count) return undefined;
  const spacesOf = (kind: string) => spaces.filter(({ name }) => segmentKindOf(name) === kind);
  const segments = (count: number) =>
    Uint32Array.from({ length: Math.min(count, range.count - from) }, (_, at) => range.first + from + at);
  const text = await textOf(snapshot, id, { from }, rowsAtOnce(spacesOf('passages')));
  if (text && text.passages.length > 0) {
    const { passages } = text;
    const rows = await readRows(snapshot, spacesOf('passages'), segments(passages.length));
    return {
      passages: passages.map((passage, at) => ({ ...passage, vectors: rows.vectors[at]! })),
      spaces: rows.spaces,
      next: from + passages.length,
    };
  }
  const numbers = segments(rowsAtOnce(spacesOf('pictures')));
  const records = snapshot.records(numbers);
  const rows = await readRows(snapshot, spacesOf('pictures'), numbers);
  return {
    pictures: rows.vectors.map((vectors, at) => ({ locator: records[at]?.locator ?? {}, vectors })),
    spaces: rows.spaces,
    next: from + numbers.length,
  };
}

function rowsAtOnce(spaces: readonly SpaceSpec[]): number {
  const elements = spaces.reduce((sum, { dimensions }) => sum + dimensions, 0);
  return Math.max(1, Math.floor(ROWS_BYTES_MAX / Math.max(1, FLOAT_BYTES * elements)));
}

/** The vectors of each segment as base64, and the spaces that have any. */
async function readRows(snapshot: VectorSnapshot, spaces: readonly SpaceSpec[], segments: Uint32Array) {
  const vectors = Array.from(segments, (): Record<string, string> => ({}));
  const used: SpaceSpec[] = [];
  // One after the other: a snapshot is read by one thread at a time.
  for (const space of spaces) {
    const rows = await snapshot.vectors(space.name, segments);
    if (rows.some((row) => row)) used.push(space);
    for (const [at, row] of rows.entries()) if (row) vectors[at]![space.name] = row.toString('base64');
  }
  return { vectors, spaces: used };
}
