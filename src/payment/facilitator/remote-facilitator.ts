import { setTimeout as after } from 'node:timers/promises';
import type { Address } from '../../domain/address.ts';
import type { Clock } from '../../domain/clock.ts';
import { FarthingError } from '../../domain/error.ts';
import type { Asset } from '../asset.ts';
import type { Payment, Terms } from '../payment.ts';
import { isOfContract } from '../signature.ts';
import type { PaymentTerms } from '../wire/challenge.ts';
import { type ChainWitness, provenBy, refusedBy, type Sighting } from './chain-witness.ts';
import { type Caller, Circuit } from './circuit.ts';
import type { Facilitator, FacilitatorHealth, Settlement, Verification } from './facilitator.ts';
import { exchangeJson, type JsonReply } from './json-http.ts';
import {
  isAnswer,
  readSettlement,
  readSupported,
  readVerification,
  requestBody,
  type Supported,
} from './messages.ts';
import { saysUsed } from './reasons.ts';

export interface RemoteFacilitatorDeps extends PaymentTerms {
  /** The coins that it has to settle. */
  readonly assets: readonly Asset[];
  /** Address without a trailing path: `/verify`, `/settle` and `/supported` are below it. */
  readonly url: string;
  /** For the facilitator that settles; the others never get it. */
  readonly bearerToken?: string;
  /** Facilitators that are asked to verify, in turn, when the first does not answer. They never settle. */
  readonly verifyUrls?: readonly string[];
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

const VERIFY_DEADLINE_MS = 5000;
/** Settling on Base takes 2 to 3 s, with a tail of 10 to 28 s. */
const SETTLE_DEADLINE_MS = 30_000;
const RECONCILE_DEADLINE_MS = 10_000;
const SUPPORTED_DEADLINE_MS = 5000;
const RETRY_AFTER_S = 5;
/** A node shows a block of Base within two seconds or so of the facilitator's. */
const CONFIRM_LOOKS_MAX = 8;
const CONFIRM_INTERVAL_MS = 500;

/** A settlement in the facilitator's own words. */
type Told = Settlement | { readonly kind: 'not_sent' | 'turned_away'; readonly detail: string };

interface PaymentCaller extends Caller {
  readonly isContract: boolean;
}

/** One address that is asked, and how it has been doing. */
interface Peer {
  readonly url: string;
  readonly bearerToken?: string;
  readonly verifying: Circuit;
  /** What it settles; empty until it has answered. */
  supported: Supported;
  /** The reading of it that is under way. */
  reading?: Promise<unknown>;
}

/**
 * A facilitator over HTTP, as the x402 specification describes it. An answer that names another payer, or a settlement
 * without a transaction, is trouble of the facilitator and never an answer 402.
 */
export class RemoteFacilitator implements Facilitator {
  readonly outcomeIsKnowable = false;
  readonly verifiesContractWallets = true;
  readonly #parts: RemoteFacilitatorDeps;
  readonly #first: Peer;
  readonly #further: readonly Peer[];
  /** Asked to verify, in this order; a single one is asked twice. */
  readonly #verifiers: readonly Peer[];
  /** Open: the outcome would not be known soon, so no payment begins. */
  readonly #settling: Circuit;
  #trouble: string | undefined;

  constructor(parts: RemoteFacilitatorDeps) {
    this.#parts = parts;
    this.#first = this.#peer(parts.url, parts.bearerToken);
    this.#further = (parts.verifyUrls ?? []).map((url) => this.#peer(url));
    this.#verifiers = this.#further.length > 0 ? [this.#first, ...this.#further] : [this.#first, this.#first];
    this.#settling = this.#circuit(`${this.#first.url}/settle`);
  }

