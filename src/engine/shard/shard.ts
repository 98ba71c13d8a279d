import { awaitCrossing, crossing, native } from '@farthing/native';
import type { Item } from '@farthing/protocol/schema/items';
import type { SegmentRecord } from '@farthing/protocol/schema/search';
import type { SpaceSpec } from '../space.ts';
import { openSnapshot } from './open-snapshot.ts';
import type { ListSpace, Snapshot } from './snapshot.ts';
import type { OpenSpaces, ShardState } from './spaces.ts';

export type NativeShard = InstanceType<typeof native.NativeShard>;
type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;

type NativePlan = InstanceType<typeof native.SearchPlan>;
type PlannedIndex = InstanceType<typeof native.PlannedIndex>;

export interface SegmentInput {
  /** Stored as it is; `records()` returns it. */
  readonly record: SegmentRecord;
  /** Text that is found by its words. */
  readonly words?: string;
  /** Perceptual fingerprint of a picture, at most 64 bytes; with `digest`. */
  readonly fingerprint?: Uint8Array;
  /** SHA-256 of the picture's file. */
  readonly digest?: Uint8Array;
  /** One row for each space: unit length, finite. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
}

/** An open index. Every write is durable when its promise resolves. */
export interface Shard {
  snapshot(): Snapshot;
  /** One for each role that the index has or may get, each with the model that fills it until the index ends. */
  readonly spaces: readonly SpaceSpec[];
  /** State that a search needs before its query is encoded. */
  state(): ShardState;
  /**
   * The index with a plan whose vector lists, each in its space, all use one vector that is still to be made. The index may be
   * closed before that.
   */
  planned(plan: NativePlan, lists: readonly ListSpace[]): PlannedIndex;
  /**
   * Puts an Item with all its Segments, visible together; they replace what the Item had before. The Items with the ids in `replaces`
   * lose their Segments in the same commit, and are left as failed.
   * @throws storage_full, tenant_full, overloaded, shard_model_mismatch
   */
  append(item: Item, segments: readonly SegmentInput[], replaces?: readonly string[]): Promise<void>;
  /** Puts an Item's record alone. */
  putItem(item: Item): Promise<void>;
  /**
   * Adds a name by which an Item is found, pending or searchable. A later `append` of the Item keeps it. False when there is no such
   * Item, or it has as many names as it may have.
   */
  addAlias(id: string, name: string): Promise<boolean>;
  /** Removes an Item from every family at once; false when there is none. */
  removeItem(id: string): Promise<boolean>;
  item(id: string): Item | undefined;
  /** The Items, pending or searchable, whose file has this SHA-256, in order of insertion. */
  itemsByDigest(sha256Hex: string): Item[];
  /** The Items, in any state, that were given a key, in order of insertion. */
  itemsByKey(key: string): Item[];
  /** In order of insertion, at most 10,000 at a time. */
  items(options: { after?: string; limit: number }): Item[];
  /** Like `items`, by positions that stay valid when Items are removed: the first is 0. `next`: the position after these. */
  itemsFrom(place: number, limit: number): { readonly items: Item[]; readonly next: number };
  /** Resolves when the background work that earlier writes caused (merges, bits) is done. */
  whenIdle(): Promise<void>;
  /** Writes a consistent copy of the index, without free pages, into an empty folder. Writers are not blocked. */
  copyTo(folder: string): Promise<void>;
}

/** Segments copied to the native side between two turns of the event loop: about a millisecond. */
const SEGMENTS_PER_TURN = 512;

/** The index as the rest of the server sees it. */
export function shardOf(shard: NativeShard, spaces: OpenSpaces): Shard {
  const name = (space: string): string => spaces.name(space) ?? space;
  const planned = new WeakMap<NativePlan, PlannedIndex>();
  return {
    snapshot: () => {
      const snapshot = crossing(() => shard.snapshot());
      return openSnapshot(snapshot, spaces);
    },
    spaces: spaces.specs,
    state: () => spaces.stateOf(shard),
    planned: (plan, lists) => {
      const known = planned.get(plan);
      if (known) return known;
      const [numbers, names] = [lists.map(({ list }) => list), lists.map(({ space }) => name(space))];
      const made = crossing(() => new native.PlannedIndex(shard, plan, numbers, names));
      planned.set(plan, made);
      return made;
    },
    append: (item, segments, replaces = []) => append(shard, spaces, item, segments, replaces),
    putItem: async (item) => void (await awaitCrossing(() => shard.putItem(stored(item)))),
    addAlias: (id, name) => awaitCrossing(() => shard.addAlias(id, name)),
    removeItem: (id) => awaitCrossing(() => shard.removeItem(id)),
    item: (id) => reading(shard, (snapshot) => parsed<Item>(snapshot.item(id))),
    itemsByDigest: (sha256) =>
      reading(shard, (snapshot) => JSON.parse(snapshot.itemsByDigest(sha256)) as Item[]),
    itemsByKey: (key) => reading(shard, (snapshot) => JSON.parse(snapshot.itemsByKey(key)) as Item[]),
    items: ({ after, limit }) =>
      reading(shard, (snapshot) => JSON.parse(snapshot.items(after, limit)) as Item[]),
    itemsFrom: (place, limit) =>
      reading(shard, (snapshot) => {
        const { json, next } = snapshot.itemsFrom(place, limit);
        return { items: JSON.parse(json) as Item[], next };
      }),
    whenIdle: () => awaitCrossing(() => shard.whenIdle()),
    copyTo: (folder) => awaitCrossing(() => native.copyShard(shard, folder)),
  };
}

async function append(
  shard: NativeShard,
  spaces: OpenSpaces,
  item: Item,
  segments: readonly SegmentInput[],
  replaces: readonly string[],
): Promise<void> {
  const batch = crossing(() => shard.batch());
  for (const [index, segment] of segments.entries()) {
    crossing(() => addTo(batch, segment, spaces));
    if (index % SEGMENTS_PER_TURN === SEGMENTS_PER_TURN - 1) await new Promise(setImmediate);
  }
  await awaitCrossing(() => shard.append(stored(item), batch, [...replaces]));
}

/** What JSON writes for half of a surrogate pair, which the index takes for damage. */
const HALF_PAIR = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** A record as the index takes it: whatever the text is cut of, it is well formed. */
function stored(record: object): string {
  const json = JSON.stringify(record);
  return json.includes('\\ud') ? json.replace(HALF_PAIR, '$1\ufffd') : json;
}

function addTo(
  batch: InstanceType<typeof native.SegmentBatch>,
  { record, words, fingerprint, digest, vectors }: SegmentInput,
  spaces: OpenSpaces,
): void {
  const [names, rows]: [string[], Float32Array[]] = [[], []];
  for (const [space, row] of Object.entries(vectors)) {
    const name = spaces.name(space);
    names.push(name ?? space);
    rows.push(row);
  }
  batch.add(stored(record), record.place, words, fingerprint, digest, names, rows);
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
