import type { Address } from '@farthing/protocol/address';
import { type Asset, assetOn } from '../asset.ts';
import { BATCH_SETTLEMENT, type ChannelTerms } from '../channel/voucher.ts';
import type { Answer, Quote } from '../purchase.ts';
import { declareDiscovery } from './discovery.ts';
import { KEY_LENGTH_MAX, KEY_LENGTH_MIN } from './idempotency-key.ts';
import { refusalHelp } from './refusals.ts';

/** Service description that catalogues show beside each route, within the limits of x402 v2. */
export interface ServiceCard {
  /** Up to 32 printable ASCII characters. */
  readonly name: string;
  /** Up to five, each like the name. */
  readonly tags?: readonly string[];
  readonly iconUrl?: string;
  /** Stands before the description of each route. */
  readonly description?: string;
}

/** Terms of a payment in any coin. */
export interface PaymentTerms {
  /** Absent: catalogues learn no name. */
  readonly service?: ServiceCard;
  readonly payTo: Address;
  /** How long an authorization may wait for its settlement. */
  readonly maxTimeoutSeconds: number;
}

export interface ChallengeSettings extends PaymentTerms {
  /** The coins that are asked for, the preferred one first. */
  readonly assets: readonly Asset[];
  /** Absent: nothing is prepaid here. */
  readonly prepaid?: Asset;
  /** Absent: no channels are taken here. `shown`: what its payer's client wants to know of a channel. */
  readonly escrow?: EscrowOffer | undefined;
  /** Names of the networks in the v1-shaped body: those of v2, or those that legacy v1 clients know. */
  readonly bodyNetworks: 'v2' | 'v1';
}

/** Payments by `batch-settlement`: coins in escrow, and what clients make channels with. */
export interface EscrowOffer {
  readonly asset: Asset;
  readonly terms: ChannelTerms;
  readonly shown?: Readonly<Record<string, unknown>>;
}

/** Deposits are good for so many requests of one price, where a client does not say otherwise. */
const DEPOSITED_REQUESTS = 10n;
/** Of the header: proxies allow little more for all of a response. */
const HEADER_BYTES_MAX = 4096;
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

/** What a 402 offers. `coin` and `unsettled` include a channel where channels are taken. `unsettled`: only what needs no settlement of its own. */
export type Offer = 'coin' | 'prepaid' | 'channel' | 'unsettled';

function assetsOf(offer: Offer, { assets, prepaid }: ChallengeSettings): readonly Asset[] {
  if (offer === 'channel') return [];
  return prepaid && offer !== 'coin' ? [prepaid] : assets;
}

/**
 * The 402 that every client can pay: v2 in the `PAYMENT-REQUIRED` header (standard base64), the contract's v1-shaped
 * object in the body. Members that don't apply are left out: v1 clients refuse nulls.
 */
export function challenge(
  quote: Quote,
  error: string,
  settings: ChallengeSettings,
  offer: Offer = 'coin',
): Answer {
  const offered = { ...settings, assets: assetsOf(offer, settings) };
  const required = requiredV2(quote, error, offered);
  const plain = encodeHeader(required);
  const takesChannels = offer !== 'prepaid' && quote.paidIn !== 'coin';
  const channel =
    settings.escrow && takesChannels && channelRequirements(quote.amount, settings.escrow, settings);
  // One that is told of its own channel needs it.
  const withChannel = channel && encodeHeader({ ...required, accepts: [...required.accepts, channel] });
  const isShort = withChannel && (withChannel.length <= HEADER_BYTES_MAX || settings.escrow?.shown);
  return {
    status: 402,
    headers: {
      'PAYMENT-REQUIRED': isShort ? withChannel : plain,
      'Cache-Control': 'no-store',
    },
    body: requiredV1(quote, error, offered),
  };
}

/** The `error` of a 402 for a request without a payment. */
export function unpaidError({ notice }: Quote): string {
  return notice ?? 'payment_required';
}

/** Cached challenges per route. Those of items and workspaces have ids in them. */
const KEPT_PER_ROUTE_MAX = 64;

/**
 * Makes each challenge once: unpaid requests ask for the same few over and over, and writing its schemas takes longer than the rest of such
 * a request.
 */
export class Challenges {
  readonly #settings: ChallengeSettings;
  readonly #kept = new WeakMap<Quote['discovery'], Map<string, Answer>>();

  constructor(settings: ChallengeSettings) {
    this.#settings = settings;
  }

