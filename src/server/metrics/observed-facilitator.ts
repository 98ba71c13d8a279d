import type { Facilitator } from '@farthing/payment/facilitator/facilitator';
import type { FacilitatorCall } from './metrics.ts';

/** Times each call of a facilitator. */
export function observeFacilitator(
  inner: Facilitator,
  observe: (call: FacilitatorCall) => void,
): Facilitator {
  const timed = async <T>(
    call: FacilitatorCall['call'],
    work: () => Promise<T>,
    outcomeOf: (result: T) => string,
  ): Promise<T> => {
    const started = performance.now();
    let outcome = 'failed';
    try {
      const result = await work();
      outcome = outcomeOf(result);
      return result;
    } finally {
      observe({ call, outcome, milliseconds: performance.now() - started });
    }
  };
  return {
    get outcomeIsKnowable() {
      return inner.outcomeIsKnowable;
    },
    get verifiesContractWallets() {
      return inner.verifiesContractWallets;
    },
    verify: (payment, terms) =>
      timed(
        'verify',
        () => inner.verify(payment, terms),
        ({ valid }) => (valid ? 'valid' : 'invalid'),
      ),
    settle: (payment, terms) =>
      timed(
        'settle',
        () => inner.settle(payment, terms),
        ({ kind }) => kind,
      ),
    reconcile: (payment, terms) =>
      timed(
        'reconcile',
        () => inner.reconcile(payment, terms),
        ({ kind }) => kind,
      ),
    tooDear: (amount) => inner.tooDear?.(amount),
    connect: () => inner.connect(),
    health: () => inner.health(),
  };
}
