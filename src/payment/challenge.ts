import type { Address, Answer, Quote } from '../domain/payment.ts';
import { type Asset, displayedAddress } from './asset.ts';
import { declareDiscovery } from './discovery.ts';
import { KEY_LENGTH_MAX, KEY_LENGTH_MIN } from './request-key.ts';

export interface ChallengeSettings {
  readonly asset: Asset;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  /** Name of the network in the v1-shaped body: the contract's, or the one that legacy v1 clients know. */
  readonly bodyNetwork: 'eip155:8453' | 'base';
}

const MIME_TYPE = 'application/json';
const DESCRIPTION_LENGTH_MAX = 500;

const PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: {
        type: 'string',
        minLength: KEY_LENGTH_MIN,
        maxLength: KEY_LENGTH_MAX,
        pattern: '^[a-zA-Z0-9_-]+$',
      },
    },
    required: ['required'],
  },
};

/**
 * The 402 that every client can pay: v2 in the `PAYMENT-REQUIRED` header (standard base64), the contract's v1-shaped
 * object in the body. Members that don't apply are left out: v1 clients refuse nulls.
 */
export function challenge(quote: Quote, error: string, settings: ChallengeSettings): Answer {
  return {
    status: 402,
    headers: {
      'PAYMENT-REQUIRED': encodeHeader(requiredV2(quote, error, settings)),
      'Cache-Control': 'no-store',
    },
    body: requiredV1(quote, error, settings),
  };
}

export function encodeHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

function requiredV2(quote: Quote, error: string, settings: ChallengeSettings) {
  return {
    x402Version: 2,
    error,
    resource: {
      url: quote.resource,
      description: short(quote.description),
      mimeType: MIME_TYPE,
      serviceName: 'Farthing',
    },
    accepts: [requirementsV2(quote.amount, settings)],
    extensions: {
      bazaar: declareDiscovery(quote.discovery).bazaar,
      'payment-identifier': PAYMENT_IDENTIFIER,
    },
  };
}

/** One payment option in the words of x402 v2. */
export function requirementsV2(
  amount: bigint,
  { asset, payTo, maxTimeoutSeconds }: Omit<ChallengeSettings, 'bodyNetwork'>,
) {
  return {
    scheme: 'exact',
    network: asset.network,
    amount: amount.toString(),
    asset: displayedAddress(asset.address),
    payTo: displayedAddress(payTo),
    maxTimeoutSeconds,
    extra: { name: asset.name, version: asset.version },
  };
}

function requiredV1(quote: Quote, error: string, settings: ChallengeSettings) {
  const { asset, payTo, maxTimeoutSeconds, bodyNetwork } = settings;
  const description = short(quote.description);
  return {
    x402Version: 1,
    error,
    resource: quote.resource,
    description,
    accepts: [
      {
        scheme: 'exact',
        network: bodyNetwork,
        maxAmountRequired: quote.amount.toString(),
        resource: quote.resource,
        description,
        mimeType: MIME_TYPE,
        outputSchema: declareDiscovery(quote.discovery).outputSchema,
        payTo: displayedAddress(payTo),
        maxTimeoutSeconds,
        asset: displayedAddress(asset.address),
        extra: { name: asset.name, version: asset.version },
      },
    ],
  };
}

/** Catalogues cut or refuse longer descriptions. */
function short(description: string): string {
  return description.length <= DESCRIPTION_LENGTH_MAX
    ? description
    : `${description.slice(0, DESCRIPTION_LENGTH_MAX - 1)}…`;
}
