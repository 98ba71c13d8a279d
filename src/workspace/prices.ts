import { FarthingError } from '../domain/error.ts';
import { type AtomicAmount, formatUsd } from '../domain/money.ts';
import { clampMinutes, creationPrice, extensionPrice, type WorkspacePricing } from '../domain/workspace.ts';

export interface CreationInput {
  readonly ttlMinutes?: number | null;
  readonly spendLimit?: AtomicAmount | null;
}

export interface Price {
  /** Minutes given, after clamping. */
  readonly minutes: number;
  readonly amount: AtomicAmount;
}

export interface CreationQuote extends Price {
  /** Why the creation would be refused even if paid: shown in the 402's `error`. */
  readonly notice?: 'spend_limit_exceeded';
}

/** Cheapest and dearest, in US dollars. */
export interface PriceRange {
  readonly minUsd: string;
  readonly maxUsd: string;
}

export function quoteOfCreation(
  pricing: WorkspacePricing,
  { ttlMinutes, spendLimit }: CreationInput,
): CreationQuote {
  const minutes = clampMinutes(pricing, ttlMinutes);
  const amount = creationPrice(pricing, minutes);
  const over = spendLimit !== undefined && spendLimit !== null && spendLimit < amount;
  return over ? { minutes, amount, notice: 'spend_limit_exceeded' } : { minutes, amount };
}

/** @throws spend_limit_exceeded, with the figures, for a creation over its own limit. */
export function checkedPrice(pricing: WorkspacePricing, input: CreationInput): Price {
  const { minutes, amount, notice } = quoteOfCreation(pricing, input);
  if (!notice) return { minutes, amount };
  throw new FarthingError(
    notice,
    'The spend limit is below the price of the workspace. Raise it or ask for fewer minutes. Nothing was charged.',
    {
      facts: {
        price_usd: formatUsd(amount),
        ttl_minutes: minutes,
        spend_limit_usd: formatUsd(input.spendLimit ?? 0n),
      },
    },
  );
}

export function quoteOfExtension(pricing: WorkspacePricing, ttlMinutes: number | null | undefined): Price {
  const minutes = clampMinutes(pricing, ttlMinutes);
  return { minutes, amount: extensionPrice(pricing, minutes) };
}

export function rangeOf(
  pricing: WorkspacePricing,
  price: (pricing: WorkspacePricing, minutes: number) => AtomicAmount,
): PriceRange {
  return {
    minUsd: formatUsd(price(pricing, pricing.ttlMinutesMin)),
    maxUsd: formatUsd(price(pricing, pricing.ttlMinutesMax)),
  };
}
