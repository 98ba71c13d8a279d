import { setTimeout as after } from 'node:timers/promises';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import type { Asset } from '../asset.ts';
import type { Payment, Terms } from '../payment.ts';
import { isLong, isOfContract } from '../signature.ts';
import type { PaymentTerms } from '../wire/challenge.ts';
import { type ChainWitness, provenBy, refusedBy, type Sighting } from './chain-witness.ts';
import type { Caller, Circuit } from './circuit.ts';
import type { Facilitator, FacilitatorHealth, Settlement, Verification } from './facilitator.ts';
import { type FacilitatorAddress, FacilitatorClient } from './facilitator-client.ts';
import { faultOf, mayPass, saysUsed } from './reasons.ts';
import type { Heard, Settler, Told } from './settler.ts';
import { settlementTooDear } from './too-dear.ts';

export interface RemoteFacilitatorDeps extends PaymentTerms {
  /** The coins that it has to settle. */
  readonly assets: readonly Asset[];
  /** In the order in which they are asked; at least one. */
  readonly facilitators: readonly (FacilitatorAddress | Settler)[];
  readonly clock: Clock;
  readonly witness?: ChainWitness;
  /** The witness is asked about settlements that the facilitator says it made, too. */
  readonly confirms?: boolean;
  /** Milliseconds between two looks for a transfer that the facilitator says it made. */
  readonly confirmIntervalMs?: number;
  readonly verifyDeadlineMs?: number;
  readonly settleDeadlineMs?: number;
  /** True for a wallet that has paid since the start. Absent: none has. */
  readonly knows?: (payer: Address) => boolean;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** Outcome reported by a settler that refuses the nonce as used. */
const USED: Settlement = { kind: 'settled', transaction: '', unproven: true };
const VERIFY_DEADLINE_MS = 5000;
/** Settling on Base takes 2 to 3 s, with a tail of 10 to 28 s. */
const SETTLE_DEADLINE_MS = 30_000;
const RECONCILE_DEADLINE_MS = 10_000;
const RETRY_AFTER_S = 5;
/** A node shows a block of Base within two seconds or so of the facilitator's. */
const CONFIRM_LOOKS_MAX = 8;
const CONFIRM_INTERVAL_MS = 500;
/** A block of Base comes every two seconds. */
const ONCE_MORE_MS = 1000;
/** How long an authorization that is valid from now on waits for a facilitator whose chain is behind. */
const EARLY_MS_MAX = 3000;
const EARLY_PAUSE_MS = 500;

interface PaymentCaller extends Caller {
  readonly isContract: boolean;
}

/**
 * Facilitators over HTTP, as the x402 specification describes them, and this server's own. The first that answers verifies. The first settles, and the next only
 * if nothing was sent to the chain, or if the witness shows the nonce unused; the nonce makes a second settlement harmless. An answer
 * that names another payer, or a settlement without a transaction, is trouble of the facilitator and never an answer 402.
 */
export class RemoteFacilitator implements Facilitator {
  readonly outcomeIsKnowable = false;
  readonly verifiesContractWallets = true;
  readonly #parts: RemoteFacilitatorDeps;
  readonly #clients: readonly Settler[];
  #trouble: string | undefined;
  /** The last check's, in a line. */
  #faults = '';

  constructor(parts: RemoteFacilitatorDeps) {
    const { facilitators, ...common } = parts;
    this.#parts = parts;
    this.#clients = facilitators.map((named) =>
      'settle' in named ? named : new FacilitatorClient({ ...common, address: named }),
    );
  }

