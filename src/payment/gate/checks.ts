import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from '@farthing/protocol/clock';
import { isNetworkOf } from '../asset.ts';
import { PaymentRefused } from '../fault.ts';
import type { Payment, SentPayment } from '../payment.ts';
import type { Quote } from '../purchase.ts';
import type { Genuine, SignatureCheck } from '../signature.ts';
import type { ChallengeSettings, PaymentTerms } from '../wire/challenge.ts';

/** Facilitators refuse a payment that ends sooner: the transaction would not be mined in time. */
export const SECONDS_LEFT_MIN = 6n;
/** Maximum time that an authorization may end after the asked timeout. */
const OVERTIME_SECONDS_MAX = 3600n;

/**
 * Checks a payment by itself: scheme, network, asset, recipient, signature. Cheap checks first. A v1 payment does not name its coin: of
 * several on its network, the one whose domain was signed; for a contract wallet, the first.
 * @throws PaymentRefused
 */
export function checkGenuine(
  sent: SentPayment,
  { assets, prepaid, payTo }: ChallengeSettings,
  signatures: SignatureCheck,
): Genuine {
  const { accepted } = sent;
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
  if (paidIn !== undefined && paidIn !== (asset.isPrepaid ? 'prepaid' : 'coin'))
    throw new PaymentRefused('wrong_asset');
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

/** The time window, as the token contract will see it: `validAfter < now < validBefore`. */
export function checkWindow(payment: Payment, { maxTimeoutSeconds }: PaymentTerms, nowMs: number): void {
  const now = BigInt(Math.floor(nowMs / 1000));
  if (payment.validBefore < now + SECONDS_LEFT_MIN) throw new PaymentRefused('authorization_expired');
  if (payment.validAfter > now) throw new PaymentRefused('authorization_not_yet_valid');
  if (payment.validBefore > now + BigInt(maxTimeoutSeconds) + OVERTIME_SECONDS_MAX) {
    throw new PaymentRefused('authorization_valid_too_long');
  }
}
