import type { Payment, Terms } from '../payment.ts';

/** Signs claims as this server. @returns a compact JWS, whose `kid` is a DID with the server's name */
export type SignClaims = (claims: Readonly<Record<string, unknown>>) => string;

/** A payment that was charged and answered. */
interface Charged {
  readonly payment: Pick<Payment, 'asset' | 'payer'>;
  readonly terms: Pick<Terms, 'resource'>;
  /** Hash of the transaction; empty if unknown. */
  readonly transaction: string;
}

const VERSION = 1;
const HASH = /^0x[0-9a-f]{64}$/i;

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    receipt: {
      type: 'object',
      properties: { format: { type: 'string' }, signature: { type: 'string' } },
      required: ['format', 'signature'],
    },
  },
  required: ['receipt'],
};

/**
 * The extensions of a settlement with a signed receipt: that this server has answered what was paid for (x402 specification,
 * extension `offer-receipt`, §5). It signs no offers: clients send them back in the header of the payment, which would pass the
 * 8 KiB that many proxies allow.
 * @param now milliseconds since the epoch
 */
export function signedReceipt({ payment, terms, transaction }: Charged, now: number, sign: SignClaims) {
  const { asset, payer } = payment;
  // Sorted by name, as in the canonical form. A prepaid purchase has no transaction on the chain.
  const claims = {
    issuedAt: Math.floor(now / 1000),
    network: asset.network,
    payer,
    resourceUrl: terms.resource,
    ...(!asset.isPrepaid && HASH.test(transaction) && { transaction }),
    version: VERSION,
  };
  const receipt = { format: 'jws', signature: sign(claims) };
  return { 'offer-receipt': { info: { receipt }, schema: SCHEMA } };
}
