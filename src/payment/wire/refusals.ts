import type { Asset } from '../asset.ts';
import { REASON } from '../channel/channels.ts';
import type { PaymentFault } from '../fault.ts';

/** Help for each fault of a payment: what is wrong, and what to do. */
const REFUSALS: Readonly<Record<Exclude<PaymentFault, 'payment_required'>, string>> = {
  payment_malformed:
    'The payment header is not base64 of JSON with an authorization and its signature: have an x402 client write it.',
  unsupported_version: 'The payment names no x402Version that is known here: send version 2.',
  unsupported_scheme: 'The payment is of another scheme than those of accepts: sign one of them.',
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

/** The same for what the scheme of channels calls `invalid_batch_settlement_evm_…`. */
const OF_CHANNELS: Readonly<Record<string, string>> = {
  cumulative_amount_mismatch:
    'The total of the voucher is not what this channel was charged plus the price: channelState in accepts has what it was charged.',
  cumulative_exceeds_balance: 'The total of the voucher is over what the channel holds: deposit more.',
  channel_not_found: 'The escrow holds nothing in this channel: deposit first.',
  channel_busy: 'What this channel has left is on its way back to its payer: ask again in a moment.',
  withdrawal_pending: 'The payer withdraws from this channel: withdraw, and deposit anew.',
  deposit_below_min_deposit:
    'The deposit is too small for the gas that it takes: deposit minDeposit of accepts.',
  receiver_authorizer_mismatch: 'The channel is not made with the receiverAuthorizer of accepts.',
  withdraw_delay_mismatch: 'The channel is not made with the withdrawDelay of accepts.',
  channel_id_mismatch: 'The voucher is of another channel than channelConfig.',
  refund_no_balance: 'The channel has nothing left.',
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
  const known = helpIn(REFUSALS, error) ?? helpIn(OF_CHANNELS, error.slice(REASON.length));
  const isShort =
    error === 'prepaid_insufficient' || (error === 'insufficient_funds' && offered?.isPrepaid === true);
  const help = isShort ? PREPAID_SHORT : (known ?? `The payment was refused (${error}): sign a fresh one.`);
  return `${help} Nothing was charged for this request.`;
}

function helpIn(table: Readonly<Record<string, string>>, error: string): string | undefined {
  return Object.hasOwn(table, error) ? table[error] : undefined;
}
