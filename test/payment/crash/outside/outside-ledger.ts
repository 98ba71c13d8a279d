import { createHash } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { native } from '../../../../src/native/index.ts';
import type {
  Facilitator,
  Settlement,
  Verification,
} from '../../../../src/payment/facilitator/facilitator.ts';
import type { Payment, Terms } from '../../../../src/payment/payment.ts';
import { SignatureCheck } from '../../../../src/payment/signature.ts';
import type { Random } from '../../../rig/random.ts';

/** Stages of a payment that the facilitator sees: the boundaries of the server's stages. */
export type Stage = 'verify_in' | 'verify_out' | 'settle_in' | 'moved' | 'settle_out';

/** The facilitator's own ledger, outside of the server: one transfer a nonce, as the token contract has it. */
export class OutsideLedger implements Facilitator {
  readonly outcomeIsKnowable = false;
  readonly verifiesContractWallets = false;
  /** nonce → amount moved. */
  readonly transfers = new Map<string, bigint>();
  /** nonce → the signed fields of the moved payment. */
  readonly moved = new Map<string, Payment>();
  onStage: (stage: Stage) => void = () => {};
  readonly #signatures = new SignatureCheck(native);
  readonly #random: Random;
  readonly #repetition: 'told' | 'refused';
  readonly #delayMsMax: number;

  /** `repetition`: whether a settlement that is sent again is told the first one's outcome, or that the nonce is gone. */
  constructor(parts: { random: Random; repetition: 'told' | 'refused'; delayMsMax: number }) {
    this.#random = parts.random;
    this.#repetition = parts.repetition;
    this.#delayMsMax = parts.delayMsMax;
  }

  async verify(payment: Payment, terms: Terms): Promise<Verification> {
    this.onStage('verify_in');
    await this.#think();
    const reason = this.#fault(payment, terms);
    this.onStage('verify_out');
    return reason === undefined ? { valid: true } : { valid: false, reason };
  }

  async settle(payment: Payment, terms: Terms): Promise<Settlement> {
    this.onStage('settle_in');
    await this.#think();
    const settled: Settlement = { kind: 'settled', transaction: transactionOf(payment.nonce) };
    if (this.transfers.has(payment.nonce) && this.#repetition === 'told') return settled;
    const reason = this.#fault(payment, terms);
    if (reason !== undefined) return { kind: 'refused', reason };
    this.transfers.set(payment.nonce, payment.value);
    this.moved.set(payment.nonce, payment);
    this.onStage('moved');
    await this.#think();
    this.onStage('settle_out');
    return settled;
  }

  reconcile(payment: Payment, terms: Terms): Promise<Settlement> {
    return this.settle(payment, terms);
  }

  async connect(): Promise<void> {}

  health() {
    return { kind: 'remote', movesMoney: false } as const;
  }

  #fault(payment: Payment, terms: Terms): string | undefined {
    if (this.transfers.has(payment.nonce)) return 'invalid_exact_evm_nonce_already_used';
    if (this.#signatures.verdictOn(payment) !== 'valid') return 'invalid_exact_evm_signature';
    if (payment.value !== terms.amount) return 'invalid_exact_evm_value';
    return Number(payment.validBefore) * 1000 <= Date.now() ? 'invalid_exact_evm_valid_before' : undefined;
  }

  #think(): Promise<void> {
    return after(this.#random.below(this.#delayMsMax + 1));
  }
}

/** Hash of the transaction that moved it. */
export function transactionOf(nonce: string): string {
  return `0x${createHash('sha256').update(nonce).digest('hex')}`;
}
