import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@farthing/protocol/clock';
import type { Asset } from '../asset.ts';
import type { Payment, Terms } from '../payment.ts';
import type { PaymentTerms } from '../wire/challenge.ts';
import type { AuthHeaders } from './auth-headers.ts';
import { Circuit } from './circuit.ts';
import { exchangeApart } from './exchange-apart.ts';
import type { Verification } from './facilitator.ts';
import type { JsonReply } from './json-http.ts';
import {
  isAnswer,
  readExtensions,
  readSettlement,
  readSupported,
  readVerification,
  requestBody,
  retryAfterOf,
  type Supported,
  unsupported,
} from './messages.ts';
import { PROBE_TERMS, probeFault, probePayment } from './probe.ts';
import type { Heard, Settler, Told } from './settler.ts';

export interface FacilitatorAddress {
  /** Without a trailing slash: `/verify`, `/settle` and `/supported` are below it. */
  readonly url: string;
  /** Absent: its calls need none. */
  readonly authHeaders?: AuthHeaders;
}

export interface FacilitatorClientDeps extends PaymentTerms {
  readonly address: FacilitatorAddress;
  /** The coins that it has to settle. */
  readonly assets: readonly Asset[];
  readonly clock: Clock;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

const SUPPORTED_DEADLINE_MS = 5000;
/** How long a reading of `/supported` that failed, or lacked our networks, is not tried again. */
const UNREAD_MS = 60_000;
const PROBE_DEADLINE_MS = 4000;
const SOON_MS = 1000;
/** How long an answered verification shows that it works. */
const CHECK_EVERY_MS = 60_000;
/** An hour would be a long time without sales, for one payer's calls. */
const REST_MS_MAX = 60_000;

/** One facilitator over HTTP: its calls, what it settles, and how it has been doing. No call waits for what it settles. */
export class FacilitatorClient implements Settler {
  readonly url: string;
  readonly isWitness = false;
  readonly verifying: Circuit;
  readonly settling: Circuit;
  readonly #deps: FacilitatorClientDeps;
  /** Networks and versions that it settles; undefined until it has reported them. */
  #supported: Supported | undefined;
  #reading: Promise<string | undefined> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Why it is not known to work; undefined once it has answered. */
  #trouble: string | undefined;
  #extensions: unknown;
  /** Why the last probe could not be verified. */
  #fault: string | undefined;
  /** When it last answered a verification with a verdict. */
  #verifiedAt = Number.NEGATIVE_INFINITY;
  /** By call: it asked to be left alone until then. */
  readonly #restUntil = { verify: Number.NEGATIVE_INFINITY, settle: Number.NEGATIVE_INFINITY };

  constructor(deps: FacilitatorClientDeps) {
    this.#deps = deps;
    this.url = deps.address.url;
    this.verifying = this.#circuit('verify');
    this.settling = this.#circuit('settle');
  }

  get extensions(): unknown {
    return this.#extensions;
  }

  gas(): undefined {
    return undefined;
  }

  settles({ network }: Asset): boolean {
    return this.#supported?.has(network) ?? true;
  }

  /** Asks it in the background if it is time to. */
  obstacle(): string | undefined {
    this.#readInTime();
    const { assets } = this.#deps;
    const missing = assets.every((asset) => !this.settles(asset));
    if (missing) return notOn(assets);
    if (this.settling.waitMs() > 0) return 'it does not answer settlements';
    if (this.verifying.waitMs() > 0) return 'it does not answer verifications';
    return this.#fault ?? (this.#supported ? undefined : this.#trouble);
  }

  restMs(call: 'verify' | 'settle'): number {
    const left = this.#restUntil[call] - this.#deps.clock.now();
    // A clock that was set back makes it no longer.
    return left > REST_MS_MAX ? 0 : Math.max(0, left);
  }

  async check(): Promise<string | undefined> {
    const { assets, clock } = this.#deps;
    const sinceMs = clock.now() - this.#verifiedAt;
    const isKnown = this.#fault === undefined && sinceMs >= 0 && sinceMs < CHECK_EVERY_MS;
    if (isKnown || this.restMs('verify') > 0) return this.#fault;
    const asset = assets.find((each) => this.settles(each));
    if (!asset) return undefined;
    const wasWell = this.#fault === undefined;
    const startedAt = performance.now();
    let fault = await this.#probe(asset);
    // One call may fail by chance. A late one is not waited for twice.
    const mayRepeat = wasWell && this.restMs('verify') === 0 && performance.now() - startedAt < SOON_MS;
    if (fault !== undefined && mayRepeat) fault = await this.#probe(asset);
    this.#fault = fault;
    return fault;
  }