  /** Reads what each settles. @throws facilitator_unavailable when nothing can be sold through any */
  async connect(): Promise<void> {
    const troubles = await Promise.all(
      this.#clients.map(async (client) => ({ url: client.url, trouble: await client.read() })),
    );
    const found = troubles.filter(({ trouble }) => trouble !== undefined);
    if (found.length === this.#clients.length)
      throw this.#unavailable(found.map(({ url, trouble }) => `${url}: ${trouble}`).join('; '));
    for (const { url, trouble } of found)
      this.#parts.log({ level: 'warn', event: 'facilitator_trouble', url, detail: trouble });
    this.#trouble = undefined;
  }

  /** Tries a harmless verification at each. @returns whether all can verify payments */
  async check(): Promise<boolean> {
    const found = await Promise.all(
      this.#clients.map(async (client) => ({ url: client.url, fault: await client.check?.() })),
    );
    const faults = found.flatMap(({ url, fault }) => (fault === undefined ? [] : [`${url}: ${fault}`]));
    const told = faults.join('; ');
    if (told !== this.#faults && told !== '')
      this.#parts.log({ level: 'warn', event: 'facilitator_cannot_verify', detail: told });
    this.#faults = told;
    return faults.length === 0;
  }

  async verify(payment: Payment, terms: Terms): Promise<Verification> {
    const caller = this.#caller(payment);
    const settlers = this.#settlersOf(payment);
    const settlesIn = Math.min(...settlers.map(({ settling }) => settling.waitMs(caller)));
    if (settlesIn > 0) throw this.#unavailable(this.#trouble ?? '', settlesIn);
    if (this.tooDear(terms.amount) !== undefined) throw settlementTooDear();
    if (await this.#isGarbage(payment)) return { valid: false, reason: 'invalid_signature' };
    let trouble: string | undefined;
    // A single one is asked twice.
    for (const client of settlers.length > 1 ? settlers : [...settlers, ...settlers]) {
      if (restMs(client, 'verify') > 0 || !admits(client.verifying, caller)) continue;
      const judged = await this.#verifyAt(client, payment, terms);
      if (typeof judged !== 'string') {
        if (client === this.#clients[0]) this.#trouble = undefined;
        return judged;
      }
      trouble = `${client.url}: ${judged}`;
    }
    const waitMs = Math.min(
      ...settlers.map((client) => Math.max(client.verifying.waitMs(caller), restMs(client, 'verify'))),
    );
    throw this.#unavailable(trouble ?? this.#trouble ?? '', waitMs);
  }

  /** Whether a signature of a contract's form is worthless: a payer without code signed nothing. @throws facilitator_unavailable */
  async #isGarbage(payment: Payment): Promise<boolean> {
    const { witness } = this.#parts;
    if (!witness?.isContract || !isOfContract(payment) || isLong(payment)) return false;
    try {
      return !(await witness.isContract(payment));
    } catch (error) {
      throw this.#unavailable((error as Error).message);
    }
  }

  async settle(payment: Payment, terms: Terms): Promise<Settlement> {
    return this.#withSender(await this.#settle(payment, terms));
  }

  async #settle(payment: Payment, terms: Terms): Promise<Settlement> {
    const caller = this.#caller(payment);
    const deadlineMs = this.#parts.settleDeadlineMs ?? SETTLE_DEADLINE_MS;
    const settlers = this.#settlersOf(payment);
    let unsent: string | undefined;
    let turnedAway = false;
    let isTooDear = false;
    let judged: Settlement | undefined;
    for (const client of settlers) {
      // While the circuit is open the first to come so far is the trial: a purchase that ends before it settles uses none up.
      if (!admits(client.settling, caller)) continue;
      const told = await this.#settleOnceMore(client, payment, terms, deadlineMs);
      if (told.kind === 'not_sent' || (told.kind === 'turned_away' && !this.#parts.witness)) {
        turnedAway ||= told.kind === 'turned_away';
        isTooDear = told.kind === 'not_sent' && told.tooDear === true;
        unsent = told.detail;
        this.#note(client, told.detail);
        continue;
      }
      // The nonce was free when the payment was verified: the settler that turned it away did settle.
      if (turnedAway && told.kind === 'refused' && saysUsed(told.reason)) return USED;
      this.#trouble = undefined;
      if ('detail' in told) this.#note(client, told.detail);
      // Until the first judgement no other settler was asked.
      const isFirst = judged === undefined;
      judged = await this.#judge(told, payment, terms, client.isWitness && isFirst);
      if (judged.kind !== 'unknown' || client === settlers.at(-1)) return judged;
      const seen = await this.#look(payment);
      if (seen?.kind !== 'unused') return provenIn(seen, payment) ?? judged;
    }
    if (judged) return judged;
    if (isTooDear) throw settlementTooDear();
    const waitMs = Math.min(
      ...settlers.map((client) => Math.max(client.settling.waitMs(caller), restMs(client, 'settle'))),
    );
    throw this.#unavailable(unsent ?? this.#trouble ?? '', waitMs);
  }

  /** Asks the chain where there is a witness; otherwise the settlement is sent again, which the nonce makes harmless. */
  async reconcile(payment: Payment, terms: Terms): Promise<Settlement | { kind: 'absent' }> {
    return this.#withSender(await this.#reconcile(payment, terms));
  }

  /** A transaction that the chain showed may be one that this server sent. */
  async #withSender<T extends Settlement | { readonly kind: 'absent' }>(settlement: T): Promise<T> {
    if (settlement.kind !== 'settled' || settlement.by || settlement.transaction === '') return settlement;
    for (const client of this.#clients) {
      const by = await client.sent?.(settlement.transaction).catch(() => undefined);
      if (by) return { ...settlement, by };
    }
    return settlement;
  }

  async #reconcile(payment: Payment, terms: Terms): Promise<Settlement | { kind: 'absent' }> {
    const { witness, settleDeadlineMs = SETTLE_DEADLINE_MS } = this.#parts;
    const seen = await this.#look(payment);
    const proven = provenBy(seen, payment);
    if (proven) return proven;
    const deadlineMs = Math.min(settleDeadlineMs, RECONCILE_DEADLINE_MS);
    let judged: Settlement = { kind: 'unknown', detail: `nobody settles on ${payment.asset.network}` };
    for (const client of this.#clients.filter((each) => each.settles(payment.asset))) {
      const again = await this.#settleAt(client, payment, terms, deadlineMs, 'again');
      if (again.kind === 'refused' && !witness) {
        // The nonce was free when the payment was verified: what used it is the settlement whose answer was lost.
        if (saysUsed(again.reason)) return USED;
        return { kind: 'unknown', detail: `refused on repetition: ${again.reason}` };
      }
      judged = await this.#judge(again, payment, terms, client.isWitness && this.#clients.length === 1);
      const wasSent = again.kind !== 'not_sent' && again.kind !== 'turned_away';
      if (judged.kind !== 'unknown' || (wasSent && seen?.kind !== 'unused')) return judged;
    }
    return judged;
  }

  /**
   * Judges a settler's response: where there is a witness, only a success counts, and only unless it must be confirmed, too.
   * @param isProven it has looked at the chain itself, and no other settler was asked
   */
  async #judge(response: Told, payment: Payment, terms: Terms, isProven: boolean): Promise<Settlement> {
    const confirms = this.#parts.confirms || terms.isAdvance;
    const witness = isProven ? undefined : this.#parts.witness;
    switch (response.kind) {
      case 'settled':
        return witness && confirms ? await this.#confirm(response, payment) : response;
      case 'refused': {
        if (!witness) return response;
        const proven = provenBy(await this.#look(payment), payment, response.reason);
        if (proven?.kind === 'settled') this.#contradicted(response.reason, payment);
        if (proven?.kind === 'absent') return response;
        return (
          proven ?? { kind: 'unknown', detail: `refused, which the chain does not show: ${response.reason}` }
        );
      }
      case 'unknown':
      case 'turned_away':
      case 'not_sent':
        return { kind: 'unknown', detail: response.detail };
      default:
        return response satisfies never;
    }
  }

  /** Looks for a transfer that the facilitator says it made, for a few seconds. */
  async #confirm(
    { transaction, by }: Extract<Settlement, { kind: 'settled' }>,
    payment: Payment,
  ): Promise<Settlement> {
    for (let looks = 1; ; looks++) {
      const proven = provenBy(await this.#look(payment, transaction), payment);
      if (proven?.kind === 'settled') {
        const isTold = proven.transaction === '' || proven.transaction === transaction;
        return isTold ? { ...proven, transaction, by } : proven;
      }
      if (proven && proven.kind !== 'absent') return proven;
      if (looks === CONFIRM_LOOKS_MAX || proven) break;
      await after(this.#parts.confirmIntervalMs ?? CONFIRM_INTERVAL_MS);
    }
    this.#contradicted(`settled by ${transaction}`, payment);
    return { kind: 'unknown', detail: `the chain does not show the transfer of ${transaction}` };
  }

  #contradicted(claim: string, { payer, nonce }: Payment): void {
    this.#trouble = `the chain shows otherwise than it said: ${claim.slice(0, 100)}`;
    this.#parts.log({ level: 'error', event: 'facilitator_contradicted', told: claim, payer, nonce });
  }

  /** See `Facilitator.tooDear`: what one settles at a loss another may settle for nothing. */
  tooDear(amount: bigint): string | undefined {
    const reasons = this.#clients.map((client) => client.tooDear?.(amount));
    return reasons.includes(undefined) ? undefined : reasons[0];
  }

  health(): FacilitatorHealth {
    const obstacles = this.#clients.map((client) => ({ url: client.url, obstacle: client.obstacle() }));
    const inTheWay = obstacles.filter(({ obstacle }) => obstacle !== undefined);
    const sells = inTheWay.length < obstacles.length;
    const told = inTheWay.map(({ url, obstacle }) => `${url}: ${obstacle}`).join('; ');
    const trouble = this.#trouble ?? (sells && told !== '' ? told : undefined);
    const extensions = this.#clients.find((client) => client.extensions !== undefined)?.extensions;
    const gas = this.#clients.map((client) => client.gas()).find((each) => each !== undefined);
    const [first] = this.#clients;
    return {
      kind: first!.isWitness ? 'self' : 'remote',
      movesMoney: true,
      url: first!.url,
      ...(trouble !== undefined && { trouble }),
      ...(!sells && { obstacle: told }),
      ...(gas && { gas }),
      ...(extensions !== undefined && { extensions }),
    };
  }

  /** @throws facilitator_unavailable when none settles in the payment's coin */
  #settlersOf({ asset }: Payment): readonly Settler[] {
    const settlers = this.#clients.filter((client) => client.settles(asset));
    if (settlers.length === 0) throw this.#unavailable(`no facilitator settles on ${asset.network}`);
    return settlers;
  }

