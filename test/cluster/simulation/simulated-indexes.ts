import type { FollowedIndexes } from '../../../src/cluster/content/followed-indexes.ts';
import type { Change } from '../../../src/cluster/log/changes.ts';
import type { SlotStore } from '../../../src/cluster/log/recorded-store.ts';
import { HEADS } from './books.ts';
import type { Dice, VirtualProcess } from './virtual-time.ts';

interface Work {
  readonly tenant: string;
  readonly slot: number;
  isStopped: boolean;
  readonly stop: () => void;
  readonly done: Promise<void>;
}

export interface SimulatedIndexesOptions {
  readonly process: VirtualProcess;
  readonly dice: Dice;
  /** Ids of Tenants that this disk has, of each slot, in order. */
  readonly content: readonly ReadonlySet<string>[];
  readonly keep: (slot: number, tenant: string) => void;
  readonly remove: (slot: number, tenant: string) => void;
}

const MAKE_MS_MAX = 100;

/** A fake of `FollowedIndexes`: an index is here or not, and making one takes a while. */
export class SimulatedIndexes
  implements Pick<FollowedIndexes, 'add' | 'changed' | 'leave' | 'remove' | 'isLevel' | 'figures' | 'close'>
{
  readonly figures = { current: 0, behind: 0, left_out: 0, bytes: 0 };
  readonly #options: SimulatedIndexesOptions;
  readonly #slots = new Map<number, SlotStore>();
  /** The slot of each Tenant that may have changed. */
  readonly #due = new Map<string, number>();
  readonly #ended = new Set<string>();
  #work: Work | undefined;

  constructor(options: SimulatedIndexesOptions) {
    this.#options = options;
  }

  async add(slot: number, store: SlotStore): Promise<void> {
    const heads = store.table(HEADS);
    const { content, remove } = this.#options;
    for (const tenant of [...content[slot]!]) if (!heads.get(tenant)) remove(slot, tenant);
    this.#slots.set(slot, store);
    for (const { key } of heads.range()) this.#due.set(key, slot);
    this.#goOn();
  }

  changed(slot: number, changes: readonly Change[]): void {
    if (!this.#slots.has(slot)) return;
    for (const { table, key } of changes) if (table === HEADS) this.#due.set(key, slot);
    this.#goOn();
  }

  async leave(slot: number): Promise<void> {
    if (!this.#slots.delete(slot)) return;
    for (const [tenant, own] of this.#due) if (own === slot) this.#due.delete(tenant);
    if (this.#work?.slot === slot) await this.#stop(this.#work);
  }

  async remove(slot: number, tenant: string): Promise<void> {
    this.#ended.add(tenant);
    this.#due.delete(tenant);
    if (this.#work?.tenant === tenant) await this.#stop(this.#work);
    this.#options.remove(slot, tenant);
  }

  isLevel(slot: number): boolean {
    return this.#slots.has(slot) && this.#work?.slot !== slot && ![...this.#due.values()].includes(slot);
  }

  async close(): Promise<void> {
    for (const slot of [...this.#slots.keys()]) await this.leave(slot);
  }

  #goOn(): void {
    const [next] = this.#due;
    if (this.#work || !next) return;
    const [tenant, slot] = next;
    this.#due.delete(tenant);
    const stopped = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    const stop = () => stopped.resolve();
    const work: Work = { tenant, slot, isStopped: false, stop, done: done.promise };
    this.#work = work;
    void this.#follow(work, stopped.promise).finally(() => {
      this.#work = undefined;
      done.resolve();
      this.#goOn();
    });
  }

  async #stop(work: Work): Promise<void> {
    work.isStopped = true;
    work.stop();
    await work.done;
  }

  async #follow(work: Work, stopped: Promise<void>): Promise<void> {
    const { tenant, slot } = work;
    const { process, dice, keep, remove } = this.#options;
    const isThere = this.#slots.get(slot)?.table(HEADS).get(tenant) !== undefined;
    if (!isThere || this.#ended.has(tenant)) return remove(slot, tenant);
    await Promise.race([process.pause(dice.between(1, MAKE_MS_MAX)), stopped]);
    if (!work.isStopped) keep(slot, tenant);
  }
}