  async #probe(asset: Asset): Promise<string | undefined> {
    const payment = await probePayment(asset, this.#deps, this.#deps.clock.now());
    const reply = await this.#post('verify', payment, PROBE_TERMS, PROBE_DEADLINE_MS);
    return reply.kind === 'reply' ? probeFault(reply, payment) : `/verify: ${reply.detail}`;
  }

  read(): Promise<string | undefined> {
    this.#reading ??= this.#readSupported().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async verify(payment: Payment, terms: Terms, deadlineMs: number): Promise<Heard<Verification | string>> {
    const reply = await this.#post('verify', payment, terms, deadlineMs);
    const told = reply.kind === 'reply' ? readVerification(reply, payment) : reply.detail;
    return { told, works: isAnswer(reply) };
  }

  async settle(payment: Payment, terms: Terms, deadlineMs: number): Promise<Heard<Told>> {
    const reply = await this.#post('settle', payment, terms, deadlineMs);
    const works = isAnswer(reply);
    if (reply.kind === 'reply') {
      const told = readSettlement(reply, payment);
      const by = { facilitator: this.url };
      return { told: told.kind === 'settled' ? { ...told, by } : told, works };
    }
    return {
      told: { kind: reply.kind === 'not_sent' ? 'not_sent' : 'unknown', detail: reply.detail },
      works,
    };
  }

  async #post(call: 'verify' | 'settle', payment: Payment, terms: Terms, deadlineMs: number) {
    this.#readInTime();
    const body = requestBody(payment, terms, this.#deps, this.#supported?.get(payment.asset.network));
    const reply = await this.#exchange('POST', call, body, deadlineMs);
    if (isAnswer(reply)) this.#trouble = undefined;
    if (reply.kind === 'reply') this.#note(call, reply, payment);
    return reply;
  }

  #note(call: 'verify' | 'settle', reply: Extract<JsonReply, { kind: 'reply' }>, payment: Payment): void {
    const { clock } = this.#deps;
    this.#hear(readExtensions(reply));
    if (call === 'verify' && typeof readVerification(reply, payment) !== 'string') {
      this.#fault = undefined;
      this.#verifiedAt = clock.now();
    }
    const retryAfterS = reply.status === 429 || reply.status === 503 ? retryAfterOf(reply) : undefined;
    if (retryAfterS !== undefined)
      this.#restUntil[call] = clock.now() + Math.min(1000 * retryAfterS, REST_MS_MAX);
  }

  #hear(extensions: unknown): void {
    if (extensions === undefined || isDeepStrictEqual(extensions, this.#extensions)) return;
    this.#extensions = extensions;
    this.#deps.log({ event: 'facilitator_extensions', url: this.url, extensions });
  }

  #readInTime(): void {
    const isKnown = this.#supported !== undefined && this.#deps.assets.some((asset) => this.settles(asset));
    if (isKnown || this.#reading) return;
    const sinceMs = this.#deps.clock.now() - this.#readAt;
    // A clock that was set back makes it no longer.
    if (sinceMs < 0 || sinceMs >= UNREAD_MS) void this.read();
  }

  async #readSupported(): Promise<string | undefined> {
    const { assets, clock } = this.#deps;
    this.#readAt = clock.now();
    const reply = await this.#exchange('GET', 'supported', undefined, SUPPORTED_DEADLINE_MS);
    this.#trouble = reply.kind === 'reply' ? unsupported(reply) : reply.detail;
    const supported = reply.kind === 'reply' ? readSupported(reply, assets) : undefined;
    if (!supported) return this.#trouble;
    this.#supported = supported;
    this.#trouble = undefined;
    return assets.every((asset) => this.settles(asset)) ? undefined : notOn(assets);
  }

  async #exchange(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    deadlineMs: number,
  ): Promise<JsonReply> {
    const url = `${this.url}/${path}`;
    let headers: Awaited<ReturnType<AuthHeaders>> | undefined;
    try {
      headers = await this.#deps.address.authHeaders?.(method, url);
    } catch (error) {
      return { kind: 'not_sent', detail: String(error) };
    }
    return exchangeApart(url, { method, body, headers, deadlineMs });
  }

  #circuit(call: string): Circuit {
    const { clock, log, address } = this.#deps;
    return new Circuit({
      clock,
      onOpen: () => log({ level: 'warn', event: 'facilitator_circuit_open', of: `${address.url}/${call}` }),
    });
  }
}

function notOn(assets: readonly Asset[]): string {
  return `it does not settle "exact" payments on ${assets.map(({ network }) => network).join(', ')}`;
}
