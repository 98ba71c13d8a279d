import type { Item } from '../domain/item.ts';
import type { SegmentRecord } from '../domain/segment.ts';
import { awaitCrossing, crossing, native } from '../native/index.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';

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
  /** One row for each space by its name: unit length, finite. */
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
  /** Resolves when all that is derived in the background from what was written is there. */
  settle(): Promise<void>;
  /** Writes the index, as one moment has it and without its free pages, into an empty folder. Writers go on meanwhile. */
  copyTo(folder: string): Promise<void>;
}

/** Segments handed over before the event loop gets a turn: about a millisecond of copying. */
const SEGMENTS_PER_TURN = 512;

/** The index as the rest of the server sees it. */
export function shardOf(shard: NativeShard): Shard {
  return {
    snapshot: () => openSnapshot(crossing(() => shard.snapshot())),
    append: (item, segments) => append(shard, item, segments),
    putItem: async (item) => void (await awaitCrossing(() => shard.putItem(JSON.stringify(item)))),
    removeItem: (id) => awaitCrossing(() => shard.removeItem(id)),
    item: (id) => reading(shard, (snapshot) => parsed<Item>(snapshot.item(id))),
    itemByDigest: (sha256) => reading(shard, (snapshot) => parsed<Item>(snapshot.itemByDigest(sha256))),
    items: ({ after, limit }) =>
      reading(shard, (snapshot) => JSON.parse(snapshot.items(after, limit)) as Item[]),
    settle: () => awaitCrossing(() => shard.settle()),
    copyTo: (folder) => awaitCrossing(() => native.copyShard(shard, folder)),
  };
}

async function append(shard: NativeShard, item: Item, segments: readonly SegmentInput[]): Promise<void> {
  const batch = crossing(() => shard.batch());
  for (const [index, segment] of segments.entries()) {
    crossing(() => addTo(batch, segment));
    if (index % SEGMENTS_PER_TURN === SEGMENTS_PER_TURN - 1) await new Promise(setImmediate);
  }
  await awaitCrossing(() => shard.append(JSON.stringify(item), batch));
}

function addTo(batch: InstanceType<typeof native.SegmentBatch>, segment: SegmentInput): void {
  const { record, words, fingerprint, digest, vectors } = segment;
  const spaces = Object.keys(vectors);
  batch.add(
    JSON.stringify(record),
    record.place,
    words,
    fingerprint,
    digest,
    spaces,
    spaces.map((space) => vectors[space] ?? new Float32Array()),
  );
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
