import type { Asset } from '../asset.ts';
import type { RpcNode } from '../facilitator/rpc-node.ts';
import type { Hex } from '../payment.ts';

/** Units of a dollar in prices of coins, as Chainlink's dollar feeds have them: 3,000 USD are 300,000,000,000. */
export const PRICE_UNITS_PER_USD = 100_000_000n;
/** Wei of a coin, times the above, for one unit of a dollar coin (a millionth of a dollar). */
const WEI_PRICE_PER_UNIT = 10n ** 18n * (PRICE_UNITS_PER_USD / 1_000_000n);
/** First four bytes of keccak256 of `latestRoundData()` (Chainlink, AggregatorV3Interface). */
const LATEST_ROUND = '0xfeaf968c';
/** Feeds are written at least once a day, most every few minutes. */
const FEED_AGE_S_MAX = 93_600n;
const READ_EVERY_MS = 60_000;
const WORD_DIGITS = 64;

/** Price of a network's coin, and where it is from. */
export interface CoinPriceNow {
  /** In `PRICE_UNITS_PER_USD`; 0 for a testnet's. */
  readonly price: bigint;
  /** `assumed`: the feed is silent, stale or absurd, and the most that the coin is believed to be worth counts. */
  readonly source: 'setting' | 'feed' | 'assumed' | 'testnet';
}

/** The price of the coin that gas is paid in: from the settings, or from a bounded read of a feed on the chain. */
export class CoinPrice {
  readonly #asset: Asset;
  readonly #fixed: CoinPriceNow | undefined;
  #now: CoinPriceNow;
  #readAt = Number.NEGATIVE_INFINITY;

  /** @param usd price by the settings, in `PRICE_UNITS_PER_USD`; 0n: none */
  constructor(asset: Asset, usd: bigint) {
    this.#asset = asset;
    if (usd > 0n) this.#fixed = { price: usd, source: 'setting' };
    else if (asset.isTestnet) this.#fixed = { price: 0n, source: 'testnet' };
    this.#now = this.#fixed ?? { price: bounds(asset).max, source: 'assumed' };
  }

  /** As read last. */
  get now(): CoinPriceNow {
    return this.#now;
  }

  /** Reads it if it is time to. @param chainTimeS time of the newest block. Never throws. */
  async read(node: RpcNode, chainTimeS: bigint): Promise<CoinPriceNow> {
    if (this.#fixed || performance.now() - this.#readAt < READ_EVERY_MS) return this.#now;
    this.#readAt = performance.now();
    const price = await this.#feed(node, chainTimeS).catch(() => undefined);
    this.#now =
      price === undefined ? { price: bounds(this.#asset).max, source: 'assumed' } : { price, source: 'feed' };
    return this.#now;
  }

  async #feed(node: RpcNode, chainTimeS: bigint): Promise<bigint | undefined> {
    const to = this.#asset.gas.usdFeed;
    if (to === undefined) return undefined;
    const words = await node.call<Hex>('eth_call', [{ to, data: LATEST_ROUND }, 'latest']);
    const word = (at: number) =>
      BigInt.asIntN(256, BigInt(`0x${words.slice(2 + at * WORD_DIGITS, 2 + (at + 1) * WORD_DIGITS)}`));
    const [price, writtenAt] = [word(1), word(3)];
    const { min, max } = bounds(this.#asset);
    return chainTimeS - writtenAt <= FEED_AGE_S_MAX && price >= min && price <= max ? price : undefined;
  }
}

function bounds({ gas }: Asset): { readonly min: bigint; readonly max: bigint } {
  const [min, max] = gas.usdBounds.map((usd) => BigInt(Math.round(usd * Number(PRICE_UNITS_PER_USD))));
  return { min: min!, max: max! };
}

/** What an amount of wei is worth in units of a dollar coin, rounded up. */
export function unitsOf(wei: bigint, { price }: CoinPriceNow): bigint {
  return (wei * price + WEI_PRICE_PER_UNIT - 1n) / WEI_PRICE_PER_UNIT;
}

/** Wei that are worth so many units of a dollar coin, rounded down; undefined where the coin is worth nothing. */
export function weiOf(units: bigint, { price }: CoinPriceNow): bigint | undefined {
  return price === 0n ? undefined : (units * WEI_PRICE_PER_UNIT) / price;
}
