import { hash } from 'node:crypto';
import type { Clock } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { AdaptiveLimit } from '@farthing/queues/adaptive-limit';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import { Limit, type LimitOptions } from '@farthing/queues/limit';
import type { Owners } from '@farthing/queues/owners';
import type { Facilitator } from '../facilitator/facilitator.ts';
import { faultOf } from '../facilitator/reasons.ts';
import { PaymentRefused } from '../fault.ts';
import { authorizationText, type Payment, type Terms } from '../payment.ts';
import { isOfContract } from '../signature.ts';
import { clientGone } from './attempt.ts';

/**
 * Anybody can make up wallets: all that never paid together have these limits of the facilitator. `insideMax` is reached while the
 * facilitator is no slower for it: a payer's call must not wait there behind theirs.
 */
const UNPROVEN_LIMITS = { insideMax: 64, ownerInsideMax: 16, waitingMax: 512, waitMsMax: 5000 };
const PAYER_LIMITS = { ...UNPROVEN_LIMITS, insideMax: 128, ownerInsideMax: 64, waitingMax: 1024 };
/** Only the facilitator can judge contract wallets' signatures, and made-up ones cost nothing. */
const UNPROVEN_CONTRACT_LIMITS = { ...UNPROVEN_LIMITS, insideMax: 8, ownerInsideMax: 2, waitingMax: 128 };
const PAYER_CONTRACT_LIMITS = { ...UNPROVEN_CONTRACT_LIMITS, ownerInsideMax: 4 };
/** A contract wallet can be given money, or be deployed: a refusal does not hold for long. */
const REFUSAL_MS = 30_000;
const REFUSALS_MAX = 4096;

interface Refusal {
  readonly fault: string;
  readonly until: number;
}

/** Queue of payments that wait for the facilitator. */
interface VerifyQueue {
  readonly limit: Limit;
  /** Adapts the limit of wallets that never paid; learns from each call. */
  readonly adaptive?: AdaptiveLimit;
}

/**
 * The four queues in which all gates of a process wait for a facilitator: of wallets that have paid before and of others, each for
 * plain and for contract wallets. So unknown wallets, however many, delay no payer, and contract wallets no plain one.
 */
export class VerifyQueues {
  readonly #plain = { payers: limitOf(PAYER_LIMITS), unproven: adaptiveOf(UNPROVEN_LIMITS) };
  readonly #contracts = {
    payers: limitOf(PAYER_CONTRACT_LIMITS),
    unproven: adaptiveOf(UNPROVEN_CONTRACT_LIMITS),
  };
  readonly #owners: Pick<Owners, 'knows'>;
  /** Refused authorizations, by digest. */
  readonly refusals = new Map<string, Refusal>();

  constructor(owners: Pick<Owners, 'knows'>) {
    this.#owners = owners;
  }

  /** The queue in which a payment waits for its verification. */
  of(payment: Payment): VerifyQueue {
    const queues = isOfContract(payment) ? this.#contracts : this.#plain;
    return this.#owners.knows(payment.payer) ? queues.payers : queues.unproven;
  }
}

/** The verifications that one gate asks its facilitator for. */
export class Verifications {
  readonly #facilitator: Facilitator;
  readonly #clock: Clock;
  readonly #queues: VerifyQueues;

  constructor(deps: { facilitator: Facilitator; clock: Clock; queues: VerifyQueues }) {
    this.#facilitator = deps.facilitator;
    this.#clock = deps.clock;
    this.#queues = deps.queues;
  }

  /**
   * Milliseconds that the facilitator took, including the wait in the queue. `isKnown`: evaluated when its turn comes, since a copy may
   * have been proved by then.
   * @throws PaymentRefused, facilitator_unavailable, overloaded
   */
  async verify(
    payment: Payment,
    terms: Terms,
    { signal, isKnown = () => false }: { signal: AbortSignal; isKnown?: () => boolean },
  ): Promise<number> {
    const here = this.#facilitator.verifyHere?.(payment, terms);
    if (here?.valid) return 0;
    if (here) throw new PaymentRefused(faultOf(here.reason));
    const startedAt = performance.now();
    const digest = digestOf(payment);
    this.#refuseAgain(digest);
    const { limit, adaptive } = this.#queues.of(payment);
    const ask = () => this.#facilitator.verify(payment, terms);
    await limit.run(
      payment.payer,
      async () => {
        this.#refuseAgain(digest);
        if (isKnown()) return;
        const verification = await (adaptive ? adaptive.measured(ask) : ask());
        if (verification.valid) return;
        const fault = faultOf(verification.reason);
        // A plain wallet that is given money pays at once, by the same authorization.
        if (isOfContract(payment) || fault !== 'insufficient_funds') this.#remember(digest, fault);
        throw new PaymentRefused(fault);
      },
      { signal, left: clientGone },
    );
    return performance.now() - startedAt;
  }

  #refuseAgain(digest: string): void {
    const refusal = this.#queues.refusals.get(digest);
    if (!refusal) return;
    const leftMs = refusal.until - this.#clock.now();
    if (leftMs > 0 && leftMs <= REFUSAL_MS) throw new PaymentRefused(refusal.fault);
    this.#queues.refusals.delete(digest);
  }

  #remember(digest: string, fault: string): void {
    this.#queues.refusals.set(digest, { fault, until: this.#clock.now() + REFUSAL_MS });
    forgetOldest(this.#queues.refusals, REFUSALS_MAX);
  }
}

function limitOf(limits: LimitOptions): VerifyQueue {
  const refusal = () =>
    new FarthingError(
      'overloaded',
      'Too many payments wait for the facilitator to verify them. Nothing was charged; try again in a moment.',
      { retryAfterS: 2 },
    );
  return { limit: new Limit(limits, refusal) };
}

function adaptiveOf(limits: LimitOptions & { readonly insideMax: number }): VerifyQueue {
  const adaptive = new AdaptiveLimit(limits.insideMax);
  return { ...limitOf({ ...limits, insideMax: adaptive }), adaptive };
}

function digestOf(payment: Payment): string {
  return hash('sha256', authorizationText(payment), 'base64');
}
