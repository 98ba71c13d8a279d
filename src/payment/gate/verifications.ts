import { createHash } from 'node:crypto';
import type { Clock } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import type { Owners } from '@farthing/queues/owners';
import { Turnstile, type TurnstileLimits } from '@farthing/queues/turnstile';
import type { Facilitator } from '../facilitator/facilitator.ts';
import { GradientLimit } from '../facilitator/gradient-limit.ts';
import { faultOf } from '../facilitator/reasons.ts';
import { PaymentRefused } from '../fault.ts';
import { authorizationText, type Payment, type Terms } from '../payment.ts';
import { isOfContract } from '../signature.ts';
import { clientGone } from './attempt.ts';

const WAIT_MS_MAX = 5000;
/**
 * Anybody can make up wallets: all that never paid together have one share of the facilitator. `insideMax` is reached while the facilitator
 * is no slower for it: a payer's call must not wait there behind theirs.
 */
const OF_STRANGERS: TurnstileLimits = {
  insideMax: 64,
  ownerInsideMax: 16,
  waitingMax: 512,
  waitMsMax: WAIT_MS_MAX,
};
const OF_PAYERS = {
  ...OF_STRANGERS,
  insideMax: 128,
  ownerInsideMax: 64,
  waitingMax: 1024,
};
/** Only the facilitator can judge contract wallets' signatures, and made-up ones cost nothing. */
const OF_CONTRACTS = {
  ...OF_STRANGERS,
  insideMax: 8,
  ownerInsideMax: 2,
  waitingMax: 128,
};
const OF_PAYING_CONTRACTS = { ...OF_CONTRACTS, ownerInsideMax: 4 };
/** A contract wallet can be given money, or be deployed: a refusal does not hold for long. */
const REFUSAL_MS = 30_000;
const REFUSALS_MAX = 4096;

interface Refusal {
  readonly fault: string;
  readonly until: number;
}

/** Where payments wait for the facilitator. */
interface Line {
  readonly turnstile: Turnstile;
  /** Of strangers: it learns from each call. */
  readonly limit?: GradientLimit;
}

/**
 * The four lines in which all gates of a process wait for a facilitator: of payers that have paid before and of strangers, each for
 * plain and for contract wallets. So strangers, however many, delay no payer, and contract wallets no plain one.
 */
export class VerificationLines {
  readonly #plain = { payers: payersLine(OF_PAYERS), strangers: strangersLine(OF_STRANGERS) };
  readonly #contracts = {
    payers: payersLine(OF_PAYING_CONTRACTS),
    strangers: strangersLine(OF_CONTRACTS),
  };
  readonly #owners: Pick<Owners, 'knows'>;
  /** Refused authorizations, by digest. */
  readonly refusals = new Map<string, Refusal>();

  constructor(owners: Pick<Owners, 'knows'>) {
    this.#owners = owners;
  }

  /** The line in which a payment waits for its verification. */
  of(payment: Payment): Line {
    const lines = isOfContract(payment) ? this.#contracts : this.#plain;
    return this.#owners.knows(payment.payer) ? lines.payers : lines.strangers;
  }
}

/** The verifications that one gate asks its facilitator for. */
export class Verifications {
  readonly #facilitator: Facilitator;
  readonly #clock: Clock;
  readonly #lines: VerificationLines;

  constructor({
    facilitator,
    clock,
    lines,
  }: {
    facilitator: Facilitator;
    clock: Clock;
    lines: VerificationLines;
  }) {
    this.#facilitator = facilitator;
    this.#clock = clock;
    this.#lines = lines;
  }

  /**
   * Milliseconds that the facilitator took, waiting for the turn included. `isKnown`: asked when the turn comes, since a copy may
   * have been proved by then. @throws PaymentRefused, facilitator_unavailable, overloaded
   */
  async verify(
    payment: Payment,
    terms: Terms,
    { signal, isKnown = () => false }: { signal: AbortSignal; isKnown?: () => boolean },
  ): Promise<number> {
    const startedAt = performance.now();
    const digest = digestOf(payment);
    this.#refuseAgain(digest);
    const { turnstile, limit } = this.#lines.of(payment);
    const ask = () => this.#facilitator.verify(payment, terms);
    await turnstile.pass(
      payment.payer,
      async () => {
        this.#refuseAgain(digest);
        if (isKnown()) return;
        const verification = await (limit ? limit.measured(ask) : ask());
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
    const refusal = this.#lines.refusals.get(digest);
    if (!refusal) return;
    const leftMs = refusal.until - this.#clock.now();
    if (leftMs > 0 && leftMs <= REFUSAL_MS) throw new PaymentRefused(refusal.fault);
    this.#lines.refusals.delete(digest);
  }

  #remember(digest: string, fault: string): void {
    this.#lines.refusals.set(digest, { fault, until: this.#clock.now() + REFUSAL_MS });
    forgetOldest(this.#lines.refusals, REFUSALS_MAX);
  }
}

function payersLine(limits: TurnstileLimits): Line {
  return { turnstile: turnstileOf(limits) };
}

function strangersLine(limits: TurnstileLimits): Line {
  const limit = new GradientLimit(limits.insideMax);
  const byPace = {
    ...limits,
    get insideMax() {
      return limit.value;
    },
  };
  return { turnstile: turnstileOf(byPace), limit };
}

function turnstileOf(limits: TurnstileLimits): Turnstile {
  return new Turnstile(
    limits,
    () =>
      new FarthingError(
        'overloaded',
        'Too many payments wait for the facilitator to verify them. Nothing was charged; try again in a moment.',
        { retryAfterS: 2 },
      ),
  );
}

function digestOf(payment: Payment): string {
  return createHash('sha256').update(authorizationText(payment)).digest('base64');
}
