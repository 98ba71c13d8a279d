import { FarthingError } from '../../domain/error.ts';
import { FairQueue } from '../../domain/sharing/fair-queue.ts';
import type { ConfinementReport } from './messages.ts';
import type { DoneReply } from './reader-process.ts';
import { type ReaderTask, stopping, type WarmReader } from './warm-reader.ts';

export interface ReaderPoolOptions {
  readonly readers: readonly WarmReader[];
  /** Tasks that may wait. */
  readonly waitingMax: number;
  /** One reader is kept for owners whose last tasks took at most so many seconds of a processor. Absent: none is. */
  readonly quickSeconds?: number;
}

interface Waiting {
  readonly task: ReaderTask;
  readonly waits: AbortSignal | undefined;
  readonly resolve: (reply: DoneReply) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
}

/**
 * Readers that share their tasks. Owners take turns by the seconds that their tasks took of the processors, failed ones included. One owner
 * leaves a reader to the others.
 */
export class ReaderPool {
  readonly #readers: readonly WarmReader[];
  readonly #idle: WarmReader[];
  readonly #queue: FairQueue<Waiting>;
  #closed = false;

  constructor({ readers, waitingMax, quickSeconds }: ReaderPoolOptions) {
    this.#readers = readers;
    this.#idle = [...readers];
    this.#queue = new FairQueue({
      waitingMax,
      takenMax: readers.length,
      ownerTakenMax: Math.max(1, readers.length - 1),
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

  /** Starts a reader before a task needs it. Resolves when it has started, or could not. */
  async warm(): Promise<void> {
    await this.#readers[0]?.warm();
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
        if (this.#queue.remove(owner, waiting)) reject(waits?.reason);
      };
      const waiting: Waiting = { task, waits, resolve, reject, onAbort };
      if (!this.#queue.push(owner, waiting)) return reject(full());
      waits?.addEventListener('abort', onAbort, { once: true });
      this.#startNext();
    });
  }

  /** Ends the processes. Tasks that wait or run are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#queue.drain()) reject(stopping());
    await Promise.all(this.#readers.map((reader) => reader.close()));
  }

  #startNext(): void {
    for (let waiting = this.#queue.take(); waiting; waiting = this.#queue.take())
      this.#start(this.#idle.shift()!, waiting);
  }

  #start(reader: WarmReader, waiting: Waiting): void {
    const { task, waits, resolve, reject, onAbort } = waiting;
    waits?.removeEventListener('abort', onAbort);
    reader
      .perform(task)
      .then(resolve, reject)
      .finally(() => {
        this.#queue.done(waiting, reader.lastSeconds);
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
