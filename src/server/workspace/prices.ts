import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import { type AtomicAmount, formatUsd, type ShownPrice } from '@farthing/protocol/money';
import { clampMinutes, creationPrice, extensionPrice, type WorkspacePricing } from './workspace.ts';

export interface CreationInput {
  /** The wallet that pays. */
  readonly payer?: Address;
  readonly ttlMinutes?: number | null;
  readonly spendLimit?: AtomicAmount | null;
  /** ISO 639-3. */
  readonly language?: string | undefined;
}

export interface Price {
  /** Minutes given, after clamping. */
  readonly minutes: number;
  readonly amount: AtomicAmount;
}

export interface CreationQuote extends Price {
  /** Why the creation would be refused even if paid. The 402 shows it as `error`. */
  readonly notice?: 'spend_limit_exceeded';
}

/** Prices of creations and extensions. */
export class WorkspacePrices {
  readonly #pricing: WorkspacePricing;

  constructor(pricing: WorkspacePricing) {
    this.#pricing = pricing;
  }

  creation({ ttlMinutes, spendLimit }: CreationInput): CreationQuote {
    const minutes = clampMinutes(this.#pricing, ttlMinutes);
    const amount = creationPrice(this.#pricing, minutes);
    const isOver = spendLimit !== undefined && spendLimit !== null && spendLimit < amount;
    return isOver ? { minutes, amount, notice: 'spend_limit_exceeded' } : { minutes, amount };
  }

  shownCreation(): ShownPrice {
    return this.#shown('a base price plus a price per minute', creationPrice);
  }

  /** Price of more minutes: no base. */
  extension(ttlMinutes: number | null | undefined): Price {
    const minutes = clampMinutes(this.#pricing, ttlMinutes);
    return { minutes, amount: extensionPrice(this.#pricing, minutes) };
  }

  shownExtension(): ShownPrice {
    return this.#shown('a price per minute', extensionPrice);
  }

  #shown(dynamic: string, price: (pricing: WorkspacePricing, minutes: number) => AtomicAmount): ShownPrice {
    const { ttlMinutesMin, ttlMinutesMax } = this.#pricing;
    return {
      dynamic,
      minUsd: formatUsd(price(this.#pricing, ttlMinutesMin)),
      maxUsd: formatUsd(price(this.#pricing, ttlMinutesMax)),
    };
  }
}

/** @throws spend_limit_exceeded, with the figures, for a creation above its own limit. */
export function checkSpendLimit(
  { minutes, amount, notice }: CreationQuote,
  { spendLimit }: CreationInput,
): void {
  if (!notice) return;
  throw new FarthingError(
    notice,
    'The spend limit is below the price of the workspace. Raise it or ask for fewer minutes. Nothing was charged.',
    {
      facts: {
        price_usd: formatUsd(amount),
        ttl_minutes: minutes,
        spend_limit_usd: formatUsd(spendLimit ?? 0n),
      },
    },
  );
}
