import {
  AnswerLostError,
  type Kv,
  type KvOutcome,
  type KvRange,
  type KvRow,
  type KvTransaction,
  type Leases,
  type Watches,
} from '../../../src/cluster/stores/kv.ts';
import { MemoryEngine } from '../memory-kv.ts';
import type { Dice, VirtualProcess, VirtualTime } from './virtual-time.ts';

interface EngineLease {
  readonly ttlMs: number;
  expiresAt: number;
}

/** An engine with leases, in virtual time. After a time without a leader all leases begin anew, as etcd's do. */
export class SimulatedEngine extends MemoryEngine {
  isUp = true;
  /** Told of each transaction that was made, before it is. */
  onCommit: (transaction: KvTransaction, revision: number) => void = () => undefined;
  readonly #time: VirtualTime;
  readonly #dice: Dice;
  readonly #leases = new Map<string, EngineLease>();
  readonly #leaseOf = new Map<string, string>();
  /** Told of each key that has changed. */
  readonly watchers = new Set<(key: string) => void>();
  #granted = 0;

  constructor(time: VirtualTime, dice: Dice) {
    super();
    this.#time = time;
    this.#dice = dice;
  }

  override commit(transaction: KvTransaction): KvOutcome {
    const { when, puts = [], deletes = [] } = transaction;
    if (puts.some(({ lease }) => lease !== undefined && !this.#leases.has(lease)))
      throw new AnswerLostError('requested lease not found');
    if (when.every(({ key, revision }) => (this.rows.get(key)?.revision ?? 0) === revision))
      this.onCommit(transaction, this.revision + 1);
    const outcome = super.commit(transaction);
    if (outcome.done)
      for (const { key, lease } of puts) {
        if (lease === undefined) this.#leaseOf.delete(key);
        else this.#leaseOf.set(key, lease);
      }
    if (outcome.done) this.#tell([...puts.map(({ key }) => key), ...deletes.map(({ from }) => from)]);
    return outcome;
  }

  grant(seconds: number): string {
    this.#granted += 1;
    const id = `l${this.#granted}`;
    this.#leases.set(id, { ttlMs: 1000 * seconds, expiresAt: this.#time.now + 1000 * seconds });
    this.#watch(id);
    return id;
  }

  renew(id: string): number {
    const lease = this.#leases.get(id);
    if (!lease) return 0;
    lease.expiresAt = this.#time.now + lease.ttlMs;
    return lease.ttlMs / 1000;
  }

  revoke(id: string): void {
    if (!this.#leases.delete(id)) return;
    const gone = [...this.#leaseOf].filter(([, lease]) => lease === id).map(([key]) => key);
    for (const key of gone) {
      this.#leaseOf.delete(key);
      this.rows.delete(key);
    }
    this.revision += 1;
    this.#tell(gone);
  }

  #tell(keys: readonly string[]): void {
    for (const watcher of this.watchers) for (const key of keys) watcher(key);
  }

  goDown(milliseconds: number): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#time.in(milliseconds, () => {
      this.isUp = true;
      for (const lease of this.#leases.values()) lease.expiresAt = this.#time.now + lease.ttlMs;
    });
  }

  /** Never early, and late by up to half a second. */
  #watch(id: string): void {
    const lease = this.#leases.get(id);
    if (!lease) return;
    const isOver = this.isUp && lease.expiresAt < this.#time.now;
    if (isOver) this.revoke(id);
    else
      this.#time.in(Math.max(0, lease.expiresAt - this.#time.now) + this.#dice.between(1, 500), () =>
        this.#watch(id),
      );
  }
}

/** How questions of one process fare. */
export interface Network {
  /** Nothing arrives, in one direction or both. */
  cut: 'none' | 'out' | 'back' | 'both';
  /** Share of questions that are slow, or lost. */
  badness: number;
  /** Nothing slow arrives later than this. */
  readonly lateUntil: number;
}

const ANSWER_MS_MAX = 800;
const LATE_MS_MAX = 8000;

/** A process's way to the engine. What arrives late is done all the same. */
export class SimulatedKv implements Kv, Leases, Watches {
  readonly #engine: SimulatedEngine;
  readonly #time: VirtualTime;
  readonly #dice: Dice;
  readonly #process: VirtualProcess;
  readonly #network: Network;

  constructor(
    engine: SimulatedEngine,
    {
      time,
      dice,
      process,
      network,
    }: { time: VirtualTime; dice: Dice; process: VirtualProcess; network: Network },
  ) {
    this.#engine = engine;
    this.#time = time;
    this.#dice = dice;
    this.#process = process;
    this.#network = network;
  }

  commit(transaction: KvTransaction): Promise<KvOutcome> {
    return this.#ask(() => this.#engine.commit(transaction));
  }

  range(from: string, to: string, limit?: number): Promise<KvRow[]> {
    return this.#ask(() => this.#engine.range(from, to, limit));
  }

  ranges(ranges: readonly KvRange[]): Promise<KvRow[][]> {
    return this.#ask(() => ranges.map(({ from, to, limit }) => this.#engine.range(from, to, limit)));
  }

  grant(seconds: number): Promise<string> {
    return this.#ask(() => this.#engine.grant(seconds));
  }

  renew(id: string): Promise<number> {
    return this.#ask(() => this.#engine.renew(id));
  }

  revoke(id: string): Promise<void> {
    return this.#ask(() => this.#engine.revoke(id));
  }

  /** As its questions fare: what it is told may come late, or not at all. */
  watch(ranges: readonly KvRange[], onChange: () => void): () => void {
    const watcher = (key: string) => {
      if (!ranges.some(({ from, to }) => key >= from && key < to)) return;
      const { cut } = this.#network;
      const isLost = cut === 'both' || cut === 'back' || this.#dice.happens(this.#network.badness / 4);
      if (!isLost) this.#time.in(this.#delay(), onChange, this.#process);
    };
    this.#engine.watchers.add(watcher);
    return () => this.#engine.watchers.delete(watcher);
  }

  close(): void {}

  #ask<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const { cut } = this.#network;
      const isLost = (direction: 'out' | 'back') =>
        cut === 'both' || cut === direction || this.#dice.happens(this.#network.badness / 4);
      this.#process.in(ANSWER_MS_MAX, () => reject(new AnswerLostError('no answer')));
      if (isLost('out')) return;
      // The engine answers no process that has ended, and does what it asked.
      this.#time.in(this.#delay(), () => {
        if (!this.#engine.isUp) return;
        let answer: () => void;
        try {
          const result = work();
          answer = () => resolve(result);
        } catch (error) {
          answer = () => reject(error);
        }
        if (!isLost('back')) this.#time.in(this.#delay(), answer, this.#process);
      });
    });
  }

  #delay(): number {
    const isSlow = this.#dice.happens(this.#network.badness);
    const promptMs = this.#dice.between(0.2, 15);
    if (!isSlow) return promptMs;
    return Math.max(
      promptMs,
      Math.min(this.#dice.between(0, LATE_MS_MAX), this.#network.lateUntil - this.#time.now),
    );
  }
}
