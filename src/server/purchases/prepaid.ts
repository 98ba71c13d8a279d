import type { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import type { Answer, EffectHandler, EffectRef, WorkOutcome } from '@farthing/payment/purchase';
import type { Address } from '@farthing/protocol/address';
import { type AtomicAmount, formatUsd } from '@farthing/protocol/money';

type PrepaidEffect = 'prepay' | 'prepaid_refund';
type Ref = EffectRef<PrepaidEffect>;

export interface PrepaidPurchase extends EffectHandler<PrepaidEffect> {
  /** @throws prepaid_limit_exceeded */
  buy(payer: Address, amount: AtomicAmount): Promise<WorkOutcome>;
}

/** Money paid in advance: it is in the balance once its payment is settled. */
export const prepaying = (balances: PrepaidBalances): PrepaidPurchase => ({
  needsProof: true,
  ...purchaseOf(balances, 'prepay', 'add', (_, usd) => ({ added_usd: usd })),
});

/** Prepaid money back: it leaves the balance as a payment does, and is then owed to its payer. */
export const prepaidRefunds = (balances: PrepaidBalances): PrepaidPurchase =>
  purchaseOf(balances, 'prepaid_refund', 'refund', (id, usd) => ({ id, refund_usd: usd }));

/** @param shown a committed step's response, by its id and its amount */
function purchaseOf(
  balances: PrepaidBalances,
  kind: PrepaidEffect,
  step: 'add' | 'refund',
  shown: (id: string, usd: string) => object,
): PrepaidPurchase {
  const commit = async ({ step: id }: Ref): Promise<Answer> => {
    const { amount, left } = await balances.commit(id);
    const body = { ...shown(id, formatUsd(amount)), prepaid_usd: formatUsd(left), charged: true };
    return { status: 200, headers: {}, body };
  };
  return {
    buy: async (payer, amount) => {
      const ref = { step: await balances.begin(step, payer, amount) };
      return { charged: true, effect: { kind, ref } };
    },
    commit,
    reissue: commit,
    undo: ({ step: id }) => balances.undo(id),
    pending: async () => balances.open(step).map((id) => ({ step: id })),
  };
}
