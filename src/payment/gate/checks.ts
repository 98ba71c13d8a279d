import type { Address } from '../../domain/payment.ts';
import { type Asset, isNetworkOf } from '../asset.ts';
import { PaymentRefused } from '../fault.ts';
import type { Payment } from '../payment.ts';
import type { SignatureCheck, SignatureVerdict } from '../signature.ts';

/** Facilitators refuse a payment that ends sooner: the transaction would not be mined in time. */
export const SECONDS_LEFT_MIN = 6n;
/** How far past the asked timeout an authorization may reach. */
const OVERTIME_SECONDS_MAX = 3600n;

export interface CheckTerms {
  readonly asset: Asset;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
}

/**
 * What can be said about a payment from itself alone: scheme, network, asset, recipient, signature. Cheap ones first.
 * @throws PaymentRefused
 */
export function checkGenuine(
  payment: Payment,
  terms: CheckTerms,
  signatures: SignatureCheck,
): SignatureVerdict {
  const { asset, payTo } = terms;
  if (payment.scheme !== 'exact') throw new PaymentRefused('unsupported_scheme');
  if (!isNetworkOf(asset, payment.networkName)) throw new PaymentRefused('wrong_network');
  const { accepted } = payment;
  if (accepted?.asset !== undefined && accepted.asset.toLowerCase() !== asset.address)
    throw new PaymentRefused('wrong_asset');
  if (accepted?.payTo !== undefined && accepted.payTo.toLowerCase() !== payTo)
    throw new PaymentRefused('wrong_recipient');
  if (payment.payTo !== payTo) throw new PaymentRefused('wrong_recipient');
  const verdict = signatures.judge(payment);
  if (verdict === 'invalid') throw new PaymentRefused('invalid_signature');
  return verdict;
}

/** Exactly the asked amount: less buys nothing, and more would be a gift that nobody asked for. */
export function checkAmount(payment: Payment, amount: bigint): void {
  const accepted = payment.accepted?.amount;
  if (payment.value !== amount || (accepted !== undefined && accepted !== amount.toString())) {
    throw new PaymentRefused('amount_mismatch');
  }
}

/** The time window, as the token contract will see it: `validAfter < now < validBefore`. */
export function checkWindow(payment: Payment, { maxTimeoutSeconds }: CheckTerms, nowMs: number): void {
  const now = BigInt(Math.floor(nowMs / 1000));
  if (payment.validBefore < now + SECONDS_LEFT_MIN) throw new PaymentRefused('authorization_expired');
  if (payment.validAfter > now) throw new PaymentRefused('authorization_not_yet_valid');
  if (payment.validBefore > now + BigInt(maxTimeoutSeconds) + OVERTIME_SECONDS_MAX) {
    throw new PaymentRefused('authorization_valid_too_long');
  }
}
