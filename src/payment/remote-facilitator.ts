import type { Clock } from '../domain/clock.ts';
import { FarthingError } from '../domain/error.ts';
import type { Address } from '../domain/payment.ts';
import { type Asset, displayedAddress, isNetworkOf } from './asset.ts';
import { requirementsV2 } from './challenge.ts';
import type { Facilitator, FacilitatorHealth, Settlement, Verification } from './facilitator.ts';
import { exchangeJson, type JsonReply } from './facilitator-http.ts';
import { isTrouble, saysUsed } from './facilitator-reason.ts';
import type { Payment, Terms } from './payment.ts';
import { own } from './strict-json.ts';

/** Looks on the chain itself whether an authorization was used, and by which transaction. */
export interface ChainWitness {
  /** @throws when the chain cannot be asked. */
  look(
    payment: Payment,
  ): Promise<{ kind: 'unused' } | { kind: 'settled'; transaction: string } | { kind: 'used_otherwise' }>;
}

export interface RemoteFacilitatorParts {
  /** Address without a trailing path: `/verify`, `/settle` and `/supported` are below it. */
  readonly url: string;
  readonly bearerToken?: string;
  readonly asset: Asset;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  readonly clock: Clock;
  readonly witness?: ChainWitness;
  readonly verifyDeadlineMs?: number;
  readonly settleDeadlineMs?: number;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

const VERIFY_DEADLINE_MS = 5000;
const VERIFY_ATTEMPTS = 2;
/** Settling on Base takes 2 to 3 s, with a tail of 10 to 28 s. */
const SETTLE_DEADLINE_MS = 30_000;
const RECONCILE_DEADLINE_MS = 10_000;
const SUPPORTED_DEADLINE_MS = 5000;
const RETRY_AFTER_S = 5;
/** Blocks may still carry an authorization for a moment after it ended by our clock. */
const CHAIN_LAG_S = 60n;
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;

/**
 * A facilitator over HTTP, as the x402 specification describes it. It is believed in nothing that cannot be right: an answer that
 * names another payer, or a settlement without a transaction, is trouble of the facilitator and never an answer 402.
 */
export class RemoteFacilitator implements Facilitator {
  readonly recalls = false;
  readonly judgesContracts = true;
  readonly #parts: RemoteFacilitatorParts;
  /** Versions of the protocol that it settles our network with; empty until it told. */
  #versions: readonly (1 | 2)[] = [];
  #trouble: string | undefined;

  constructor(parts: RemoteFacilitatorParts) {
    this.#parts = { ...parts, url: parts.url.replace(/\/+$/, '') };
  }

  async connect(): Promise<void> {
    const reply = await this.#exchange('GET', 'supported', undefined, SUPPORTED_DEADLINE_MS);
    const kinds = reply.kind === 'reply' ? own(reply.body, 'kinds') : undefined;
    if (reply.kind !== 'reply' || reply.status !== 200 || !Array.isArray(kinds)) {
      throw this.#unavailable(reply.kind === 'reply' ? `/supported answered ${reply.status}` : reply.detail);
    }
    const ours = kinds.filter(
      (kind) =>
        own(kind, 'scheme') === 'exact' && isNetworkOf(this.#parts.asset, String(own(kind, 'network'))),
    );
    this.#versions = ([1, 2] as const).filter((version) =>
      ours.some((kind) => own(kind, 'x402Version') === version),
    );
    if (this.#versions.length === 0) {
      throw this.#unavailable(`it does not settle "exact" payments on ${this.#parts.asset.network}`);
    }
    this.#trouble = undefined;
  }

  async verify(payment: Payment, terms: Terms): Promise<Verification> {
    let trouble = '';
    for (let attempt = 1; attempt <= VERIFY_ATTEMPTS; attempt++) {
      const body = this.#requestBody(payment, terms);
      const reply = await this.#exchange(
        'POST',
        'verify',
        body,
        this.#parts.verifyDeadlineMs ?? VERIFY_DEADLINE_MS,
      );
      const judged = reply.kind === 'reply' ? readVerification(reply, payment) : reply.detail;
      if (typeof judged !== 'string') {
        this.#trouble = undefined;
        return judged;
      }
      trouble = judged;
    }
    throw this.#unavailable(trouble);
  }