  /** @returns the answer, whose body is frozen: its JSON is written once, too */
  of(quote: Quote, error: string, offer: Offer = 'coin'): Answer {
    const { amount, resource, description, discovery } = quote;
    const kept = this.#kept.get(discovery) ?? new Map<string, Answer>();
    this.#kept.set(discovery, kept);
    const { escrow } = this.#settings;
    const key = [amount, error, offer, escrow?.terms.receiverAuthorizer, resource, description].join('\n');
    const known = kept.get(key);
    if (known) return known;
    const answer = challenge(quote, error, this.#settings, offer);
    Object.freeze(answer.body);
    if (kept.size >= KEPT_PER_ROUTE_MAX) kept.clear();
    kept.set(key, answer);
    return answer;
  }
}

export function encodeHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

function requiredV2(quote: Quote, error: string, settings: ChallengeSettings) {
  return {
    x402Version: 2,
    error,
    resource: resourceV2(quote, settings),
    accepts: settings.assets.map((asset) => requirementsV2(quote.amount, asset, settings)),
    extensions: {
      bazaar: declareDiscovery(quote.discovery).bazaar,
      'payment-identifier': PAYMENT_IDENTIFIER,
    },
  };
}

/** The paid resource as x402 v2 describes it: the same in a 402 and on the way to a facilitator. */
export function resourceV2(
  { resource, description }: Pick<Quote, 'resource' | 'description'>,
  { service }: Pick<PaymentTerms, 'service'>,
) {
  return {
    url: resource,
    description: described(description, service),
    mimeType: MIME_TYPE,
    ...(service && { serviceName: service.name }),
    ...(service?.tags?.length && { tags: service.tags }),
    ...(service?.iconUrl && { iconUrl: service.iconUrl }),
  };
}

/** One payment option in the words of x402 v2. */
export function requirementsV2(amount: bigint, asset: Asset, { payTo, maxTimeoutSeconds }: PaymentTerms) {
  return {
    scheme: 'exact',
    network: asset.network,
    amount: amount.toString(),
    asset: asset.displayedAddress,
    payTo,
    maxTimeoutSeconds,
    extra: extraOf(asset),
  };
}

/** The same for channels. */
function channelRequirements(amount: bigint, { asset, terms, shown }: EscrowOffer, settings: PaymentTerms) {
  const { extra, ...coin } = requirementsV2(amount, assetOn(asset.network), settings);
  const minDeposit = (amount * DEPOSITED_REQUESTS).toString();
  return { ...coin, scheme: BATCH_SETTLEMENT, extra: { ...extra, ...terms, minDeposit, ...shown } };
}

/** Domain that clients sign with, and whether the money is prepaid. */
function extraOf({ name, version, isPrepaid }: Asset) {
  return { name, version, ...(isPrepaid && { prepaid: true }) };
}

/** Fields of a payment option in x402 v1 beside its price; `outputSchema` is for catalogues alone. */
export interface OfferV1 {
  readonly network: string;
  readonly amount: bigint;
  readonly resource: string;
  readonly description: string;
  readonly outputSchema?: object;
}

/** One payment option in the words of x402 v1. */
export function requirementsV1(
  { network, amount, resource, description, outputSchema }: OfferV1,
  asset: Asset,
  { payTo, maxTimeoutSeconds, service }: PaymentTerms,
) {
  return {
    scheme: 'exact',
    network,
    maxAmountRequired: amount.toString(),
    resource,
    description: described(description, service),
    mimeType: MIME_TYPE,
    ...(outputSchema && { outputSchema }),
    payTo,
    maxTimeoutSeconds,
    asset: asset.displayedAddress,
    extra: extraOf(asset),
  };
}

function requiredV1(quote: Quote, error: string, settings: ChallengeSettings) {
  const { amount, resource, description, discovery } = quote;
  const { outputSchema } = declareDiscovery(discovery);
  return {
    x402Version: 1,
    error,
    resource,
    description: described(description, settings.service),
    help: error === unpaidError(quote) ? helpOf(resource, settings) : refusalHelp(error, settings.assets[0]),
    // Catalogues read the first; the others are the same route in another coin.
    accepts: settings.assets.map((asset, at) => {
      const network = settings.bodyNetworks === 'v1' ? asset.networkNameV1 : asset.network;
      const offer = { network, amount, resource, description, ...(at === 0 && { outputSchema }) };
      return requirementsV1(offer, asset, settings);
    }),
  };
}

/** For readers of the body: which clients can pay, and where to read how. Clients of v1 fail at the network's name, without a message. */
function helpOf(resource: string, { assets, bodyNetworks }: ChallengeSettings): string {
  const guide = resource.replace(/\/agent\/v1\/.*$/, '/agents.md');
  if (bodyNetworks === 'v1' && assets.length > 0)
    return `Clients of x402 v2 and v1 can pay. ${guide} says how.`;
  if (assets.length === 0)
    return `Clients of x402's batch-settlement can pay: they read the PAYMENT-REQUIRED header. ${guide} says how.`;
  const { network, networkNameV1 } = assets[0]!;
  return `Clients of x402 v2 can pay: they read the PAYMENT-REQUIRED header. Those of v1 know ${network} as ${networkNameV1} and refuse this body: the operator serves both with FARTHING_X402_BODY_NETWORK=base. ${guide} says how to pay.`;
}

/** The operator's words and the route's. Catalogues cut or refuse longer descriptions. */
function described(route: string, service: ServiceCard | undefined): string {
  const description = service?.description ? `${service.description} ${route}` : route;
  return description.length <= DESCRIPTION_LENGTH_MAX
    ? description
    : `${description.slice(0, DESCRIPTION_LENGTH_MAX - 1)}…`;
}
