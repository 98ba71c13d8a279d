import { type Asset, isNetworkOf } from '../asset.ts';
import type { Payment, Terms } from '../payment.ts';
import { type PaymentTerms, requirementsV1, requirementsV2, resourceV2 } from '../wire/challenge.ts';
import { ownMember } from '../wire/strict-json.ts';
import type { Settlement, Verification } from './facilitator.ts';
import type { JsonReply } from './json-http.ts';
import { isCertain, isTrouble } from './reasons.ts';

/** A facilitator's requests and answers, according to the x402 specification. Impossible answers are not trusted. */

export type Reply = Extract<JsonReply, { kind: 'reply' }>;

const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;

/** Versions of the protocol, by network in which a facilitator settles with them. */
export type Supported = ReadonlyMap<Asset['network'], readonly (1 | 2)[]>;

/** Versions by our assets' networks that it settles; undefined when the answer has none. */
export function readSupported({ status, body }: Reply, assets: readonly Asset[]): Supported | undefined {
  const kinds = ownMember(body, 'kinds');
  if (status !== 200 || !Array.isArray(kinds)) return undefined;
  const supported = new Map<Asset['network'], readonly (1 | 2)[]>();
  for (const asset of assets) {
    const ours = kinds.filter(
      (kind) =>
        ownMember(kind, 'scheme') === 'exact' && isNetworkOf(asset, String(ownMember(kind, 'network'))),
    );
    const versions = ([1, 2] as const).filter((version) =>
      ours.some((kind) => ownMember(kind, 'x402Version') === version),
    );
    if (versions.length > 0) supported.set(asset.network, versions);
  }
  return supported;
}

/** An answer without a list of what its facilitator settles, for people. */
export function unsupported(reply: Reply): string {
  const told = answered('supported', reply);
  return reply.status === 200 && typeof reply.body === 'object'
    ? `${told}: no list of what it settles`
    : told;
}

/** Networks of all that a facilitator settles, for people. */
export function offeredNetworks({ body }: Reply): string {
  const kinds = ownMember(body, 'kinds');
  const networks = Array.isArray(kinds) ? kinds.map((kind) => String(ownMember(kind, 'network'))) : [];
  return [...new Set(networks)].slice(0, 10).join(', ') || 'no network';
}

/** The payment in the client's version, or in the one that the facilitator has: the signed message names neither. Not known: in v2, which all have. */
export function requestBody(
  payment: Payment,
  terms: Terms,
  common: PaymentTerms,
  versions: readonly (1 | 2)[] = [],
): object {
  const version = versions.includes(payment.version) ? payment.version : (versions.at(-1) ?? 2);
  return version === 1 ? bodyV1(payment, terms, common) : bodyV2(payment, terms, common);
}

function bodyV1(
  payment: Payment,
  { amount, resource, description, outputSchema }: Terms,
  common: PaymentTerms,
): object {
  const { asset } = payment;
  const network = asset.networkNameV1;
  return {
    x402Version: 1,
    paymentPayload: { x402Version: 1, scheme: 'exact', network, payload: payloadOf(payment) },
    paymentRequirements: requirementsV1(
      { network, amount, resource, description, outputSchema },
      asset,
      common,
    ),
  };
}

function bodyV2(
  payment: Payment,
  { amount, resource, description, bazaar }: Terms,
  common: PaymentTerms,
): object {
  const accepted = requirementsV2(amount, payment.asset, common);
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: resourceV2({ resource, description }, common),
      accepted,
      payload: payloadOf(payment),
      ...(bazaar && { extensions: { bazaar } }),
    },
    paymentRequirements: accepted,
  };
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

/**
 * True for an answer of a facilitator that works, whatever it says about the payment, and under whatever status: some answer 500 where the
 * payment's simulation was reverted. Its own trouble with one payment counts as one: else a payer whose wallet breaks the simulation
 * could shut everybody out.
 */
export function isAnswer(reply: JsonReply): boolean {
  if (reply.kind !== 'reply' || typeof reply.body !== 'object' || reply.body === null) return false;
  const told = ownMember(reply.body, 'isValid') ?? ownMember(reply.body, 'success');
  return reply.status < 500 || typeof told === 'boolean';
}

/** The verification, or what is wrong with the facilitator. */
export function readVerification(reply: Reply, payment: Payment): Verification | string {
  const { status, body } = reply;
  const isValid = ownMember(body, 'isValid');
  if (isValid === true && status === 200) {
    return namesOtherPayer(body, payment) ? 'it verified another payer' : { valid: true };
  }
  const reason = ownMember(body, 'invalidReason');
  if (isValid === false && typeof reason === 'string' && !isTrouble(reason)) return { valid: false, reason };
  return answered('verify', reply, reason, ownMember(body, 'invalidMessage'));
}

