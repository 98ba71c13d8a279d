/** Amounts are integers of the asset's smallest unit. USDC has six decimals: 1 USD = 1,000,000 units. */
export type AtomicAmount = bigint;

/** A price in US dollars before a request is known: fixed, or its lowest, its highest and what it depends on. */
export type ShownPrice =
  | { readonly usd: string }
  | { readonly dynamic: string; readonly minUsd: string; readonly maxUsd: string };

export const USD_DECIMALS = 6;
const UNITS_PER_USD = 10n ** BigInt(USD_DECIMALS);

/**
 * Reads a decimal number of US dollars exactly.
 * @throws RangeError when the text is no plain non-negative decimal or needs more than six decimals.
 */
export function parseUsd(text: string): AtomicAmount {
  const match = /^(\d{1,15})(?:\.(\d{1,6})0*)?$/.exec(text);
  if (!match)
    throw new RangeError(`"${text}" is not an amount of US dollars with at most ${USD_DECIMALS} decimals`);
  return BigInt(match[1]!) * UNITS_PER_USD + BigInt((match[2] ?? '').padEnd(USD_DECIMALS, '0') || '0');
}

/** Decimal string in US dollars without trailing zeros: 6000n → "0.006". */
export function formatUsd(amount: AtomicAmount): string {
  const sign = amount < 0n ? '-' : '';
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % UNITS_PER_USD).toString().padStart(USD_DECIMALS, '0').replace(/0+$/, '');
  return `${sign}${absolute / UNITS_PER_USD}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * The contract in whose name prepaid money is signed for: the end of SHA-256("farthing prepaid"). Nobody can have a contract there, so no
 * chain ever takes what was signed for it.
 */
export const PREPAID_CONTRACT = '0x103DcC325B24aE26aE68a69340dEDE4239B050D7';
