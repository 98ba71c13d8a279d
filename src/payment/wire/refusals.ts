import type { Asset } from '../asset.ts';
import type { PaymentFault } from '../fault.ts';

/** Help for each fault of a payment: what is wrong, and what to do. */
const REFUSALS: Readonly<Record<Exclude<PaymentFault, 'payment_required'>, string>> = {
  payment_malformed:
    'The payment header is not base64 of JSON with an authorization and its signature: have an x402 client write it.',
  unsupported_version: 'The payment names no x402Version that is known here: send version 2.',
  unsupported_scheme: 'The payment is not of the scheme "exact": sign one of accepts.',
  wrong_network: 'The payment is for a network that is not taken here: sign one of accepts.',
  wrong_asset: 'The payment is in a coin that is not taken for this: sign one of accepts.',
  wrong_recipient: 'The payment goes to another address than payTo: sign one of accepts.',
  amount_mismatch:
    'The payment is not of exactly the price, which may depend on the body: sign the amount in accepts.',
  authorization_expired:
    'validBefore of the authorization is over, or almost: sign a fresh one. Is your clock right?',
  authorization_not_yet_valid:
    'validAfter of the authorization is still to come: sign one with 0. Is your clock right?',
  authorization_valid_too_long:
    'validBefore of the authorization is too late: sign one that ends within maxTimeoutSeconds.',
  authorization_already_used:
    'The authorization has paid before, or was cancelled: sign a fresh one, with another nonce.',
  invalid_signature:
    "The signature is not the payer's over this authorization: sign it as EIP-712 data of the domain in extra, asset and network.",
  unsupported_signature: 'Signatures of contract wallets cannot be checked here: pay from a plain wallet.',
  insufficient_funds: 'The wallet has too little of this coin: add to it, or pay from another.',
  settlement_failed: 'The payment could not be settled: sign a fresh one.',
};

/** Help for who wants to pay by prepaid money and has too little of it. */
const PREPAID_SHORT =
  'Your prepaid balance here is below the price. POST /agent/v1/prepaid adds to it, GET /agent/v1/prepaid shows it to its wallet; without X-Prepaid-Wallet the same request is paid on the chain.';

/**
 * @param error the `error` of a 402 about a payment that was sent: a {@link PaymentFault}, or a facilitator's own word; or
 *   `prepaid_insufficient`
 * @param offered the coin that the 402 asks for
 * @returns what is wrong with the payment, and what its sender can do
 */
export function refusalHelp(error: string, offered?: Asset): string {
  const known = Object.hasOwn(REFUSALS, error) ? REFUSALS[error as keyof typeof REFUSALS] : undefined;
  const isShort =
    error === 'prepaid_insufficient' || (error === 'insufficient_funds' && offered?.isPrepaid === true);
  const help = isShort ? PREPAID_SHORT : (known ?? `The payment was refused (${error}): sign a fresh one.`);
  return `${help} Nothing was charged for this request.`;
}
