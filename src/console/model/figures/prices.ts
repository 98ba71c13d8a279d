import type { ReadyAnswer } from '@farthing/client';
import { type AtomicAmount, parseUsd } from '@farthing/protocol/money';

type Prices = Pick<ReadyAnswer, 'prices_usd'>;

/** Price of a workspace for some minutes. */
export function priceOf({ prices_usd }: Prices, minutes: number): AtomicAmount {
  return parseUsd(prices_usd.workspace!) + extensionPrice({ prices_usd }, minutes);
}

export function extensionPrice({ prices_usd }: Prices, minutes: number): AtomicAmount {
  return parseUsd(prices_usd.workspace_minute!) * BigInt(minutes);
}

/** The nearest number of minutes that the server sells; the least for what is no number. */
export function minutesOf(text: string, { min, max }: ReadyAnswer['workspace_minutes']): number {
  const number = Math.round(Number(text));
  return Number.isFinite(number) ? Math.min(Math.max(number, min), max) : min;
}

/** Only the local facilitator moves no money: the play wallet is for it alone. */
export function isPlayMoney({ payment }: Pick<ReadyAnswer, 'payment'>): boolean {
  return payment.facilitator.kind === 'local';
}
