/** Why a payment is refused: the `error` of a 402. Reasons of a facilitator that we have no word for pass through as they are. */
export type PaymentFault =
  | 'payment_required'
  | 'payment_malformed'
  | 'unsupported_version'
  | 'unsupported_scheme'
  | 'wrong_network'
  | 'wrong_asset'
  | 'wrong_recipient'
  | 'amount_mismatch'
  | 'authorization_expired'
  | 'authorization_not_yet_valid'
  | 'authorization_valid_too_long'
  | 'authorization_already_used'
  | 'invalid_signature'
  | 'unsupported_signature'
  | 'insufficient_funds'
  | 'settlement_failed';

/** A payment that does not count: answered 402, nothing is charged. Never leaves this folder. */
export class PaymentRefused extends Error {
  readonly fault: string;
  /** True when the facilitator refused to settle after the work was done: the receipt says so. */
  readonly atSettlement: boolean;

  constructor(fault: PaymentFault | (string & {}), { atSettlement = false } = {}) {
    super(fault);
    this.fault = fault;
    this.atSettlement = atSettlement;
  }
}

export function alreadyUsed(): PaymentRefused {
  return new PaymentRefused('authorization_already_used');
}
