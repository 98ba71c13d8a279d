/** Facilitators that are known by name. Where they are: docs.cdp.coinbase.com/x402 and docs.payai.network/x402. */
export const KNOWN_FACILITATORS = {
  cdp: 'https://api.cdp.coinbase.com/platform/v2/x402',
  payai: 'https://facilitator.payai.network',
} as const;

export type FacilitatorName = keyof typeof KNOWN_FACILITATORS;

/** The name of this server as its own facilitator. */
export const SELF = 'self';

/** One facilitator of `FARTHING_FACILITATOR`: this server, or one over HTTP. */
export type NamedFacilitator = typeof SELF | RemoteAddress;

/** A facilitator over HTTP. */
export interface RemoteAddress {
  /** Service whose authentication it uses; undefined for any other. */
  readonly name?: FacilitatorName;
  /** Address without a trailing slash; `/verify`, `/settle` and `/supported` are below it. */
  readonly url: string;
  /** User and password of the address, which names neither. */
  readonly basic?: string;
}

/** Reads `cdp`, `payai`, `self`, an address, or `cdp@ADDRESS` for a name's protocol at another address; separated by commas. @throws Error */
export function readFacilitators(text: string): readonly NamedFacilitator[] {
  const facilitators = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(facilitatorOf);
  const urls = facilitators.map(facilitatorUrl);
  const twice = urls.find((url, at) => urls.indexOf(url) !== at);
  if (twice !== undefined) throw new Error(`${twice} is named twice`);
  return facilitators;
}

/** How an operator knows it: its address, or `self`. */
export function facilitatorUrl(facilitator: NamedFacilitator): string {
  return facilitator === SELF ? SELF : facilitator.url;
}

function facilitatorOf(part: string): NamedFacilitator {
  if (part === SELF) return SELF;
  const [, name, address] = /^(?:([a-z]+)@)?(.*)$/.exec(part)!;
  if (isKnown(part)) return { name: part, url: KNOWN_FACILITATORS[part] };
  if (name !== undefined && !isKnown(name))
    throw new Error(`${name} is no known facilitator: cdp, payai, self`);
  const url = URL.canParse(address!) ? new URL(address!) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new Error(
      'must be cdp, payai, self, or http or https addresses without query, separated by commas',
    );
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return {
    url: url.href.replace(/\/+$/, ''),
    ...(name !== undefined && { name }),
    ...(user !== ':' && { basic: user }),
  };
}

function isKnown(name: string): name is FacilitatorName {
  return Object.hasOwn(KNOWN_FACILITATORS, name);
}