  #caller(payment: Payment): PaymentCaller {
    const { payer } = payment;
    const isContract = isOfContract(payment);
    return { payer, isContract, isKnown: !isContract && (this.#parts.knows?.(payer) ?? false) };
  }

  async #look(payment: Payment, hint?: string): Promise<Sighting | undefined> {
    try {
      const seen = await this.#parts.witness?.look(payment, hint);
      if (seen?.kind === 'settled' && seen.unread !== undefined)
        this.#parts.log({
          level: 'warn',
          event: 'chain_log_unread',
          nonce: payment.nonce,
          detail: seen.unread,
        });
      return seen;
    } catch (error) {
      this.#parts.log({ level: 'warn', event: 'chain_unreachable', error });
      return undefined;
    }
  }

  /** The verification, or what is wrong with the facilitator. */
  async #verifyAt(client: Settler, payment: Payment, terms: Terms): Promise<Verification | string> {
    const deadlineMs = this.#parts.verifyDeadlineMs ?? VERIFY_DEADLINE_MS;
    const { told: judged, works } = await this.#heardInTime(payment, () =>
      client.verify(payment, terms, deadlineMs),
    );
    const caller = this.#caller(payment);
    const isUndecided = typeof judged === 'string' && !caller.isContract;
    const refused = isUndecided ? refusedBy(await this.#look(payment), payment) : undefined;
    // A payment that the chain refuses is at fault itself, whatever became of the call.
    if (refused !== undefined) return { valid: false, reason: refused };
    report(client.verifying, caller, works);
    return judged;
  }

  /** Asks again while the facilitator calls an authorization early that is valid by this clock: a block's time is behind. */
  async #heardInTime<T extends Heard<Verification | string>>(
    { validAfter }: Payment,
    ask: () => Promise<T>,
  ): Promise<T> {
    const until = performance.now() + EARLY_MS_MAX;
    for (;;) {
      const heard = await ask();
      const { told } = heard;
      const isEarly =
        typeof told !== 'string' && !told.valid && faultOf(told.reason) === 'authorization_not_yet_valid';
      const isValid = validAfter * 1000n <= BigInt(Math.floor(this.#parts.clock.now()));
      if (!isEarly || !isValid || performance.now() >= until) return heard;
      await after(EARLY_PAUSE_MS);
    }
  }

  async #settleAt(
    client: Settler,
    payment: Payment,
    terms: Terms,
    deadlineMs: number,
    time: 'first' | 'again',
  ): Promise<Told> {
    const { told, works } = await client.settle(payment, terms, deadlineMs);
    // One payment that is asked for again and again says nothing about the others: it does not open the circuit.
    if (time === 'first' || works) report(client.settling, this.#caller(payment), works);
    return told;
  }

  /** A refusal that may be temporary does not lose the sale: the same authorization is sent once more, which moves nothing twice. */
  async #settleOnceMore(client: Settler, payment: Payment, terms: Terms, deadlineMs: number): Promise<Told> {
    const told = await this.#settleAt(client, payment, terms, deadlineMs, 'first');
    if (told.kind !== 'refused' || !mayPass(told.reason)) return told;
    await after(ONCE_MORE_MS);
    return this.#settleAt(client, payment, terms, deadlineMs, 'again');
  }

  #note(client: Settler, detail: string): void {
    this.#trouble = `${client.url}: ${detail}`;
  }

  #unavailable(detail: string, waitMs = 0): FarthingError {
    this.#trouble = detail;
    this.#parts.log({ level: 'warn', event: 'facilitator_trouble', url: this.#clients[0]!.url, detail });
    return new FarthingError(
      'facilitator_unavailable',
      'The payment facilitator does not work right now. Nothing was charged; try again later.',
      { retryAfterS: Math.max(RETRY_AFTER_S, Math.ceil(waitMs / 1000)) },
    );
  }
}

function restMs(client: Settler, call: 'verify' | 'settle'): number {
  return client.restMs?.(call) ?? 0;
}

function provenIn(seen: Sighting | undefined, payment: Payment): Settlement | undefined {
  const proven = provenBy(seen, payment);
  return proven?.kind === 'absent' ? undefined : proven;
}

/** A contract wallet's code decides how its call ends, and anybody can make one up: it is no trial, and opens and closes nothing. */
function admits(circuit: Circuit, caller: PaymentCaller): boolean {
  return caller.isContract ? circuit.waitMs() === 0 : circuit.admits(caller);
}

function report(circuit: Circuit, caller: PaymentCaller, isWorking: boolean): void {
  if (caller.isContract) return;
  if (isWorking) circuit.succeeded();
  else circuit.failed(caller);
}
