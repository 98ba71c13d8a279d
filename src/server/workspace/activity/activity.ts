import { join } from 'node:path';
import { type Clock, toTimestamp } from '@farthing/protocol/clock';
import type { WorkspaceId } from '@farthing/protocol/id';
import type { HistoryAnswer, HistoryEntry, UsageAnswer } from '@farthing/protocol/schema/workspaces';
import type { Store, Table } from '../../state/store.ts';
import { History } from './history.ts';
import { type BucketCounts, LatencyHistogram } from './latency-histogram.ts';

/** A search, for the counters and the history. */
export type CountedSearch = Omit<HistoryEntry, 'at'>;

export interface Counters {
  readonly searches: number;
  readonly ingests: number;
  readonly latency: UsageAnswer['latency_ms'];
}

interface StoredCounters {
  readonly searches: number;
  readonly ingests: number;
  readonly buckets: BucketCounts;
  readonly max: number;
}

interface Entry {
  searches: number;
  ingests: number;
  readonly histogram: LatencyHistogram;
  /** History entries that are not written yet. */
  waiting: (CountedSearch & { readonly at: number })[];
  /** Entries dropped because the disk was slow. */
  lost: number;
  dirty: boolean;
  closed: boolean;
  writing: Promise<void>;
  /** Unfinished writes of the history. The entry stays until they end, so that `close` can wait for them. */
  writes: number;
}

/** History entries of one workspace that may wait for the disk. Above that the oldest are dropped. */
const WAITING_MAX = 4096;

export interface ActivityDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The workspace's folder. It has the history, which is content. */
  readonly folder: (workspace: WorkspaceId) => string;
  /** Whether the workspace has begun, and not ended yet: nothing else is counted. */
  readonly isOpen: (workspace: WorkspaceId) => boolean;
  /** Resolves when what other threads have counted is counted here; absent: nothing else counts. */
  readonly counted?: () => Promise<void>;
  readonly log: (event: object) => void;
}

/**
 * Counts of the workspaces' searches and ingests, and their history. They are kept in memory and written by `flush`, so
 * that a search costs no write. A crash loses what came after the last flush. A workspace that was idle between two flushes
 * leaves the memory.
 */
export class Activity {
  readonly #deps: ActivityDeps;
  readonly #table: Table<StoredCounters>;
  readonly #entries = new Map<WorkspaceId, Entry>();

  constructor(deps: ActivityDeps) {
    this.#deps = deps;
    this.#table = deps.store.table('workspace_activity');
  }

  /** True while the workspace's counts are in memory. */
  has(id: WorkspaceId): boolean {
    return this.#entries.has(id);
  }

  countSearch(
    id: WorkspaceId,
    { query, image_sha256, like, families, k, hits, latency_ms }: CountedSearch,
  ): void {
    const entry = this.#openEntry(id);
    if (!entry) return;
    entry.searches += 1;
    entry.histogram.add(latency_ms);
    entry.dirty = true;
    if (entry.waiting.length >= WAITING_MAX) {
      entry.waiting.shift();
      entry.lost += 1;
    }
    const at = this.#deps.clock.now();
    entry.waiting.push({ at, query, image_sha256, like, families, k, hits, latency_ms });
  }

  countIngest(id: WorkspaceId): void {
    const entry = this.#openEntry(id);
    if (!entry) return;
    entry.ingests += 1;
    entry.dirty = true;
  }

  /** Resolves when all searches that have an answer are counted. */
  async counted(): Promise<void> {
    await this.#deps.counted?.();
  }

  counters(id: WorkspaceId): Counters {
    const { searches, ingests, histogram } = this.#entries.get(id) ?? this.#stored(id);
    return { searches, ingests, latency: histogram.percentiles() };
  }

  /** Writes what has changed: all counters in one transaction, then each history. */
  async flush(): Promise<void> {
    const dirty = [...this.#entries].filter(([, entry]) => entry.dirty && !entry.closed);
    for (const [id, entry] of this.#entries) {
      const { dirty: changed, closed, waiting, writes } = entry;
      if (!changed && !closed && waiting.length === 0 && writes === 0) this.#entries.delete(id);
    }
    if (dirty.length === 0) return;
    await this.#deps.store.transaction(() => {
      for (const [id, entry] of dirty) this.#put(id, entry);
    });
    for (const [id, entry] of dirty) await this.#writeHistory(id, entry);
  }

  /** Past searches, newest first. `before` is the `next` of the previous page. */
  async history(id: WorkspaceId, page: { before?: string; limit: number }): Promise<HistoryAnswer> {
    await this.counted();
    const entry = this.#entries.get(id);
    if (entry) await this.#writeHistory(id, entry);
    return this.#historyOf(id).page(page);
  }

  /** The workspace ends. Once this resolves, nothing more is counted or written into its folder. @returns the final counts. */
  async close(id: WorkspaceId): Promise<Counters> {
    const entry = this.#entry(id);
    entry.closed = true;
    entry.waiting = [];
    await entry.writing;
    await this.#deps.store.transaction(() => this.#put(id, entry));
    return this.counters(id);
  }

  /** Removes the counts of a workspace that has ended: its receipt has them. */
  async forget(id: WorkspaceId): Promise<void> {
    await this.#table.remove(id);
    this.#entries.delete(id);
  }

  #put(id: WorkspaceId, entry: Entry): void {
    const { searches, ingests, histogram } = entry;
    void this.#table.put(id, { searches, ingests, buckets: histogram.buckets(), max: histogram.max });
    entry.dirty = false;
  }

  /** One write at a time, so that `close` can wait for the last. */
  #writeHistory(id: WorkspaceId, entry: Entry): Promise<void> {
    entry.writes += 1;
    entry.writing = entry.writing.then(async () => {
      await this.#append(id, entry);
      entry.writes -= 1;
    });
    return entry.writing;
  }

  /** A history that cannot be written fails no request. */
  async #append(id: WorkspaceId, entry: Entry): Promise<void> {
    if (entry.closed || entry.waiting.length === 0) return;
    const { waiting, lost } = entry;
    entry.waiting = [];
    entry.lost = 0;
    try {
      if (lost > 0) this.#deps.log({ event: 'history_entries_lost', workspace: id, entries: lost });
      await this.#historyOf(id).append(waiting.map((one) => ({ ...one, at: toTimestamp(one.at) })));
    } catch (error) {
      this.#deps.log({
        event: 'history_not_written',
        workspace: id,
        entries: waiting.length,
        error: String(error),
      });
    }
  }

  #historyOf(id: WorkspaceId): History {
    return new History(join(this.#deps.folder(id), 'history'));
  }

  /** The entry of a workspace that is in memory or open; undefined once it is closed. */
  #openEntry(id: WorkspaceId): Entry | undefined {
    if (!this.has(id) && !this.#deps.isOpen(id)) return undefined;
    const entry = this.#entry(id);
    return entry.closed ? undefined : entry;
  }

  #entry(id: WorkspaceId): Entry {
    const existing = this.#entries.get(id);
    if (existing) return existing;
    const entry: Entry = {
      ...this.#stored(id),
      waiting: [],
      lost: 0,
      dirty: false,
      closed: false,
      writing: Promise.resolve(),
      writes: 0,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  #stored(id: WorkspaceId): { searches: number; ingests: number; histogram: LatencyHistogram } {
    const { searches = 0, ingests = 0, buckets, max } = this.#table.get(id) ?? {};
    return { searches, ingests, histogram: new LatencyHistogram(buckets, max) };
  }
}
