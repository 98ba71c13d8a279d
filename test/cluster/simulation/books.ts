import type { KvTransaction } from '../../../src/cluster/kv.ts';
import { OWNER_ROWS } from '../../../src/cluster/node-rows.ts';
import { prefixOf } from '../../../src/cluster/slot-logs.ts';
import type { SimulatedEngine } from './engine.ts';

export const CLUSTER = 'c';

/** What an entry of a log is in the simulation: the words that it adds. */
export function entryOf(words: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(words));
}

export function wordsIn(payload: Uint8Array): string[] {
  return JSON.parse(Buffer.from(payload).toString()) as string[];
}

/** Two hashes come before what an entry holds. */
const LINK_BYTES = 64;

/** What an observer of the engine and of all clients knows, and holds against what the servers tell. */
export class Books {
  /** Words that a client was told are written, by slot. */
  readonly acknowledged: ReadonlySet<string>[];
  readonly #engine: SimulatedEngine;
  /** Words that were ever in the log, by slot. */
  readonly #logged: Set<string>[];
  /** Every entry that ever was, by its key. */
  readonly #entries = new Map<string, Uint8Array>();
  answers = 0;
  claims = 0;
  /** The first thing that does not hold. */
  violation: string | undefined;

  constructor(engine: SimulatedEngine, slots: number) {
    this.#engine = engine;
    this.acknowledged = Array.from({ length: slots }, () => new Set<string>());
    this.#logged = Array.from({ length: slots }, () => new Set<string>());
    engine.onCommit = (transaction) => this.#see(transaction);
  }

  /** A server answers: what it says is in the log, and nobody else has had the slot since. */
  told(
    slot: number,
    fence: { readonly key: string; readonly revision: number },
    words: readonly string[],
  ): void {
    this.answers += 1;
    const owner = this.#engine.rows.get(fence.key);
    if (owner && owner.revision > fence.revision) this.violated(`slot ${slot} is answered by a former owner`);
    for (const word of words)
      if (!this.#logged[slot]!.has(word)) this.violated(`${word} is told and not in the log`);
  }

  /** A server says that a word is written. */
  acknowledge(slot: number, word: string): void {
    (this.acknowledged[slot] as Set<string>).add(word);
  }

  violated(what: string): void {
    this.violation ??= what;
  }

  #see({ puts = [] }: KvTransaction): void {
    const logs = `${prefixOf(CLUSTER)}log/`;
    for (const { key, value } of puts) {
      if (key.startsWith(OWNER_ROWS.range(CLUSTER).from)) this.claims += 1;
      if (!key.startsWith(logs)) continue;
      // The same entry may arrive twice, even after a snapshot has replaced it.
      const former = this.#entries.get(key);
      if (former && Buffer.compare(former, value) !== 0) this.violated(`${key} is written twice`);
      if (former) continue;
      this.#entries.set(key, value);
      const slot = Number(key.slice(logs.length).split('/', 1)[0]);
      for (const word of wordsIn(value.subarray(LINK_BYTES))) {
        if (this.#logged[slot]!.has(word)) this.violated(`${word} is in the log twice`);
        this.#logged[slot]!.add(word);
      }
    }
  }
}
