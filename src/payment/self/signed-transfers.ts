import type { Address } from '@farthing/protocol/address';
import { ASSETS } from '../asset.ts';
import { assetOfKey, type Hex, type Payment, paymentKey, type SentPayment } from '../payment.ts';
import type { Store, Table } from '../store.ts';
import type { Fees } from './fees.ts';
import type { Call } from './transfer-call.ts';

/** One signed transaction. */
export interface Attempt extends Fees {
  readonly hash: Hex;
  /** Signed transaction as it is sent. */
  readonly raw: Hex;
}

/** A payment for which transactions are signed: at most one of them can be mined, since they have one account nonce. */
export interface SignedTransfer {
  readonly payment: Payment;
  /** The wallet that pays the gas. */
  readonly from: Address;
  readonly call: Call;
  /** Account nonce of that wallet. */
  readonly accountNonce: number;
  /** Most gas of each. */
  readonly gas: bigint;
  /** Oldest first; each replaces the one before. */
  readonly attempts: readonly Attempt[];
}

interface StoredTransfer extends Omit<SignedTransfer, 'payment'> {
  /** Its coin is named by the row's key. */
  readonly payment: SentPayment;
}

/** Durable list of transfers that this server has signed and not yet seen final: nothing is sent that is not here. */
export class SignedTransfers {
  readonly #rows: Table<StoredTransfer>;

  constructor(store: Store) {
    this.#rows = store.table('signed_transfers');
  }

  /** Durable once it resolves. */
  async write({ payment: { asset, ...payment }, ...signed }: SignedTransfer): Promise<void> {
    await this.#rows.put(paymentKey({ ...payment, asset }), { ...signed, payment });
  }

  async remove(payment: Payment): Promise<void> {
    await this.#rows.remove(paymentKey(payment));
  }

  all(): SignedTransfer[] {
    return [...this.#rows.range()].map(({ key, value }) => ({
      ...value,
      payment: { ...value.payment, asset: assetOfKey(key, ASSETS) },
    }));
  }
}
