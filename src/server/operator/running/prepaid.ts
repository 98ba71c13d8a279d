import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import { formatUsd } from '@farthing/protocol/money';

/** The operator's debts: prepaid money of all wallets. */
export interface PrepaidSums {
  readonly wallets: number;
  readonly left_usd: string;
  readonly due_usd: string;
  readonly refunds: readonly {
    readonly id: string;
    readonly payer: string;
    readonly usd: string;
    readonly asked_at: string;
    readonly transaction: string | null;
  }[];
}

/** Refunds that are shown at once; those that are due come first. */
const REFUNDS_MAX = 1000;

/** The sum of all balances, and the requested refunds. */
export function prepaidSums(all: readonly PrepaidBalances[]): PrepaidSums {
  const accounts = all.flatMap((balances) => [...balances.accounts()]);
  const refunds = all.flatMap((balances) => [...balances.refunds()]);
  const due = refunds.filter(({ isDue }) => isDue);
  const sum = (amounts: readonly bigint[]) =>
    formatUsd(amounts.reduce((total, amount) => total + amount, 0n));
  return {
    wallets: accounts.filter(({ left }) => left > 0n).length,
    left_usd: sum(accounts.map(({ left }) => left)),
    due_usd: sum(due.map(({ amount }) => amount)),
    refunds: [...due, ...refunds.filter(({ isDue }) => !isDue)]
      .slice(0, REFUNDS_MAX)
      .map(({ id, payer, amount, time, transaction }) => ({
        id,
        payer,
        usd: formatUsd(amount),
        asked_at: new Date(time).toISOString(),
        transaction: transaction ?? null,
      })),
  };
}
