import type { FollowedFigures, FollowedIndexes } from '../content/followed-indexes.ts';
import { decodeChanges } from '../log/changes.ts';
import { LogFollower } from '../log/log-follower.ts';
import { prefixOf } from '../log/slot-logs.ts';
import type { BooksCopy } from '../log/state-copy.ts';
import type { Kv, Pause } from '../stores/kv.ts';

export interface StandbyOptions {
  readonly kv: Kv;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Opens a slot's state as a copy of its log. */
  readonly openCopy: (slot: number) => Promise<BooksCopy>;
  readonly indexes: Pick<
    FollowedIndexes,
    'add' | 'changed' | 'leave' | 'remove' | 'isLevel' | 'figures' | 'close'
  >;
  readonly log: (event: object) => void;
  /** Pause between two looks. */
  readonly pause?: Pause;
}

export interface StandbyFigures {
  /** Number of slots that are followed. */
  readonly slots: number;
  /** Lag of the followed store that is furthest behind, in milliseconds. */
  readonly lagMs: number;
  readonly indexes: FollowedFigures;
}

export const NO_STANDBY: StandbyFigures = {
  slots: 0,
  lagMs: 0,
  indexes: { current: 0, behind: 0, left_out: 0, bytes: 0 },
};

/**
 * Follows the stores and indexes of slots that other servers own, in the folders of the next owner. A standby's copy is untrusted until it
 * has claimed the slot and replayed the log.
 */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #follower: LogFollower;
  readonly #copies = new Map<number, BooksCopy>();

  constructor(options: StandbyOptions) {
    const { kv, cluster, log, pause } = options;
    this.#options = options;
    this.#follower = new LogFollower({ kv, prefix: prefixOf(cluster), log, ...(pause && { pause }) });
  }

  /** Whether a slot is followed. */
  has(slot: number): boolean {
    return this.#copies.has(slot);
  }

  /** Number of slots that are followed. */
  get size(): number {
    return this.#copies.size;
  }

  /** Whether a slot's store and indexes here were current at the last look. */
  isLevel(slot: number): boolean {
    return this.#follower.isBegun(slot) && this.#options.indexes.isLevel(slot);
  }

  /** Begins to follow. Only indexes built from the copied store beside them are reused. @throws ConfigError for a state without a log */
  async follow(slot: number): Promise<void> {
    const { openCopy, indexes } = this.#options;
    const copy = await openCopy(slot);
    this.#copies.set(slot, copy);
    let isWhole = false;
    this.#follower.add(slot, {
      get position() {
        return copy.position;
      },
      apply: async (entries, position) => {
        await copy.apply(entries, position);
        if (isWhole) indexes.changed(slot, entries.flatMap(decodeChanges));
        else if (position) await indexes.add(slot, copy.store);
        isWhole ||= position !== undefined;
      },
      clear: async () => {
        isWhole = false;
        await indexes.leave(slot);
        await copy.clear();
      },
    });
  }

  /**
   * Stops following: the local copy stays as it is, and is free for other use.
   * @returns the copy of its state, open, where it was followed
   */
  async release(slot: number): Promise<BooksCopy | undefined> {
    const copy = this.#copies.get(slot);
    if (!copy) return undefined;
    await this.#follower.remove(slot);
    await this.#options.indexes.leave(slot);
    this.#copies.delete(slot);
    return copy;
  }

  /** A Tenant of a slot that is followed ends: nothing of it is on this disk once this resolves, nor ever will be. */
  remove(slot: number, tenant: string): Promise<void> {
    return this.#options.indexes.remove(slot, tenant);
  }

  get figures(): StandbyFigures {
    const { indexes } = this.#options;
    return { slots: this.size, lagMs: this.#follower.lagMs, indexes: indexes.figures };
  }

  async close(): Promise<void> {
    await this.#follower.close();
    for (const slot of [...this.#copies.keys()]) await (await this.release(slot))?.close();
    await this.#options.indexes.close();
  }
}
