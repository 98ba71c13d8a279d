import type { Payment } from '../payment.ts';
import type { Fees } from './fees.ts';
import type { GasState, Head } from './gas-state.ts';
import type { Outcome } from './outcome.ts';
import type { Ready, Transactions } from './transactions.ts';

/** A settlement would cost more than it brings in: nothing was sent. */
export class TooDear extends Error {}

/** A payment that can be signed for, and what its settlement may cost. */
export interface Priced extends Ready {
  /** Wei of gas that it may take at most. */
  readonly weiMax: bigint;
  /** Gas that it takes alone in its transaction. */
  readonly units: bigint;
}

interface Waiting {
  readonly priced: Priced;
  readonly sent: PromiseWithResolvers<{ readonly outcome: Promise<Outcome> }>;
}

export interface TogetherDeps {
  readonly transactions: Transactions;
  readonly gas: GasState;
  /** Most payments of one transaction. */
  readonly max: number;
  /** How long a payment waits for others. */
  readonly waitMs: number;
}

/**
 * Puts payments into transactions. While one is on its way to a block the next payments gather, up to a second: a crowd shares the cost of a
 * transaction, and who comes alone waits for nobody.
 */
export class Together {
  readonly #deps: TogetherDeps;
  #gathered: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Transactions that are being signed. */
  #signing = 0;

  constructor(deps: TogetherDeps) {
    this.#deps = deps;
  }

  /** Units of the coin that this payer's gathered payments will move. */
  committed({ payer }: Payment): bigint {
    return this.#gathered
      .filter(({ priced: { payment } }) => payment.payer === payer)
      .reduce((sum, { priced }) => sum + priced.payment.value, 0n);
  }

  /**
   * Resolves once the payment's transaction is signed and written down. @param mayShare it costs the others nothing if it fails
   * @throws TooDear, Error: nothing was sent
   */
  async add(priced: Priced, mayShare: boolean): Promise<{ readonly outcome: Promise<Outcome> }> {
    const { transactions, max, waitMs } = this.#deps;
    const sent = Promise.withResolvers<{ readonly outcome: Promise<Outcome> }>();
    const waiting = { priced, sent };
    if (!mayShare || max === 1 || transactions.isDisturbed) {
      void this.#send([waiting]);
      return sent.promise;
    }
    this.#gathered.push(waiting);
    const isIdle = !this.#timer && this.#signing === 0 && transactions.waiting === 0;
    if (isIdle || this.#gathered.length >= max) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs);
    return sent.promise;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = [];
    void this.#send(gathered);
  }

  async #send(waiting: readonly Waiting[]): Promise<void> {
    this.#signing += 1;
    try {
      const { gas, transactions } = this.#deps;
      const head = await gas.recent();
      const total = (of: (priced: Priced) => bigint) =>
        waiting.reduce((sum, { priced }) => sum + of(priced), 0n);
      const feeMax = total(({ weiMax }) => weiMax) / total(({ units }) => units);
      const fees = feesOf(gas, head, feeMax);
      // As many as the wallet's money is enough for: a node takes no other transaction.
      const needed = fees.maxFeePerGas * total((priced) => priced.gas);
      if (waiting.length > 1 && head.balance < needed) {
        for (const each of waiting) await this.#send([each]);
        return;
      }
      const outcomes = await transactions.send(
        waiting.map(({ priced }) => priced),
        { fees, feeMax, head },
      );
      for (const [at, { sent }] of waiting.entries()) sent.resolve({ outcome: outcomes[at]! });
    } catch (error) {
      for (const { sent } of waiting) sent.reject(error);
    } finally {
      this.#signing -= 1;
    }
  }
}

function feesOf(gas: GasState, head: Head, feeMax: bigint): Fees {
  const fees = head.baseFee + head.tip <= feeMax ? gas.fees(head, feeMax) : undefined;
  if (!fees) throw new TooDear('its settlement would cost more than it brings in');
  return fees;
}
