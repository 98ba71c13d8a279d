import { createHash } from 'node:crypto';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import type { AtomicAmount } from '@farthing/protocol/money';
import { type Payment, paymentKey, type Terms } from '../payment.ts';
import type { SignatureCheck } from '../signature.ts';
import type { Store, Table } from '../store.ts';
import type { Facilitator, FacilitatorHealth, Settlement, Verification } from './facilitator.ts';

/** Every transaction hash of the local facilitator begins so: no chain has a transaction like it. */
export const LOCAL_TRANSACTION_PREFIX = '0x10ca100000000000';
/** Its name in the ledger. */
export const LOCAL = 'local';
const NOTE = {
  moneyMoved: false,
  note: 'Local facilitator: play money. No money moved and no chain knows this transaction.',
};

interface Transfer {
  readonly from: Address;
  readonly to: Address;
  readonly value: string;
  readonly transaction: string;
  readonly time: number;
}

/**
 * The embedded facilitator for development and tests: checks real signatures and keeps a ledger of play money. Each wallet
 * it has not seen starts with the same balance. Settling is one durable transaction, idempotent by (payer, nonce).
 */
export class LocalFacilitator implements Facilitator {
  readonly outcomeIsKnowable = true;
  readonly verifiesContractWallets = false;
  readonly #store: Store;
  readonly #balances: Table<string>;
  readonly #transfers: Table<Transfer>;
  readonly #clock: Clock;
  readonly #startBalance: AtomicAmount;
  readonly #signatures: SignatureCheck;

  constructor(parts: {
    store: Store;
    clock: Clock;
    signatures: SignatureCheck;
    startBalance: AtomicAmount;
  }) {
    this.#store = parts.store;
    this.#balances = parts.store.table('local_balances');
    this.#transfers = parts.store.table('local_transfers');
    this.#clock = parts.clock;
    this.#startBalance = parts.startBalance;
    this.#signatures = parts.signatures;
  }

  async verify(payment: Payment, terms: Terms): Promise<Verification> {
    const verdict = this.#signatures.verdictOn(payment);
    if (verdict === 'needsFacilitator') return { valid: false, reason: 'unsupported_signature' };
    if (verdict === 'invalid') return { valid: false, reason: 'invalid_signature' };
    const fault = this.#fault(payment, terms);
    return fault === undefined ? { valid: true } : { valid: false, reason: fault };
  }

  settle(payment: Payment, terms: Terms): Promise<Settlement> {
    if (this.#signatures.verdictOn(payment) !== 'valid')
      return Promise.resolve({ kind: 'refused', reason: 'invalid_signature' });
    return this.#store.transaction(() => this.#move(payment, terms));
  }

  async reconcile(payment: Payment): Promise<Settlement | { kind: 'absent' }> {
    const transfer = this.#transfers.get(transferKey(payment));
    return transfer && isSame(transfer, payment) ? settledBy(transfer) : { kind: 'absent' };
  }

  async connect(): Promise<void> {}

  health(): FacilitatorHealth {
    return { kind: 'local', movesMoney: false };
  }

  /** Play money of a wallet, in millionths of a dollar. */
  balance(address: Address): AtomicAmount {
    const balance = this.#balances.get(address);
    return balance === undefined ? this.#startBalance : BigInt(balance);
  }

  /** Every transfer ever made, in no particular order: the facilitator's side of the ledger. */
  *transfers(): Iterable<{
    from: Address;
    to: Address;
    value: AtomicAmount;
    transaction: string;
    time: number;
  }> {
    for (const { value: transfer } of this.#transfers.range())
      yield { ...transfer, value: BigInt(transfer.value) };
  }

  #move(payment: Payment, terms: Terms): Settlement {
    const key = transferKey(payment);
    const earlier = this.#transfers.get(key);
    if (earlier && isSame(earlier, payment)) return settledBy(earlier);
    const fault = this.#fault(payment, terms);
    if (fault !== undefined) return { kind: 'refused', reason: fault };
    const transfer: Transfer = {
      from: payment.payer,
      to: payment.payTo,
      value: payment.value.toString(),
      transaction: transactionOf(payment),
      time: this.#clock.now(),
    };
    this.#transfers.put(key, transfer);
    this.#balances.put(payment.payer, (this.balance(payment.payer) - payment.value).toString());
    this.#balances.put(payment.payTo, (this.#received(payment.payTo) + payment.value).toString());
    return settledBy(transfer);
  }

  #fault(payment: Payment, terms: Terms): string | undefined {
    const now = BigInt(Math.floor(this.#clock.now() / 1000));
    if (this.#transfers.get(transferKey(payment))) return 'authorization_already_used';
    if (payment.value !== terms.amount) return 'amount_mismatch';
    if (payment.validBefore <= now) return 'authorization_expired';
    if (payment.validAfter > now) return 'authorization_not_yet_valid';
    return this.balance(payment.payer) < payment.value ? 'insufficient_funds' : undefined;
  }

  /** A recipient starts with nothing: its balance is what it was paid. */
  #received(address: Address): AtomicAmount {
    return BigInt(this.#balances.get(address) ?? '0');
  }
}

/** A nonce belongs to its payer, and is used once (EIP-3009); play money is the same in every coin. */
function transferKey({ payer, nonce }: Payment): string {
  return `${payer}/${nonce}`;
}

function isSame({ to, value, transaction }: Transfer, payment: Payment): boolean {
  return to === payment.payTo && value === payment.value.toString() && transaction === transactionOf(payment);
}

function settledBy({ transaction }: Transfer): Settlement {
  return { kind: 'settled', transaction, extra: NOTE, by: { facilitator: LOCAL } };
}

function transactionOf(payment: Payment): string {
  const digest = createHash('sha256').update(paymentKey(payment)).digest('hex');
  return LOCAL_TRANSACTION_PREFIX + digest.slice(0, 66 - LOCAL_TRANSACTION_PREFIX.length);
}
