import { FarthingError } from '../../domain/error.ts';
import type { ConfinementReport } from './messages.ts';
import type { DoneReply } from './reader-process.ts';
import type { ReaderQueue, ReaderTask } from './warm-reader.ts';

interface Waiting {
  readonly owner: string;
  readonly start: (lane: ReaderQueue) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Several lanes, of which one owner holds all but one at most: files that are made to last hold up their owner's other files, and
 * nobody else's as long as a lane is left.
 */
export class ReaderPool {
  readonly lanes: readonly ReaderQueue[];
  readonly #waitingMax: number;
  readonly #free: ReaderQueue[];
  /** Lanes that each owner holds. */
  readonly #held = new Map<string, number>();
  readonly #heldMax: number;
  #waiting: Waiting[] = [];
  #closed = false;

  constructor(lanes: readonly ReaderQueue[], waitingMax: number) {
    this.lanes = lanes;
    this.#free = [...lanes];
    this.#heldMax = Math.max(1, lanes.length - 1);
    this.#waitingMax = waitingMax;
  }

  get depth(): number {
    return this.#waiting.length + this.lanes.length - this.#free.length;
  }

  get confinement(): ConfinementReport | undefined {
    return this.lanes.find((lane) => lane.confinement)?.confinement;
  }

  /** @throws as ReaderQueue.run. */
  async run(owner: string, task: ReaderTask): Promise<DoneReply> {
    const lane = await this.#turn(owner);
    try {
      return await lane.run(task);
    } finally {
      this.#hold(owner, -1);
      // First again: a lane whose child has started goes before one that never was needed.
      this.#free.unshift(lane);
      this.#next();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopping());
    await Promise.all(this.lanes.map((lane) => lane.close()));
  }

  #turn(owner: string): Promise<ReaderQueue> {
    if (this.#closed) return Promise.reject(stopping());
    if (this.#waiting.length >= this.#waitingMax) {
      return Promise.reject(
        new FarthingError('overloaded', 'Too many files wait to be opened. Try again later.', {
          retryAfterS: 2,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ owner, start: resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    for (const waiting of [...this.#waiting]) {
      if (this.#free.length === 0) return;
      if ((this.#held.get(waiting.owner) ?? 0) >= this.#heldMax) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      this.#hold(waiting.owner, 1);
      waiting.start(this.#free.shift()!);
    }
  }

  #hold(owner: string, more: 1 | -1): void {
    const held = (this.#held.get(owner) ?? 0) + more;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }
}

function stopping(): FarthingError {
  return new FarthingError('interrupted', 'The server is stopping.');
}
