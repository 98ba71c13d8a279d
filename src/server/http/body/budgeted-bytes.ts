import { Holding, type Owner, type SharedBytes, type Shares } from './shared-bytes.ts';

/** A request's holding in one budget, in the part that its proof allows. */
export class BudgetedBytes {
  readonly #shares: Shares;
  readonly #refuse: (bytes: number) => void;
  #pool: SharedBytes;
  #holding: Holding;
  #ended = false;

  /** @param refuse called when it exceeds its share, with its bytes, which no longer count: move or end it */
  constructor(shares: Shares, refuse: (bytes: number) => void) {
    this.#shares = shares;
    this.#refuse = refuse;
    this.#pool = shares.unproved;
    this.#holding = this.#held(this);
  }

  add(bytes: number): void {
    if (!this.#ended) this.#pool.add(this.#holding, bytes);
  }

  remove(bytes: number): void {
    if (!this.#ended) this.#pool.remove(this.#holding, Math.min(bytes, this.#holding.bytes));
  }

  /** The body is complete, so it is not refused any more. */
  keep(): void {
    this.#holding.mayBeRefused = false;
  }

  /** Counts from now on with what the owner has in the proved part. */
  move(owner: Owner, bytes = this.#holding.bytes): void {
    const { mayBeRefused } = this.#holding;
    this.#pool.remove(this.#holding);
    this.#pool = this.#shares.proved;
    this.#holding = this.#held(owner);
    this.#holding.mayBeRefused = mayBeRefused;
    if (bytes > 0) this.add(bytes);
  }

  end(): void {
    this.#ended = true;
    this.#pool.remove(this.#holding);
  }

  #held(owner: Owner): Holding {
    return new Holding(owner, this.#refuse);
  }
}
