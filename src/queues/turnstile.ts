import { FairQueue } from './fair-queue.ts';

export interface TurnstileLimits {
  /** That may be inside at a time (read whenever somebody may enter), and of those from one owner. */
  readonly insideMax: number;
  readonly ownerInsideMax: number;
  /** That may wait at a time: of one owner as many as there is room for beside them. */
  readonly waitingMax: number;
  readonly waitMsMax: number;
}

interface Waiting {
  readonly enter: () => void;
}

/** Lets a bounded number of calls through at a time, by owners' turns. */
export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #waiting: FairQueue<Waiting>;
  readonly #refusal: () => Error;
  #inside = 0;

  /** `refusal`: the error when it is full, or the wait too long. */
  constructor(limits: TurnstileLimits, refusal: () => Error) {
    const { waitingMax, ownerInsideMax } = limits;
    this.#limits = limits;
    this.#refusal = refusal;
    this.#waiting = new FairQueue({ waitingMax, ownerTakenMax: ownerInsideMax });
  }

  /**
   * Does the work once it is the owner's turn. A client that leaves gives up its place in the line.
   * @throws the refusal, `left` when the client has left before its turn, and whatever the work throws
   */
  async pass<T>(
    owner: string,
    work: () => Promise<T>,
    { signal, left }: { signal: AbortSignal; left: () => Error },
  ): Promise<T> {
    const entry = await this.#turn(owner, signal, left);
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#waiting.done(entry);
      this.#admit();
    }
  }

  #turn(owner: string, signal: AbortSignal, left: () => Error): Promise<Waiting> {
    return new Promise<Waiting>((resolve, reject) => {
      if (signal.aborted) return reject(left());
      const over = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      };
      const entry: Waiting = {
        enter: () => {
          over();
          resolve(entry);
        },
      };
      const give = (error: Error): void => {
        this.#waiting.remove(owner, entry);
        over();
        reject(error);
      };
      const leave = () => give(left());
      if (!this.#waiting.push(owner, entry)) return reject(this.#refusal());
      const timer = setTimeout(() => give(this.#refusal()), this.#limits.waitMsMax);
      signal.addEventListener('abort', leave, { once: true });
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#inside < this.#limits.insideMax) {
      const next = this.#waiting.take();
      if (!next) return;
      this.#inside += 1;
      next.enter();
    }
  }
}
