import { FairQueue } from '@farthing/queues/fair-queue';
import { Holding, type Shares } from '../body/shared-bytes.ts';

/** Pieces of 64 KiB: the kernel copies half a MiB in half a millisecond. */
const PIECES_PER_TURN = 8;

/** Bounds the pieces of stored files that are written in one turn of the event loop. Owners take turns. */
export class OutgoingPieces {
  readonly #waiting = new FairQueue<() => void>();
  #begun = 0;
  #isScheduled = false;

  /** Resolves when the owner may read and write a piece. The limit of downloads bounds the waiting calls. */
  next(owner: string): Promise<void> {
    this.#endLater();
    if (this.#begun >= PIECES_PER_TURN || this.#waiting.size > 0)
      return new Promise((go) => void this.#waiting.push(owner, go));
    this.#begun += 1;
    return Promise.resolve();
  }

  #endLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#end());
  }

  #end(): void {
    this.#isScheduled = false;
    this.#begun = Math.min(this.#waiting.size, PIECES_PER_TURN);
    if (this.#begun > 0) this.#endLater();
    for (let count = 0; count < this.#begun; count++) this.#waiting.take()?.();
  }
}

/**
 * Memory of answers that their clients have not read yet. Above its bound, the largest holder's connection is closed. Unpaid answers
 * have a smaller bound of their own. Bytes that several answers share count once.
 */
export class UnsentBytes {
  readonly #shares: Shares;
  readonly #shared = new Map<Uint8Array, number>();

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  /** Bytes that wait now. */
  get bytes(): number {
    return this.#shares.unproved.bytes + this.#shares.proved.bytes;
  }

  /**
   * Counts an answer that waits.
   * @param owner the answer's owner; undefined: unpaid
   * @param giveUp closes its connection; may be called before `hold` returns
   * @returns a function to call once the answer no longer waits
   */
  hold(owner: string | undefined, body: Uint8Array, giveUp: () => void): () => void {
    const pool = owner === undefined ? this.#shares.unproved : this.#shares.proved;
    const holding = new Holding(owner ?? body, giveUp);
    const others = this.#shared.get(body) ?? 0;
    this.#shared.set(body, others + 1);
    if (others === 0) pool.add(holding, body.byteLength);
    return () => {
      pool.remove(holding);
      const left = this.#shared.get(body)! - 1;
      if (left > 0) this.#shared.set(body, left);
      else this.#shared.delete(body);
    };
  }
}
