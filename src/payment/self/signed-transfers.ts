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

/** A payment in a transaction, and the most gas it would take alone in one. */
export interface Part {
  readonly payment: Payment;
  readonly gas: bigint;
}

/** Payments for which transactions are signed: at most one of them can be mined, since they have one account nonce. */
export interface SignedTransfer {
  /** Its row's key. */
  readonly id: string;
  /** Those whose outcome is not a refusal yet, in the order of the transaction's calls. */
  readonly parts: readonly Part[];
  /** Payments that the transaction makes: with more than one it succeeds although some fail. */
  readonly calls: number;
  /** Most wei for a unit of gas at which it does not cost more than it brings in. */
  readonly feeMax?: bigint;
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

interface StoredPart extends Omit<Part, 'payment'> {
  /** Its coin is named by the row's key. */
  readonly payment: SentPayment;
}

interface StoredTransfer extends Omit<SignedTransfer, 'id' | 'parts' | 'calls'> {
  readonly parts?: readonly StoredPart[];
  readonly calls?: number;
  /** Of rows from before payments were put together: the only one. */
  readonly payment?: SentPayment;
}

/** Of a transaction's row, by its payments. */
export function rowId(parts: readonly Part[]): string {
  const first = paymentKey(parts[0]!.payment);
  return parts.length === 1 ? first : `${first}/together`;
}

/** Durable list of transfers that this server has signed and not yet seen final: nothing is sent that is not here. */
export class SignedTransfers {
  readonly #rows: Table<StoredTransfer>;

  constructor(store: Store) {
    this.#rows = store.table('signed_transfers');
  }

  /** Durable once it resolves. */
  async write({ id, parts, ...signed }: SignedTransfer): Promise<void> {
    const stored = parts.map(({ payment: { asset: _, ...payment }, gas }) => ({ payment, gas }));
    await this.#rows.put(id, { ...signed, parts: stored });
  }

  async remove(id: string): Promise<void> {
    await this.#rows.remove(id);
  }

  /** Those of one payment first: they supersede one that was signed together with others. */
  all(): SignedTransfer[] {
    const rows = [...this.#rows.range()].map(({ key, value: { payment, parts, calls = 1, ...signed } }) => {
      const asset = assetOfKey(key, ASSETS);
      const stored = parts ?? [{ payment: payment!, gas: signed.gas }];
      return {
        ...signed,
        id: key,
        calls,
        parts: stored.map((part) => ({ ...part, payment: { ...part.payment, asset } })),
      };
    });
    return rows.sort((a, b) => a.calls - b.calls);
  }
}
