import type { PaymentFault } from './fault.ts';

/** Parts of facilitators' reasons (x402 specification, `@x402/evm`, CDP) and our word for each; the first that fits. */
const WORDS: readonly (readonly [RegExp, PaymentFault])[] = [
  [/insufficient_(funds|balance)/, 'insufficient_funds'],
  [/nonce_(already_)?used|authorization_(already_)?used|nonce_consumed/, 'authorization_already_used'],
  [/valid_before|expired/, 'authorization_expired'],
  [/valid_after|not_yet_valid/, 'authorization_not_yet_valid'],
  [/unsupported_signature/, 'unsupported_signature'],
  [/signature/, 'invalid_signature'],
  [/recipient|pay_?to/, 'wrong_recipient'],
  [/value|amount/, 'amount_mismatch'],
  [/network/, 'wrong_network'],
  [/scheme/, 'unsupported_scheme'],
];

/** A facilitator's reason as the `error` of a 402; reasons we don't know pass through when they are plain words. */
export function faultOf(reason: string): string {
  const lower = reason.toLowerCase();
  const known = WORDS.find(([pattern]) => pattern.test(lower));
  if (known) return known[1];
  return /^[a-z0-9_]{1,80}$/.test(lower) ? lower : 'settlement_failed';
}

/** Reasons that speak of the facilitator's own trouble, not of the payment: never an answer 402. */
export function isTrouble(reason: string): boolean {
  return /unexpected|internal|timeout|timed_out|unavailable|rpc|rate_limit|pending|invalid_transaction_state/.test(
    reason.toLowerCase(),
  );
}

/** The chain says that the nonce is gone: it was settled before, by this attempt's lost predecessor or by somebody else. */
export function saysUsed(reason: string): boolean {
  return faultOf(reason) === 'authorization_already_used';
}
