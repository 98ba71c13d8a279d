import type { Clock } from '@farthing/protocol/clock';
import type { Facilitator } from '../facilitator/facilitator.ts';
import { PaymentRefused } from '../fault.ts';
import { isSameAuthorization, type Payment } from '../payment.ts';
import type { PaymentTerms } from '../wire/challenge.ts';
import type { PaidRequest } from './attempt.ts';
import { termsOf } from './checkout.ts';
import { checkWindow } from './checks.ts';
import type { Verifications } from './verifications.ts';

export interface ContractWalletsDeps {
  readonly facilitator: Facilitator;
  readonly verifications: Verifications;
  readonly settings: PaymentTerms;
  readonly clock: Clock;
  /** The payment of this identity that was accepted before. */
  readonly known: (key: string) => Payment | undefined;
}

/** Has contract wallets' signatures proved, which the facilitator alone can. */
export class ContractWallets {
  readonly #deps: ContractWalletsDeps;

  constructor(deps: ContractWalletsDeps) {
    this.#deps = deps;
  }

  /**
   * To be called before anything is looked up for the payer. A byte-identical copy of a proved payment is proved, too.
   * @returns milliseconds it took; undefined for a copy. @throws PaymentRefused, facilitator_unavailable, overloaded
   */
  async prove(request: PaidRequest, payment: Payment, key: string): Promise<number | undefined> {
    const { facilitator, verifications, settings, clock, known } = this.#deps;
    if (!facilitator.verifiesContractWallets) throw new PaymentRefused('unsupported_signature');
    const isKnown = () => {
      const earlier = known(key);
      return earlier !== undefined && isSameAuthorization(earlier, payment);
    };
    if (isKnown()) return undefined;
    checkWindow(payment, settings, clock.now());
    const terms = { ...termsOf(request.quote), amount: payment.value };
    return await verifications.verify(payment, terms, { signal: request.signal, isKnown });
  }
}