/** Maximum length of a facilitator's text in the log, in doctor and in `/readyz`. */
const TOLD_CHARS_MAX = 200;

/** An answer without a verdict, with the cause: `correlationId` is what Coinbase's support asks for. */
function answered(call: string, reply: Reply, reason?: unknown, message?: unknown): string {
  const { status, body } = reply;
  const id = textOf(ownMember(body, 'correlationId'));
  const said = message ?? ownMember(body, 'errorMessage') ?? ownMember(body, 'error');
  const told = [causeOf(reply), reason, said, id && `correlation id ${id}`];
  const words = told.filter((word) => typeof word === 'string' && word !== '');
  return [`/${call} answered ${status}`, ...words.map((word) => String(word).slice(0, TOLD_CHARS_MAX))].join(
    ': ',
  );
}

/** The cause that an answer's status and form tell; empty where they tell none. */
function causeOf({ status, body, header }: Reply): string {
  if (status === 401 || status === 403) return 'it refuses the key';
  if (status === 429) {
    const retryAfterS = retryAfterOf({ header });
    return retryAfterS === undefined ? 'too many calls' : `too many calls, the next in ${retryAfterS} s`;
  }
  if (status >= 300 && status < 400)
    return `it redirects to ${header('location') ?? 'nowhere'}, which is not followed`;
  if (status === 404 || status === 405) return 'nothing is at this path';
  if (typeof body === 'object' && body !== null) return '';
  const type = header('content-type')?.split(';')[0];
  return type === undefined ? 'no JSON' : `${type} and no JSON: is it a facilitator's address?`;
}

/** Longest wait that is believed. */
const RETRY_AFTER_S_MAX = 3600;

/** Whole seconds of `Retry-After`, as a number or a date; undefined without one. */
export function retryAfterOf({ header }: Pick<Reply, 'header'>): number | undefined {
  const text = header('retry-after');
  if (text === undefined) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(1, Math.ceil(seconds)), RETRY_AFTER_S_MAX);
}

/** Statuses of an answer that comes before a settlement is looked at. A redirect, a 400 or a 404 may come from anything on the way. */
const TURNED_AWAY = new Set([401, 403, 405, 413, 415]);

/** `turned_away`: it reports that it did not act upon the request. */
export function readSettlement(
  reply: Reply,
  payment: Payment,
): Settlement | { readonly kind: 'turned_away'; readonly detail: string } {
  const { status, body, header } = reply;
  const success = ownMember(body, 'success');
  const transaction = ownMember(body, 'transaction');
  if (success === true) {
    if (status < 200 || status > 299) return { kind: 'unknown', detail: `it settled and answered ${status}` };
    if (typeof transaction !== 'string' || !TRANSACTION.test(transaction)) {
      return { kind: 'unknown', detail: 'it settled without a transaction' };
    }
    if (namesOtherPayer(body, payment)) return { kind: 'unknown', detail: 'it settled for another payer' };
    const network = ownMember(body, 'network');
    if (typeof network === 'string' && network !== '' && !isNetworkOf(payment.asset, network)) {
      return { kind: 'unknown', detail: 'it settled on another network' };
    }
    return { kind: 'settled', transaction };
  }
  const reason = ownMember(body, 'errorReason');
  if (success === false && typeof reason === 'string' && status < 500) {
    const failure = {
      reason,
      message: textOf(ownMember(body, 'errorMessage')),
      transaction: textOf(transaction),
    };
    if (isCertain(failure)) return { kind: 'refused', reason };
  }
  const detail = answered('settle', reply, reason, ownMember(body, 'errorMessage'));
  const turnedAway = TURNED_AWAY.has(status) || (status === 429 && header('retry-after') !== undefined);
  return { kind: turnedAway && textOf(transaction) === '' ? 'turned_away' : 'unknown', detail };
}

/** Maximum length of a facilitator's report on the extensions of a call. */
const EXTENSIONS_CHARS_MAX = 4096;

/** Result of the payment's extensions (`bazaar`: was it catalogued?), as JSON; undefined where it is missing, or too long. */
export function readExtensions({ header }: Reply): unknown {
  const text = header('extension-responses');
  if (text === undefined || text.length > EXTENSIONS_CHARS_MAX) return undefined;
  try {
    const told: unknown = JSON.parse(Buffer.from(text, 'base64').toString());
    return typeof told === 'object' && told !== null ? told : undefined;
  } catch {
    return undefined;
  }
}

function textOf(member: unknown): string {
  return typeof member === 'string' ? member : '';
}

function namesOtherPayer(body: unknown, payment: Payment): boolean {
  const payer = ownMember(body, 'payer');
  return typeof payer === 'string' && payer !== '' && payer.toLowerCase() !== payment.payer;
}
