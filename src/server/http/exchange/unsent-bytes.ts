import { Holding, type Shares } from '../body/shared-bytes.ts';

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
