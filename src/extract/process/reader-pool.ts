import { FarthingError } from '../../domain/error.ts';
import { FairQueue } from '../../domain/fair-queue.ts';
import type { ConfinementReport } from './messages.ts';
import type { DoneReply } from './reader-process.ts';
import { type ReaderTask, stopping, type WarmReader } from './warm-reader.ts';

export interface ReaderPoolOptions {
  readonly readers: readonly WarmReader[];
  /** Tasks that may wait. */
  readonly waitingMax: number;
  /** Tasks of one Tenant that may wait. */
  readonly tenantWaitingMax?: number;
  /** Tasks of one share that may wait. */
  readonly shareWaitingMax?: number;
  /** Readers that one share may occupy at a time. Absent: all of them. */
  readonly shareReadersMax?: number;
}

interface Waiting {
  readonly tenant: string;
  readonly share: string;
  readonly task: ReaderTask;
  readonly resolve: (reply: DoneReply) => void;
  readonly reject: (error: unknown) => void;
  readonly onAbort: () => void;
}

/** Readers that share their tasks. Tenants take turns, each by itself or, with a common share, as one. */
export class ReaderPool {
  readonly #readers: readonly WarmReader[];
  readonly #idle: WarmReader[];
  readonly #queue: FairQueue<Waiting>;
  /** How many tasks of each Tenant wait. */
  readonly #waiting = new Map<string, number>();
  readonly #tenantWaitingMax: number;
  #closed = false;

  constructor({ readers, tenantWaitingMax, ...shared }: ReaderPoolOptions) {
    this.#readers = readers;
    this.#idle = [...readers];
    this.#tenantWaitingMax = tenantWaitingMax ?? Number.POSITIVE_INFINITY;
    this.#queue = new FairQueue({
      waitingMax: shared.waitingMax,
      tenantWaitingMax: shared.shareWaitingMax,
      tenantTakenMax: shared.shareReadersMax,
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

  /** Starts a reader before a task needs it. Resolves when it has started, or could not. */
  async warm(index = 0): Promise<void> {
    await this.#readers[index]?.warm();
  }

  /**
   * @param share whose turns the task takes: its Tenant's, or those of several
   * @throws the file's refusal, extraction_timeout, extraction_failed, overloaded, interrupted, or the signal's reason.
   */
  run(tenant: string, task: ReaderTask, share = tenant): Promise<DoneReply> {
    if (this.#closed) return Promise.reject(stopping());
    if (task.signal?.aborted) return Promise.reject(task.signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (!this.#queue.remove(share, waiting)) return;
        this.#leave(tenant);
        reject(task.signal?.reason);
      };
      const waiting: Waiting = { tenant, share, task, resolve, reject, onAbort };
      const count = this.#waiting.get(tenant) ?? 0;
      if (count >= this.#tenantWaitingMax || !this.#queue.push(share, waiting)) return reject(full());
      this.#waiting.set(tenant, count + 1);
      task.signal?.addEventListener('abort', onAbort, { once: true });
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
    while (this.#idle.length > 0) {
      const waiting = this.#queue.take();
      if (!waiting) return;
      this.#start(this.#idle.shift()!, waiting);
    }
  }

  /** A task of the Tenant waits no longer. */
  #leave(tenant: string): void {
    const count = this.#waiting.get(tenant)! - 1;
    if (count > 0) this.#waiting.set(tenant, count);
    else this.#waiting.delete(tenant);
  }

  #start(reader: WarmReader, { tenant, share, task, resolve, reject, onAbort }: Waiting): void {
    this.#leave(tenant);
    task.signal?.removeEventListener('abort', onAbort);
    reader
      .perform(task)
      .then(resolve, reject)
      .finally(() => {
        this.#queue.done(share);
        // In front: a reader whose process has started goes before one that was never needed.
        this.#idle.unshift(reader);
        this.#startNext();
      });
  }
}

function full(): FarthingError {
  return new FarthingError('overloaded', 'Too many files wait to be read. Try again later.', {
    retryAfterS: 2,
  });
}
