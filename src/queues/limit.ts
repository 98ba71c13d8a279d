import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

export interface LimitOptions extends Omit<FairQueueOptions<object>, 'isCancelled' | 'newestFirst'> {
  readonly insideMax: NonNullable<FairQueueOptions<object>['insideMax']>;
  /** Work that has waited for longer is refused. Absent: it waits for any time. */
  readonly waitMsMax?: number;
}

export interface EnterOptions {
  /** Expected cost. */
  readonly cost?: number | undefined;
  /** Aborted: work that waits leaves. Work inside ends by itself. */
  readonly signal?: AbortSignal;
  /** The error of work that left. Absent: the signal's reason. */
  readonly left?: () => unknown;
}

/** Work that has entered. It may set what it has cost. */
export interface Entered {
  cost?: number;
}

interface Entry extends Entered {
  isInside: boolean;
  begin?: () => void;
  refuse?: (error: unknown) => void;
}

/** Bounds the work that is inside at a time. More waits in a fair queue, or is refused. */
export class Limit {
  readonly #queue: FairQueue<Entry>;
  readonly #waitMsMax: number | undefined;
  readonly #refusal: () => Error;

  /** @param refusal the error where the queue is full, or the wait too long */
  constructor(options: LimitOptions, refusal: () => Error) {
    this.#queue = new FairQueue(options);
    this.#waitMsMax = options.waitMsMax;
    this.#refusal = refusal;
  }

  get inside(): number {
    return this.#queue.inside;
  }

  /**
   * Runs the work within the limit. If there is room, it starts at once, with no extra promise or timer.
   * @throws the refusal, the error of who left, and whatever the work throws
   */
  async run<T>(
    owner: string,
    work: (entered: Entered) => Promise<T>,
    options: EnterOptions = {},
  ): Promise<T> {
    if (options.signal?.aborted) throw leftOf(options);
    const entry: Entry = { isInside: false };
    if (!this.#queue.enter(owner, entry, options.cost)) throw this.#refusal();
    this.#admit();
    if (!entry.isInside) await this.#wait(entry, options);
    try {
      return await work(entry);
    } finally {
      this.#queue.leave(entry, entry.cost);
      this.#admit();
    }
  }

  /** Refuses all that wait. */
  refuseWaiting(error: Error): void {
    for (const { refuse } of this.#queue.drain()) refuse?.(error);
  }

  async #wait(entry: Entry, options: EnterOptions): Promise<void> {
    const { signal } = options;
    const leave = (error: unknown) => this.#queue.leave(entry) && entry.refuse!(error);
    const onAbort = () => leave(leftOf(options));
    const timer =
      this.#waitMsMax === undefined ? undefined : setTimeout(() => leave(this.#refusal()), this.#waitMsMax);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await new Promise<void>((begin, refuse) => Object.assign(entry, { begin, refuse }));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #admit(): void {
    for (let next = this.#queue.take(); next; next = this.#queue.take()) {
      next.isInside = true;
      next.begin?.();
    }
  }
}

const leftOf = ({ signal, left }: EnterOptions): unknown => (left ? left() : signal!.reason);
