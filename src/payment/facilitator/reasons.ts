import type { PaymentFault } from '../fault.ts';

/** Parts of facilitators' reasons (x402 specification, `@x402/evm`, CDP) and our word for each; the first that fits. */
const WORDS: readonly (readonly [RegExp, PaymentFault])[] = [
  [/insufficient_(funds|balance)/, 'insufficient_funds'],
  [
    /nonce_(already_)?used|authorization_(already_)?used|nonce_consumed|authorization is used/,
    'authorization_already_used',
  ],
  [/valid_before|expired/, 'authorization_expired'],
  [/valid_after|not_yet_valid/, 'authorization_not_yet_valid'],
  [/unsupported_signature/, 'unsupported_signature'],
  [/signature/, 'invalid_signature'],
  [/recipient|pay_?to/, 'wrong_recipient'],
  [/value|amount/, 'amount_mismatch'],
  [/network/, 'wrong_network'],
  [/scheme/, 'unsupported_scheme'],
];

/** Reasons of the scheme of channels are what its clients know them by. */
const VERBATIM = /^invalid_batch_settlement_evm_[a-z_]{1,60}$/;

/** A facilitator's reason as the `error` of a 402; reasons we don't know pass through when they are plain words. */
export function faultOf(reason: string): string {
  const lower = reason.toLowerCase();
  if (VERBATIM.test(lower)) return lower;
  const known = WORDS.find(([pattern]) => pattern.test(lower));
  if (known) return known[1];
  return /^[a-z0-9_]{1,80}$/.test(lower) ? lower : 'settlement_failed';
}

/** Reasons that speak of the facilitator's own trouble with a verification, not of the payment: never an answer 402. */
export function isTrouble(reason: string): boolean {
  return /unexpected|internal|timeout|timed_out|unavailable|rpc|rate_limit|pending|invalid_transaction_state/.test(
    reason.toLowerCase(),
  );
}

/**
 * The reasons of a settlement's refusal that are decided before anything is sent to the chain, to the letter: other words may
 * come after the transfer was broadcast, as the message of whatever failed then does.
 */
const REFUSED_BEFORE_SENDING = new Set([
  // x402 specification, section "Error handling", and X402SettleErrorReason of the CDP.
  'insufficient_funds',
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_scheme',
  'unsupported_scheme',
  'invalid_x402_version',
  'invalid_exact_evm_payload_authorization_from_address_kyt',
  'invalid_exact_evm_payload_authorization_to_address_kyt',
  'invalid_exact_evm_payload_authorization_typed_data_message',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_too_low',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_payload_signature_address',
  // `@x402/evm` 2.27: what `verify` answers, which `settle` asks first, and what the estimate of the gas is translated to.
  'asset_not_deployed_contract',
  'eip6492_factory_not_allowed',
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_eip3009_not_supported',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_transaction_simulation_failed',
  'smart_wallet_deployment_failed',
  // CDP, of the estimate that precedes every transaction.
  'unable to estimate gas',
  'unable_to_estimate_gas',
  'unsupported_payload_type',
]);

/** Reasons of a transaction that is in a block and was reverted there, when its hash comes along: `@x402/evm` 2.27, CDP. */
const REVERTED = new Set(['invalid_exact_evm_transaction_failed', 'settle_exact_failed_onchain']);

/** Why a settlement did not happen, as its facilitator tells it. */
export interface SettleFailure {
  readonly reason: string;
  /** Free text. */
  readonly message: string;
  /** Hash of the transaction; empty when it tells of none. */
  readonly transaction: string;
}

/** True when the facilitator's words leave no doubt that this attempt moved nothing and will not. */
export function isCertain({ reason, message, transaction }: SettleFailure): boolean {
  if (transaction === '') return REFUSED_BEFORE_SENDING.has(reason) || saysUsed(reason);
  return REVERTED.has(reason) && !/pending/i.test(message);
}

/**
 * A refusal of a transfer's simulation: it often comes of a node that is behind, as CDP's "unable to estimate gas" does, and the next
 * attempt succeeds.
 */
export function mayPass(reason: string): boolean {
  return /simulation_failed|unable.to.estimate.gas/i.test(reason);
}

/** The chain says that the nonce is used: it was settled before, by this attempt's lost predecessor or by another sender. */
export function saysUsed(reason: string): boolean {
  return faultOf(reason) === 'authorization_already_used';
}
