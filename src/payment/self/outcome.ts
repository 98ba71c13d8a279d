import type { SettledBy } from '../facilitator/facilitator.ts';
import { SELF } from '../facilitator/facilitators.ts';
import type { Payment } from '../payment.ts';

/** Outcome of a payment on the chain. */
export type Outcome =
  | { readonly kind: 'settled'; readonly transaction: string; readonly by?: SettledBy }
  | { readonly kind: 'refused'; readonly reason: string; readonly by?: SettledBy };

/** Why a payment is refused whose transaction was reverted though it had been simulated, and the money is there. */
export const REVERTED = 'invalid_exact_evm_transaction_failed';

/** Nothing was moved. */
export function refused(reason: string): Outcome {
  return { kind: 'refused', reason };
}

/** The gas that a payment's transaction took from this server's gas wallet; undefined where the node does not say. */
export type Cost = Pick<SettledBy, 'gasWei' | 'gasUnits'>;

/** A transaction of this server's gas wallet, which took so much. */
export function bySelf(cost: Cost): SettledBy {
  return { facilitator: SELF, ...cost };
}

/** The payment was settled by another transaction. Another server with the same FARTHING_PAY_TO may have sold something for it. */
export function reportAnother(
  log: (event: Readonly<Record<string, unknown>>) => void,
  { payer, nonce }: Payment,
  { transaction }: { readonly transaction: string },
): void {
  log({ level: 'warn', event: 'settled_by_another', payer, nonce, transaction });
}
