import { setImmediate } from 'node:timers/promises';
import {
  AnswerLostError,
  type Kv,
  type KvOutcome,
  type KvRange,
  type KvRow,
  type KvTransaction,
} from '../../src/cluster/stores/kv.ts';

/** Outcome of one question: answered, lost before it was done, or after. */
type Fate = 'answered' | 'never done' | 'done unheard';

/** The rows of an engine in memory. Several clients may share them. */
export class MemoryEngine {
  readonly rows = new Map<string, KvRow>();
  revision = 1;

  commit({ when, puts = [], deletes = [] }: KvTransaction): KvOutcome {
    const done = when.every(({ key, revision }) => (this.rows.get(key)?.revision ?? 0) === revision);
    if (!done) return { done, revision: this.revision };
    this.revision += 1;
    const { revision } = this;
    for (const { from, to } of deletes)
      for (const key of [...this.rows.keys()]) if (key >= from && key < to) this.rows.delete(key);
    for (const { key, value } of puts) this.rows.set(key, { key, value: Uint8Array.from(value), revision });
    return { done, revision };
  }

  range(from: string, to: string, limit = Number.POSITIVE_INFINITY): KvRow[] {
    const found = [...this.rows.values()].filter(({ key }) => key >= from && key < to);
    return found.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit || Number.POSITIVE_INFINITY);
  }
}

/** One client of it. */
export class MemoryKv implements Kv {
  readonly engine: MemoryEngine;
  /** Decides on the next question. */
  fate: () => Fate = () => 'answered';
  commits = 0;

  constructor(engine = new MemoryEngine()) {
    this.engine = engine;
  }

  commit(transaction: KvTransaction): Promise<KvOutcome> {
    this.commits += 1;
    return this.#ask(() => this.engine.commit(transaction));
  }

  range(from: string, to: string, limit?: number): Promise<KvRow[]> {
    return this.#ask(() => this.engine.range(from, to, limit));
  }

  ranges(ranges: readonly KvRange[]): Promise<KvRow[][]> {
    return this.#ask(() => ranges.map(({ from, to, limit }) => this.engine.range(from, to, limit)));
  }

  close(): void {}

  async #ask<T>(work: () => T): Promise<T> {
    const fate = this.fate();
    await setImmediate();
    if (fate === 'never done') throw new AnswerLostError('lost before');
    const result = work();
    await setImmediate();
    if (fate === 'done unheard') throw new AnswerLostError('lost after');
    return result;
  }
}
