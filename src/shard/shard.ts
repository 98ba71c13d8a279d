import type { Item } from '../domain/item.ts';
import type { SegmentRecord } from '../domain/segment.ts';
import { awaitCrossing, crossing, native } from '../native/index.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import { isFormer, type OpenSpaces } from './spaces.ts';

export type NativeShard = InstanceType<typeof native.NativeShard>;
type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;

/** A vector space: all its vectors were made by one model. */
export interface SpaceSpec {
  readonly name: string;
  readonly dimensions: number;
  /** SHA-256 of the model's file, hexadecimal: vectors of another model are refused. */
  readonly modelSha256: string;
}

export interface SegmentInput {
  /** Stored as it is, given back by `records()`. */
  readonly record: SegmentRecord;
  /** Text that is found by its words. */
  readonly words?: string;
  /** Perceptual fingerprint of a picture, at most 64 bytes; with `digest`. */
  readonly fingerprint?: Uint8Array;
  /** SHA-256 of the picture's file. */
  readonly digest?: Uint8Array;
  /** One row for each space: unit length, finite. Rows of spaces that the index does not have are left out. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
}

/** An open index. Every write is durable when its promise resolves. */
export interface Shard {
  snapshot(): Snapshot;
  /**
   * Puts an Item with all its Segments, visible together, in the place of what the Item was before.
   * @throws storage_full, tenant_full, overloaded, shard_model_mismatch
   */
  append(item: Item, segments: readonly SegmentInput[]): Promise<void>;
  /** Puts an Item's record alone. */
  putItem(item: Item): Promise<void>;
  /** Removes an Item from every family at once; false when there is none. */
  removeItem(id: string): Promise<boolean>;
  item(id: string): Item | undefined;
  /** The first Item, pending or searchable, whose file has this SHA-256. */
  itemByDigest(sha256Hex: string): Item | undefined;
  /** In order of insertion, at most 10,000 at a time. */
  items(options: { after?: string; limit: number }): Item[];
  /** Resolves when no write is outstanding, and nothing that is derived from writes in the background. */
  whenIdle(): Promise<void>;
  /** Living Segments, ascending, that have a row in one space, have none in the other, and are not given up. */
  lacking(from: string, to: string, givenUp: Uint32Array, limit: number): Promise<Uint32Array>;
  /**
   * Adds rows of one space to Segments that are there, one after the other in `values`. Segments that have gone or have a
   * row are left out.
   */
  putRows(space: string, segments: Uint32Array, values: Float32Array): Promise<void>;
  /**
   * Lets one space serve in the place of another, whose vectors go. False, and nothing changes, while a Segment that is not
   * given up has no row in the new one.
   */
  switchSpace(from: string, to: string, givenUp: Uint32Array): Promise<boolean>;
  /** Removes what changes of model that were broken off have left. */
  removeStaleSpaces(): Promise<void>;
  /** Writes the index, as one moment has it and without its free pages, into an empty folder. Writers go on meanwhile. */
  copyTo(folder: string): Promise<void>;
}

/** Segments handed over before the event loop gets a turn: about a millisecond of copying. */
const SEGMENTS_PER_TURN = 512;

/** The index as the rest of the server sees it. */
export function shardOf(shard: NativeShard, spaces: OpenSpaces): Shard {
  const name = (space: string): string => spaces.name(space) ?? space;
  return {
    snapshot: () =>
      openSnapshot(
        crossing(() => shard.snapshot()),
        spaces,
      ),
    append: (item, segments) => append(shard, spaces, item, segments),
    lacking: (from, to, givenUp, limit) =>
      awaitCrossing(() => native.lackingSegments(shard, name(from), name(to), givenUp, limit)),
    putRows: async (space, segments, values) =>
      void (await awaitCrossing(() => native.putRows(shard, name(space), segments, values))),
    switchSpace: (from, to, givenUp) =>
      awaitCrossing(() => native.switchSpace(shard, name(from), name(to), givenUp)),
    removeStaleSpaces: async () => {
      for (const former of spaces.formerNames) await awaitCrossing(() => native.removeSpace(shard, former));
    },
    putItem: async (item) => void (await awaitCrossing(() => shard.putItem(JSON.stringify(item)))),
    removeItem: (id) => awaitCrossing(() => shard.removeItem(id)),
    item: (id) => reading(shard, (snapshot) => parsed<Item>(snapshot.item(id))),
    itemByDigest: (sha256) => reading(shard, (snapshot) => parsed<Item>(snapshot.itemByDigest(sha256))),
    items: ({ after, limit }) =>
      reading(shard, (snapshot) => JSON.parse(snapshot.items(after, limit)) as Item[]),
    whenIdle: () => awaitCrossing(() => shard.whenIdle()),
    copyTo: (folder) => awaitCrossing(() => native.copyShard(shard, folder)),
  };
}

async function append(
  shard: NativeShard,
  spaces: OpenSpaces,
  item: Item,
  segments: readonly SegmentInput[],
): Promise<void> {
  const batch = crossing(() => shard.batch());
  for (const [index, segment] of segments.entries()) {
    crossing(() => addTo(batch, segment, spaces));
    if (index % SEGMENTS_PER_TURN === SEGMENTS_PER_TURN - 1) await new Promise(setImmediate);
  }
  await awaitCrossing(() => shard.append(JSON.stringify(item), batch));
}

function addTo(
  batch: InstanceType<typeof native.SegmentBatch>,
  { record, words, fingerprint, digest, vectors }: SegmentInput,
  spaces: OpenSpaces,
): void {
  const [names, rows]: [string[], Float32Array[]] = [[], []];
  for (const [space, row] of Object.entries(vectors)) {
    const name = spaces.name(space);
    // An index may have passed on from a former model since a Segment was encoded by it.
    if (name === undefined && isFormer(space)) continue;
    names.push(name ?? space);
    rows.push(row);
  }
  batch.add(JSON.stringify(record), record.place, words, fingerprint, digest, names, rows);
}

function reading<T>(shard: NativeShard, read: (snapshot: NativeSnapshot) => T): T {
  return crossing(() => {
    const snapshot = shard.snapshot();
    try {
      return read(snapshot);
    } finally {
      snapshot.close();
    }
  });
}

function parsed<T>(json: string | null): T | undefined {
  return json === null ? undefined : (JSON.parse(json) as T);
}