  async settle(payment: Payment, terms: Terms): Promise<Settlement> {
    const settlement = await this.#settleOnce(
      payment,
      terms,
      this.#parts.settleDeadlineMs ?? SETTLE_DEADLINE_MS,
    );
    if (settlement.kind === 'not_sent') throw this.#unavailable(settlement.detail);
    this.#trouble = settlement.kind === 'unknown' ? settlement.detail : undefined;
    return settlement;
  }

  /** With a witness the chain decides; without one the settlement is sent again, which the nonce makes harmless. */
  async reconcile(payment: Payment, terms: Terms): Promise<Settlement | { kind: 'absent' }> {
    const seen = await this.#look(payment);
    if (seen?.kind === 'settled') return { kind: 'settled', transaction: seen.transaction };
    if (seen?.kind === 'used_otherwise') return { kind: 'refused', reason: 'authorization_already_used' };
    const now = BigInt(Math.floor(this.#parts.clock.now() / 1000));
    if (seen?.kind === 'unused' && now > payment.validBefore + CHAIN_LAG_S) return { kind: 'absent' };
    const again = await this.#settleOnce(
      payment,
      terms,
      Math.min(this.#parts.settleDeadlineMs ?? SETTLE_DEADLINE_MS, RECONCILE_DEADLINE_MS),
    );
    if (again.kind === 'settled') return again;
    if (again.kind === 'refused') {
      // The nonce was free when the payment was verified: what used it is the settlement whose answer was lost.
      if (saysUsed(again.reason) && !this.#parts.witness) return { kind: 'settled', transaction: '' };
      return { kind: 'unknown', detail: `refused on repetition: ${again.reason}` };
    }
    return { kind: 'unknown', detail: again.detail };
  }

  health(): FacilitatorHealth {
    return {
      kind: 'remote',
      movesMoney: true,
      url: this.#parts.url,
      ...(this.#trouble !== undefined && { trouble: this.#trouble }),
    };
  }

  async #look(payment: Payment) {
    try {
      return await this.#parts.witness?.look(payment);
    } catch (error) {
      this.#parts.log({ level: 'warn', event: 'chain_unreachable', error });
      return undefined;
    }
  }

  async #settleOnce(
    payment: Payment,
    terms: Terms,
    deadlineMs: number,
  ): Promise<Settlement | { kind: 'not_sent'; detail: string }> {
    const reply = await this.#exchange('POST', 'settle', this.#requestBody(payment, terms), deadlineMs);
    if (reply.kind !== 'reply')
      return { kind: reply.kind === 'not_sent' ? 'not_sent' : 'unknown', detail: reply.detail };
    return readSettlement(reply, payment, this.#parts.asset);
  }

  #exchange(method: 'GET' | 'POST', path: string, body: unknown, deadlineMs: number): Promise<JsonReply> {
    const { url, bearerToken } = this.#parts;
    return exchangeJson(`${url}/${path}`, { method, body, bearerToken, deadlineMs });
  }

  /** The payment in the client's version, or in the one that this facilitator has: the signed message names neither. */
  #requestBody(payment: Payment, terms: Terms): object {
    const version = this.#versions.includes(payment.version)
      ? payment.version
      : (this.#versions.at(-1) ?? payment.version);
    return version === 1 ? this.#bodyV1(payment, terms) : this.#bodyV2(payment, terms);
  }

  #bodyV1(payment: Payment, { amount, resource, description }: Terms): object {
    const { asset, payTo, maxTimeoutSeconds } = this.#parts;
    const network = asset.networkNameV1;
    return {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network, payload: payloadOf(payment) },
      paymentRequirements: {
        scheme: 'exact',
        network,
        maxAmountRequired: amount.toString(),
        resource,
        description,
        mimeType: 'application/json',
        payTo: displayedAddress(payTo),
        maxTimeoutSeconds,
        asset: displayedAddress(asset.address),
        extra: { name: asset.name, version: asset.version },
      },
    };
  }

  #bodyV2(payment: Payment, { amount, resource, description, bazaar }: Terms): object {
    const accepted = requirementsV2(amount, this.#parts);
    return {
      x402Version: 2,
      paymentPayload: {
        x402Version: 2,
        resource: { url: resource, description, mimeType: 'application/json' },
        accepted,
        payload: payloadOf(payment),
        ...(bazaar && { extensions: { bazaar } }),
      },
      paymentRequirements: accepted,
    };
  }

  #unavailable(detail: string): FarthingError {
    this.#trouble = detail;
    this.#parts.log({ level: 'warn', event: 'facilitator_trouble', url: this.#parts.url, detail });
    return new FarthingError(
      'facilitator_unavailable',
      'The payment facilitator does not work right now. Nothing was charged; try again later.',
      {
        retryAfterS: RETRY_AFTER_S,
      },
    );
  }
}

function payloadOf({ payer, payTo, value, validAfter, validBefore, nonce, signature }: Payment): object {
  return {
    signature,
    authorization: {
      from: payer,
      to: payTo,
      value: value.toString(),
      validAfter: validAfter.toString(),
      validBefore: validBefore.toString(),
      nonce,
    },
  };
}

type Reply = Extract<JsonReply, { kind: 'reply' }>;

/** The verification, or what is wrong with the facilitator. */
function readVerification({ status, body }: Reply, payment: Payment): Verification | string {
  const isValid = own(body, 'isValid');
  if (isValid === true && status === 200) {
    return namesOtherPayer(body, payment) ? 'it verified another payer' : { valid: true };
  }
  const reason = own(body, 'invalidReason');
  if (isValid === false && typeof reason === 'string' && status < 500 && !isTrouble(reason))
    return { valid: false, reason };
  return `/verify answered ${status}${typeof reason === 'string' ? `: ${reason.slice(0, 100)}` : ''}`;
}

function readSettlement(
  { status, body }: Reply,
  payment: Payment,
  asset: Asset,
): Settlement | { kind: 'not_sent'; detail: string } {
  const success = own(body, 'success');
  const transaction = own(body, 'transaction');
  if (success === true) {
    if (typeof transaction !== 'string' || !TRANSACTION.test(transaction)) {
      return { kind: 'unknown', detail: 'it settled without a transaction' };
    }
    if (namesOtherPayer(body, payment)) return { kind: 'unknown', detail: 'it settled for another payer' };
    const network = own(body, 'network');
    if (typeof network === 'string' && network !== '' && !isNetworkOf(asset, network)) {
      return { kind: 'unknown', detail: 'it settled on another network' };
    }
    return { kind: 'settled', transaction };
  }
  const reason = own(body, 'errorReason');
  if (success === false && typeof reason === 'string' && status < 500 && !isTrouble(reason))
    return { kind: 'refused', reason };
  const detail = `/settle answered ${status}${typeof reason === 'string' ? `: ${reason.slice(0, 100)}` : ''}`;
  return success === undefined && status >= 300 && status < 500 && status !== 408
    ? { kind: 'not_sent', detail }
    : { kind: 'unknown', detail };
}

function namesOtherPayer(body: unknown, payment: Payment): boolean {
  const payer = own(body, 'payer');
  return typeof payer === 'string' && payer !== '' && payer.toLowerCase() !== payment.payer;
}
