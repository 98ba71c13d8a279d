import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import type { Address } from '@farthing/protocol/address';
import type { Credits } from '../../purchases/credits.ts';

/** One store's debts. */
export interface OwingBooks {
  readonly prepaid: PrepaidBalances;
  readonly credits: Credits;
}

/** The operator's debts in all stores. Amounts are decimal, in the coin's smallest unit. */
export interface Liabilities {
  /** Money of wallets that is not spent. */
  readonly prepaid: { readonly wallets: number; readonly left: string };
  /** Requested refunds of prepaid money; those without a transaction are due. */
  readonly refunds: readonly {
    readonly id: string;
    readonly payer: Address;
    readonly amount: string;
    /** Milliseconds since the epoch. */
    readonly time: number;
    readonly transaction?: string;
  }[];
  /** Paid uploads that failed later: each is good for another one. */
  readonly credits: readonly { readonly payer: Address; readonly uploads: number }[];
}

/** Adds up the debts in all stores. */
export function liabilitiesOf(all: readonly OwingBooks[]): Liabilities {
  const left = all.flatMap(({ prepaid }) => [...prepaid.accounts()].map((account) => account.left));
  const uploads = new Map<Address, number>();
  for (const { credits } of all)
    for (const { payer } of credits.open()) uploads.set(payer, (uploads.get(payer) ?? 0) + 1);
  return {
    prepaid: {
      wallets: left.filter((amount) => amount > 0n).length,
      left: left.reduce((sum, amount) => sum + amount, 0n).toString(),
    },
    refunds: all.flatMap(({ prepaid }) =>
      [...prepaid.refunds()].map(({ id, payer, amount, time, transaction }) => ({
        id,
        payer,
        amount: amount.toString(),
        time,
        transaction,
      })),
    ),
    credits: [...uploads].map(([payer, count]) => ({ payer, uploads: count })),
  };
}
