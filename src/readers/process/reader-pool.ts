import { FarthingError } from '@farthing/protocol/error';
import { FairQueue } from '@farthing/queues/fair-queue';
import type { ConfinementReport } from './messages.ts';
import { type PooledReader, type ReaderTask, stopping } from './pooled-reader.ts';
import type { DoneReply } from './reader-process.ts';

export interface ReaderPoolOptions {
  readonly readers: readonly PooledReader[];
  /** Tasks that may wait. */
  readonly waitingMax: number;
  /** One reader is kept for owners whose last tasks took at most so many seconds of a processor. Absent: none is. */
  readonly quickSeconds?: number;
  /** A task that has waited so long for a living process starts another. Default 250. */
  readonly growthMs?: number;
}

/** A start takes half a second of a processor, and as much again until its code is compiled: what is read meanwhile need not pay for it. */
const GROWTH_MS = 250;

interface Waiting {
  readonly task: ReaderTask;
  readonly waits: AbortSignal | undefined;
  readonly resolve: (reply: DoneReply) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
  growth?: NodeJS.Timeout;
}

/**
 * Readers that share their tasks. Owners take turns by the seconds that their tasks took of the processors, failed ones included. One owner
 * leaves a reader to the others. A process starts when a task has waited for those that live.
 */
export class ReaderPool {
  readonly #readers: readonly PooledReader[];
  readonly #idle: PooledReader[];
  readonly #queue: FairQueue<Waiting>;
  readonly #growthMs: number;
  #closed = false;

  constructor({ readers, waitingMax, quickSeconds, growthMs = GROWTH_MS }: ReaderPoolOptions) {
    this.#growthMs = growthMs;
    this.#readers = readers;
    this.#idle = [...readers];
    this.#queue = new FairQueue({
      waitingMax,
      insideMax: readers.length,
      ownerInsideMax: Math.max(1, readers.length - 1),
      ...(readers.length > 1 && { quickCost: quickSeconds }),
    });
  }

  /** Tasks that wait or run. */
  get depth(): number {
    return this.#queue.size + this.#readers.length - this.#idle.length;
  }

  /** What confines its processes; undefined until one has started. */
  get confinement(): ConfinementReport | undefined {
    return this.#readers.find(({ confinement }) => confinement)?.confinement;
  }

  /** Whether tasks of others than an owner wait. */
  othersWait(owner: string): boolean {
    return this.#queue.othersWait(owner);
  }

  /** Starts readers before tasks need them, one after the other. Resolves when they have started, or could not. */
  async warm(count = 1): Promise<void> {
    for (const reader of this.#readers.slice(0, count)) await reader.warm();
  }

  /**
   * @param waits aborted: it is given up while it waits. What has begun ends by itself; the task's own signal ends it, too.
   * @throws the file's refusal, extraction_timeout, extraction_failed, overloaded, interrupted, or the signal's reason.
   */
  run(owner: string, task: ReaderTask, waits = task.signal): Promise<DoneReply> {
    if (this.#closed) return Promise.reject(stopping());
    if (waits?.aborted) return Promise.reject(waits.reason);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        clearTimeout(waiting.growth);
        if (this.#queue.leave(waiting)) reject(waits?.reason);
      };
      const waiting: Waiting = { task, waits, resolve, reject, onAbort };
      if (!this.#queue.enter(owner, waiting, task.cost)) return reject(full());
      waits?.addEventListener('abort', onAbort, { once: true });
      this.#startNext();
      if (this.#queue.waitingOf(owner) > 0 && this.#idle.length > 0) this.#growFor(waiting);
    });
  }

  /** Ends the processes. Tasks that wait or run are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject, growth } of this.#queue.drain()) {
      clearTimeout(growth);
      reject(stopping());
    }
    await Promise.all(this.#readers.map((reader) => reader.close()));
  }

  /** What waits goes to processes that live; the first starts where none does. */
  #startNext(): void {
    while (this.#startOne(this.#idle.find(({ isLiving }) => isLiving)));
    if (!this.#readers.some(({ isLiving }) => isLiving)) this.#grow();
  }

  /** Once a task has waited: a start beside another would delay both. */
  #growFor(waiting: Waiting): void {
    waiting.growth = setTimeout(() => {
      if (this.#readers.some(({ isStarting }) => isStarting)) this.#growFor(waiting);
      else this.#grow();
    }, this.#growthMs).unref();
  }

  /** What waits, if anything may go, starts one more process. */
  #grow(): void {
    this.#startOne(this.#idle.find(({ isLiving }) => !isLiving));
  }

  #startOne(reader: PooledReader | undefined): boolean {
    const waiting = reader && this.#queue.take();
    if (!waiting) return false;
    this.#idle.splice(this.#idle.indexOf(reader), 1);
    this.#start(reader, waiting);
    return true;
  }

  #start(reader: PooledReader, waiting: Waiting): void {
    const { task, waits, resolve, reject, onAbort, growth } = waiting;
    clearTimeout(growth);
    waits?.removeEventListener('abort', onAbort);
    reader
      .perform(task)
      .then(resolve, reject)
      .finally(() => {
        this.#queue.leave(waiting, reader.lastSeconds);
        // The first comes first: its process has started, and those of the others end when they have nothing to do.
        this.#idle.push(reader);
        this.#idle.sort((one, next) => this.#readers.indexOf(one) - this.#readers.indexOf(next));
        this.#startNext();
      });
  }
}

function full(): FarthingError {
  return new FarthingError('overloaded', 'Too many files wait to be read. Try again later.', {
    retryAfterS: 2,
  });
}
