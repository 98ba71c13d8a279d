import { randomBytes } from 'node:crypto';
import type { Address } from '@farthing/protocol/address';
import type { Asset } from '../asset.ts';
import type { Hex, Payment, Terms } from '../payment.ts';
import type { PaymentTerms } from '../wire/challenge.ts';
import { ownMember } from '../wire/strict-json.ts';
import { type Reply, readVerification } from './messages.ts';

/** A cent: some facilitators refuse less. */
const AMOUNT = 10_000n;

/** What the payment of a probe would be for. */
export const PROBE_TERMS: Terms = {
  amount: AMOUNT,
  resource: 'https://probe.invalid/',
  description: 'A check that payments can be verified. Nothing is bought.',
};

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** A well-formed payment that nobody can collect: its wallet is made up here, and has no money. @param now milliseconds since the epoch */
export async function probePayment(
  asset: Asset,
  { payTo, maxTimeoutSeconds }: PaymentTerms,
  now: number,
): Promise<Payment> {
  // Of use to no server that is paid in play money.
  const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts');
  const account = privateKeyToAccount(generatePrivateKey());
  const validBefore = BigInt(Math.floor(now / 1000) + maxTimeoutSeconds);
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  const { name, version, chainId, displayedAddress } = asset;
  const signature = await account.signTypedData({
    domain: { name, version, chainId, verifyingContract: displayedAddress },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from: account.address, to: payTo, value: AMOUNT, validAfter: 0n, validBefore, nonce },
  });
  return {
    version: 2,
    scheme: 'exact',
    networkName: asset.network,
    payer: account.address.toLowerCase() as Address,
    payTo,
    value: AMOUNT,
    validAfter: 0n,
    validBefore,
    nonce,
    signature,
    asset,
  };
}

/** Reasons that speak of the sale, not of its payer: each payment here would be refused with them. */
const REFUSES_ALL =
  /network|scheme|x402_version|payment_requirements|eip712_domain|token_(name|version)|not_deployed|eip3009_not|to_address_kyt/;

/** @param reply to the verification of a {@link probePayment} @returns why no payment can be verified here; undefined where it can */
export function probeFault(reply: Reply, payment: Payment): string | undefined {
  const told = readVerification(reply, payment);
  if (typeof told === 'string') return told;
  if (told.valid || !REFUSES_ALL.test(told.reason.toLowerCase())) return undefined;
  const message = ownMember(reply.body, 'invalidMessage');
  const words = typeof message === 'string' && message !== '' ? `: ${message.slice(0, 200)}` : '';
  return `it refuses every payment on ${payment.asset.network} (${told.reason}${words})`;
}
