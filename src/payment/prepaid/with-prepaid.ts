import type { Facilitator } from '../facilitator/facilitator.ts';
import type { Payment } from '../payment.ts';
import type { SignatureCheck } from '../signature.ts';
import type { PrepaidBalances } from './balances.ts';

/** Settles prepaid payments in the store, and asks the facilitator for all others. */
export function withPrepaid(
  facilitator: Facilitator,
  balances: PrepaidBalances,
  signatures: SignatureCheck,
): Facilitator {
  const isPrepaid = ({ asset }: Payment) => asset.isPrepaid === true;
  return {
    outcomeIsKnowable: facilitator.outcomeIsKnowable,
    get verifiesContractWallets() {
      return facilitator.verifiesContractWallets;
    },
    verify: (payment, terms) => facilitator.verify(payment, terms),
    verifyHere: (payment, terms) => {
      if (!isPrepaid(payment)) return undefined;
      // No chain is asked here: a contract wallet cannot spend prepaid money.
      if (signatures.verdictOn(payment) !== 'valid') return { valid: false, reason: 'unsupported_signature' };
      return balances.verify(payment, terms);
    },
    settle: async (payment, terms) => {
      if (!isPrepaid(payment)) return facilitator.settle(payment, terms);
      if (signatures.verdictOn(payment) !== 'valid')
        return { kind: 'refused', reason: 'unsupported_signature' };
      return balances.spend(payment, terms);
    },
    reconcile: async (payment, terms) =>
      isPrepaid(payment) ? balances.spent(payment) : facilitator.reconcile(payment, terms),
    tooDear: (amount) => facilitator.tooDear?.(amount),
    connect: () => facilitator.connect(),
    health: () => facilitator.health(),
  };
}
