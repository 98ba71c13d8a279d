import { type Kv, type KvCondition, type Pause, untilAnswered } from './kv.ts';

/** Somebody else has the slot: nothing more of this process gets into its log. */
export class FencedError extends Error {}

/** An entry on its way. */
interface Entry {
  /** Condition for writing it: this process still owns its slot. */
  readonly fence: KvCondition;
  readonly key: string;
  readonly value: Uint8Array;
  readonly safe: () => void;
  readonly lost: (error: Error) => void;
}

export interface GroupCommitOptions {
  readonly kv: Kv;
  readonly log?: (event: object) => void;
  /** Called for each transaction that was made: milliseconds from its first attempt until it was safe. */
  readonly onCommitted?: (milliseconds: number) => void;
  /** Pause between two attempts. */
  readonly pause?: Pause;
}

const SLOTS_MAX = 96;
/** etcd takes 128 changes and 1.5 MiB. */
const ENTRIES_MAX = 120;
const BYTES_MAX = 2 ** 20;

/**
 * Writes the entries of all slots, one transaction at a time: entries that arrive during one go into the next, in order. Each slot has its
 * own fence in the transaction itself, so no clock is involved.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Entry[] = [];
  /** Errors of fences that have fallen, by what they were. */
  readonly #fenced = new Map<string, FencedError>();
  #running = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Resolves once the entry is in the log. @throws FencedError once it never will be */
  add(fence: KvCondition, key: string, value: Uint8Array): Promise<void> {
    return new Promise((safe, lost) => {
      this.#waiting.push({ fence, key, value, safe, lost });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Entries of this turn of the event loop go together.
    await undefined;
    while (this.#waiting.length > 0) await this.#write(this.#take());
    this.#running = false;
  }

  #take(): Entry[] {
    const fences = new Set<string>();
    let bytes = 0;
    const count = this.#waiting.findIndex(({ fence, value }, index) => {
      fences.add(identityOf(fence));
      bytes += value.length;
      return index > 0 && (index === ENTRIES_MAX || fences.size > SLOTS_MAX || bytes > BYTES_MAX);
    });
    return this.#waiting.splice(0, count === -1 ? this.#waiting.length : count);
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    for (let left = entries; left.length > 0; ) {
      left = left.filter(({ fence, lost }) => {
        const fenced = this.#fenced.get(identityOf(fence));
        if (fenced) lost(fenced);
        return !fenced;
      });
      if (left.length === 0 || (await this.#commit(left))) {
        for (const { safe } of left) safe();
        return;
      }
      await this.#findFenced(left);
    }
  }

  /** @returns false when a fence has fallen */
  async #commit(entries: readonly Entry[]): Promise<boolean> {
    const { kv, onCommitted } = this.#options;
    const began = performance.now();
    const when = fencesOf(entries);
    const puts = entries.map(({ key, value }) => ({ key, value }));
    let lost = false;
    const isMade = await this.#untilAnswered(async () => {
      // The first attempt may have been made, though its answer was lost. All of it was, or nothing.
      if (lost && (await this.#isThere(entries[0]!))) return true;
      lost = true;
      return (await kv.commit({ when, puts })).done;
    });
    if (isMade) onCommitted?.(performance.now() - began);
    return isMade;
  }

  async #isThere({ key, value }: Entry): Promise<boolean> {
    const [row] = await this.#options.kv.range(key, `${key}\0`);
    return row !== undefined && Buffer.compare(row.value, value) === 0;
  }

  async #findFenced(entries: readonly Entry[]): Promise<void> {
    for (const fence of fencesOf(entries)) {
      const { key, revision } = fence;
      const [row] = await this.#untilAnswered(() => this.#options.kv.range(key, `${key}\0`));
      if (row?.revision !== revision)
        this.#fenced.set(identityOf(fence), new FencedError(`${key} belongs to another process now`));
    }
  }

  #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    const { log, pause } = this.#options;
    return untilAnswered(ask, ({ message }) => log?.({ event: 'log_answer_lost', error: message }), pause);
  }
}

/** Distinguishes several claims of one slot: each has its own revision. */
function identityOf({ key, revision }: KvCondition): string {
  return `${key} ${revision}`;
}

function fencesOf(entries: readonly Entry[]): KvCondition[] {
  return [...new Map(entries.map(({ fence }) => [identityOf(fence), fence])).values()];
}
