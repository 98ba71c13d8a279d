import { FarthingError } from '../domain/error.ts';
import type { Lane, LaneTask } from './lane.ts';
import type { ConfinementReport } from './messages.ts';
import type { DoneReply } from './reader-process.ts';

interface Waiting {
  readonly owner: string;
  readonly start: (lane: Lane) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Several lanes, of which one owner holds one at most: a file that is made to last holds up its owner's other files, and
 * nobody else's as long as a lane is left.
 */
export class FairLanes {
  readonly lanes: readonly Lane[];
  readonly #waitingMax: number;
  readonly #free: Lane[];
  readonly #owners = new Set<string>();
  #waiting: Waiting[] = [];
  #closed = false;

  constructor(lanes: readonly Lane[], waitingMax: number) {
    this.lanes = lanes;
    this.#free = [...lanes];
    this.#waitingMax = waitingMax;
  }

  get depth(): number {
    return this.#waiting.length + this.lanes.length - this.#free.length;
  }

  get confinement(): ConfinementReport | undefined {
    return this.lanes.find((lane) => lane.confinement)?.confinement;
  }

  /** @throws as Lane.run. */
  async run(owner: string, task: LaneTask): Promise<DoneReply> {
    const lane = await this.#turn(owner);
    try {
      return await lane.run(task);
    } finally {
      this.#owners.delete(owner);
      this.#free.push(lane);
      this.#next();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopping());
    await Promise.all(this.lanes.map((lane) => lane.close()));
  }

  #turn(owner: string): Promise<Lane> {
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
      if (this.#owners.has(waiting.owner)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      this.#owners.add(waiting.owner);
      waiting.start(this.#free.shift()!);
    }
  }
}

function stopping(): FarthingError {
  return new FarthingError('interrupted', 'The server is stopping.');
}
