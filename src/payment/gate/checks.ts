import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from '@farthing/protocol/clock';
import { assetOn, isNetworkOf } from '../asset.ts';
import { NOT_FOUND, REASON } from '../channel/channels.ts';
import { BATCH_SETTLEMENT, type SentVoucher } from '../channel/voucher.ts';
import { PaymentRefused } from '../fault.ts';
import type { Hex, Payment, SentPayment } from '../payment.ts';
import type { Quote } from '../purchase.ts';
import type { Genuine, SignatureCheck } from '../signature.ts';
import type { ChallengeSettings, PaymentTerms } from '../wire/challenge.ts';

/** Facilitators refuse a payment that ends sooner: the transaction would not be mined in time. */
export const SECONDS_LEFT_MIN = 6n;
/** Maximum time that an authorization may end after the asked timeout. */
const OVERTIME_SECONDS_MAX = 3600n;

/**
 * Checks a voucher by itself, as `checkGenuine` does any other payment. One whose payer lets another key sign is genuine where its channel
 * is known, or with the payer's own signature of a deposit.
 */
function checkVoucher(
  sent: SentPayment,
  { config, id, deposit }: SentVoucher,
  { escrow, payTo }: ChallengeSettings,
  { signatures, isKnown }: { signatures: SignatureCheck; isKnown: (channel: Hex) => boolean },
): Genuine {
  if (!escrow) throw new PaymentRefused('unsupported_scheme');
  const { asset, terms } = escrow;
  const coin = assetOn(asset.network).address;
  if (!isNetworkOf(asset, sent.networkName)) throw new PaymentRefused('wrong_network');
  if (config.token !== coin || sent.accepted?.asset?.toLowerCase() !== coin)
    throw new PaymentRefused('wrong_asset');
  if (config.receiver !== payTo) throw new PaymentRefused('wrong_recipient');
  if (config.receiverAuthorizer !== terms.receiverAuthorizer)
    throw new PaymentRefused(`${REASON}receiver_authorizer_mismatch`);
  if (config.withdrawDelay !== terms.withdrawDelay)
    throw new PaymentRefused(`${REASON}withdraw_delay_mismatch`);
  if (signatures.channelId(asset, config) !== id) throw new PaymentRefused(`${REASON}channel_id_mismatch`);
  const payment = { ...sent, asset };
  if (signatures.verdictOn(payment) !== 'valid') throw new PaymentRefused('invalid_signature');
  if (config.payerAuthorizer !== config.payer && !deposit && !isKnown(id))
    throw new PaymentRefused(NOT_FOUND);
  return { payment, verdict: 'valid' };
}

/**
 * Checks a payment by itself: scheme, network, asset, recipient, signature. Cheap checks first. A v1 payment does not name its coin: of
 * several on its network, the one whose domain was signed; for a contract wallet, the first.
 * @throws PaymentRefused
 */
export function checkGenuine(
  sent: SentPayment,
  settings: ChallengeSettings,
  signatures: SignatureCheck,
  isKnown: (channel: Hex) => boolean = () => false,
): Genuine {
  const { accepted, voucher } = sent;
  if (sent.scheme === BATCH_SETTLEMENT && voucher)
    return checkVoucher(sent, voucher, settings, { signatures, isKnown });
  const { assets, prepaid, payTo } = settings;
  if (sent.scheme !== 'exact') throw new PaymentRefused('unsupported_scheme');
  const taken = prepaid ? [...assets, prepaid] : assets;
  const onNetwork = taken.filter((asset) => isNetworkOf(asset, sent.networkName));
  if (onNetwork.length === 0) throw new PaymentRefused('wrong_network');
  const address = accepted?.asset?.toLowerCase();
  const candidates = onNetwork.filter((asset) => address === undefined || address === asset.address);
  if (candidates.length === 0) throw new PaymentRefused('wrong_asset');
  if (accepted?.payTo !== undefined && accepted.payTo.toLowerCase() !== payTo)
    throw new PaymentRefused('wrong_recipient');
  if (sent.payTo !== payTo) throw new PaymentRefused('wrong_recipient');
  let undecided: Genuine | undefined;
  for (const asset of candidates) {
    const payment = { ...sent, asset };
    const verdict = signatures.verdictOn(payment);
    if (verdict === 'valid') return { payment, verdict };
    if (verdict === 'needsFacilitator')
      undecided ??= { payment: { ...payment, mayBeOfContract: true }, verdict };
  }
  if (undecided) return undecided;
  throw new PaymentRefused('invalid_signature');
}

/** Money cannot be prepaid by prepaid money, and nothing else is refunded. @throws PaymentRefused */
export function checkCoin({ asset }: Payment, { paidIn }: Quote): void {
  const coin = asset.isPrepaid ? 'prepaid' : asset.isEscrow ? 'channel' : 'coin';
  if (paidIn !== undefined && paidIn !== coin) throw new PaymentRefused('wrong_asset');
}

/** Exactly the quoted amount: neither less nor more. */
export function checkAmount(payment: Payment, amount: bigint): void {
  const accepted = payment.accepted?.amount;
  if (payment.value !== amount || (accepted !== undefined && accepted !== amount.toString())) {
    throw new PaymentRefused('amount_mismatch');
  }
}

/** A client whose clock is ahead by so much need not sign again. */
const EARLY_MS_MAX = 3000;

/** Waits for the begin of an authorization that is valid from a moment on that is almost here, as clients have it whose clock is ahead. */
export async function waitForBegin(
  { validAfter }: Payment,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const leftMs = Number(validAfter) * 1000 - clock.now();
  if (leftMs <= 0 || leftMs > EARLY_MS_MAX) return;
  await after(leftMs, undefined, { signal }).catch(() => undefined);
}

/** The time window, as the token contract will see it: `validAfter < now < validBefore`. A voucher has none. */
export function checkWindow(payment: Payment, { maxTimeoutSeconds }: PaymentTerms, nowMs: number): void {
  const { voucher } = payment;
  if (voucher && !voucher.deposit) return;
  const now = BigInt(Math.floor(nowMs / 1000));
  if (payment.validBefore < now + SECONDS_LEFT_MIN) throw new PaymentRefused('authorization_expired');
  if (payment.validAfter > now) throw new PaymentRefused('authorization_not_yet_valid');
  if (payment.validBefore > now + BigInt(maxTimeoutSeconds) + OVERTIME_SECONDS_MAX) {
    throw new PaymentRefused('authorization_valid_too_long');
  }
}