  /** Reads what each supports. Only the first has to answer: a further one may come later. */
  async connect(): Promise<void> {
    const [trouble] = await Promise.all(
      [this.#first, ...this.#further].map((peer) => this.#readSupported(peer)),
    );
    if (trouble !== undefined) throw this.#unavailable(trouble);
    this.#trouble = undefined;
  }

  async verify(payment: Payment, terms: Terms): Promise<Verification> {
    const caller = this.#caller(payment);
    const settlesIn = this.#settling.waitMs(caller);
    if (settlesIn > 0) throw this.#unavailable(this.#trouble ?? '', settlesIn);
    let trouble: string | undefined;
    for (const peer of this.#verifiers) {
      if (!admits(peer.verifying, caller)) continue;
      const judged = await this.#verifyAt(peer, payment, terms);
      if (typeof judged !== 'string') {
        if (peer === this.#first) this.#trouble = undefined;
        return judged;
      }
      trouble = `${peer.url}: ${judged}`;
    }
    const waitMs = Math.min(...this.#verifiers.map(({ verifying }) => verifying.waitMs(caller)));
    throw this.#unavailable(trouble ?? this.#trouble ?? '', waitMs);
  }

  async settle(payment: Payment, terms: Terms): Promise<Settlement> {
    // While the circuit is open the first to come so far is the trial: a purchase that ends before it settles uses none up.
    const caller = this.#caller(payment);
    if (!admits(this.#settling, caller))
      throw this.#unavailable(this.#trouble ?? '', this.#settling.waitMs(caller));
    const deadlineMs = this.#parts.settleDeadlineMs ?? SETTLE_DEADLINE_MS;
    const response = await this.#settleOnce(payment, terms, deadlineMs, 'first');
    if (response.kind === 'not_sent' || (response.kind === 'turned_away' && !this.#parts.witness))
      throw this.#unavailable(response.detail);
    this.#trouble = 'detail' in response ? response.detail : undefined;
    return await this.#judge(response, payment);
  }

  /** With a witness the chain decides; without one the settlement is sent again, which the nonce makes harmless. */
  async reconcile(payment: Payment, terms: Terms): Promise<Settlement | { kind: 'absent' }> {
    const proven = provenBy(await this.#look(payment), payment);
    if (proven) return proven;
    const deadlineMs = Math.min(this.#parts.settleDeadlineMs ?? SETTLE_DEADLINE_MS, RECONCILE_DEADLINE_MS);
    const again = await this.#settleOnce(payment, terms, deadlineMs, 'again');
    if (again.kind !== 'refused' || this.#parts.witness) return await this.#judge(again, payment);
    // The nonce was free when the payment was verified: what used it is the settlement whose answer was lost.
    if (saysUsed(again.reason)) return { kind: 'settled', transaction: '' };
    return { kind: 'unknown', detail: `refused on repetition: ${again.reason}` };
  }

  /** What a facilitator's word is worth: where there is a witness, only a success, and that only unless it is confirmed, too. */
  async #judge(response: Told, payment: Payment): Promise<Settlement> {
    const { witness, confirms = false } = this.#parts;
    switch (response.kind) {
      case 'settled':
        return witness && confirms ? await this.#confirm(response.transaction, payment) : response;
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
  async #confirm(transaction: string, payment: Payment): Promise<Settlement> {
    for (let looks = 1; ; looks++) {
      const proven = provenBy(await this.#look(payment), payment);
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

  health(): FacilitatorHealth {
    return {
      kind: 'remote',
      movesMoney: true,
      url: this.#first.url,
      ...(this.#trouble !== undefined && { trouble: this.#trouble }),
    };
  }

  #caller(payment: Payment): PaymentCaller {
    const { payer } = payment;
    const isContract = isOfContract(payment);
    return { payer, isContract, isKnown: !isContract && (this.#parts.knows?.(payer) ?? false) };
  }

  #peer(url: string, bearerToken?: string): Peer {
    const bare = url.replace(/\/+$/, '');
    return { url: bare, bearerToken, supported: new Map(), verifying: this.#circuit(`${bare}/verify`) };
  }

  #circuit(endpoint: string): Circuit {
    const { clock, log } = this.#parts;
    return new Circuit({
      clock,
      onOpen: () => log({ level: 'warn', event: 'facilitator_circuit_open', of: endpoint }),
    });
  }

  async #look(payment: Payment): Promise<Sighting | undefined> {
    try {
      return await this.#parts.witness?.look(payment);
    } catch (error) {
      this.#parts.log({ level: 'warn', event: 'chain_unreachable', error });
      return undefined;
    }
  }

  /** A facilitator that was away at the start is asked again by whoever needs to know. */
  async #learnSupported(peer: Peer, { asset }: Payment): Promise<void> {
    if (peer.supported.has(asset.network)) return;
    peer.reading ??= this.#readSupported(peer).finally(() => {
      peer.reading = undefined;
    });
    await peer.reading;
  }

  /** What is wrong, if anything. */
  async #readSupported(peer: Peer): Promise<string | undefined> {
    const reply = await this.#exchange(peer, 'GET', 'supported', undefined, SUPPORTED_DEADLINE_MS);
    if (reply.kind !== 'reply') return reply.detail;
    const { assets } = this.#parts;
    const supported = readSupported(reply, assets);
    if (!supported) return `/supported answered ${reply.status}`;
    peer.supported = supported;
    const missing = assets.find(({ network }) => !supported.has(network));
    return missing && `it does not settle "exact" payments on ${missing.network}`;
  }

  /** The verification, or what is wrong with whom it asked. */
  async #verifyAt(peer: Peer, payment: Payment, terms: Terms): Promise<Verification | string> {
    await this.#learnSupported(peer, payment);
    const body = requestBody(payment, terms, this.#parts, peer.supported.get(payment.asset.network));
    const deadlineMs = this.#parts.verifyDeadlineMs ?? VERIFY_DEADLINE_MS;
    const reply = await this.#exchange(peer, 'POST', 'verify', body, deadlineMs);
    const judged = reply.kind === 'reply' ? readVerification(reply, payment) : reply.detail;
    const caller = this.#caller(payment);
    const isUndecided = typeof judged === 'string' && !caller.isContract;
    const refused = isUndecided ? refusedBy(await this.#look(payment), payment) : undefined;
    // A payment that the chain refuses is at fault itself, whatever became of the call.
    if (refused !== undefined) return { valid: false, reason: refused };
    report(peer.verifying, caller, isAnswer(reply));
    return judged;
  }

  async #settleOnce(
    payment: Payment,
    terms: Terms,
    deadlineMs: number,
    time: 'first' | 'again',
  ): Promise<Told> {
    await this.#learnSupported(this.#first, payment);
    const body = requestBody(payment, terms, this.#parts, this.#first.supported.get(payment.asset.network));
    const reply = await this.#exchange(this.#first, 'POST', 'settle', body, deadlineMs);
    // One payment that is asked for again and again says nothing about the others: it does not open the circuit.
    if (time === 'first' || isAnswer(reply)) report(this.#settling, this.#caller(payment), isAnswer(reply));
    if (reply.kind !== 'reply')
      return { kind: reply.kind === 'not_sent' ? 'not_sent' : 'unknown', detail: reply.detail };
    return readSettlement(reply, payment);
  }

  #exchange(
    { url, bearerToken }: Peer,
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    deadlineMs: number,
  ): Promise<JsonReply> {
    return exchangeJson(`${url}/${path}`, { method, body, bearerToken, deadlineMs });
  }

  #unavailable(detail: string, waitMs = 0): FarthingError {
    this.#trouble = detail;
    this.#parts.log({ level: 'warn', event: 'facilitator_trouble', url: this.#first.url, detail });
    return new FarthingError(
      'facilitator_unavailable',
      'The payment facilitator does not work right now. Nothing was charged; try again later.',
      { retryAfterS: Math.max(RETRY_AFTER_S, Math.ceil(waitMs / 1000)) },
    );
  }
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
