import { formatUsd } from '@farthing/protocol/money';
import type { PaymentRequired } from '@x402/fetch';
import { FarthingError, problemError } from './answers/error.ts';
import type { Authorization, Authorizations } from './payment/authorizations.ts';
import type { Usd } from './payment/budget.ts';

/** A request body; each attempt makes it again. */
export type CallBody = string | Blob | ReadableStream<Uint8Array>;

/** One request of the interface. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the body again for each attempt. */
  readonly body?: () => CallBody;
  /** The body of the quote, when the price depends on it. */
  readonly quoteBody?: string;
  /** Present on paid calls. `fixed`: calls of this kind have one price until the server says otherwise. */
  readonly price?: 'fixed' | 'by body';
  /** A repeated call with the same idempotency key gets the same answer, uncharged. */
  readonly idempotencyKey?: string;
  /** The most that this call may cost. */
  readonly maxPriceUsd?: Usd;
  /** Form of a success; default JSON. Refusals are always JSON. A stream is read by the caller, within `attemptMs`. */
  readonly answer?: 'json' | 'blob' | 'stream';
  readonly signal?: AbortSignal;
  /** How long one attempt may take. */
  readonly attemptMs?: number;
}

export interface Answered<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface CallDeps {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly authorizations: Authorizations;
  /** Attempts of one call, the first included. */
  readonly attemptsMax: number;
  readonly onPayment?: (payment: { usd: string; transaction: string }) => void;
  /** The wallet whose prepaid money is to be offered; undefined: none is spent. */
  readonly prepaidWallet: () => Promise<string | undefined>;
}

/** Longer than the longest wait for an ingest. */
const ATTEMPT_MS = 90_000;
const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 5_000;
/** Authorizations per call: the price may change, and one may expire while the server is away. */
const AUTHORIZATIONS_MAX = 3;
const KEY_BYTES = 32;
/** Refusals that a fresh authorization may cure; none of them is charged. */
const CURED_BY_A_FRESH_ONE = new Set([
  'authorization_expired',
  'amount_mismatch',
  'wrong_recipient',
  'wrong_asset',
]);

/** Sends calls, pays for paid ones, and repeats unanswered ones; nothing is charged twice. */
export class Calls {
  readonly #deps: CallDeps;
  readonly #quotes = new Map<string, PaymentRequired>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
  }

  /** @throws FarthingError for every answer over 299, and when none came */
  async send<T>(call: Call): Promise<Answered<T>> {
    return (call.price === undefined ? await this.#free(call) : await this.#paid(call)) as Answered<T>;
  }

  async #free(call: Call): Promise<Answered<unknown>> {
    const answer = await this.#insist(call, call.headers ?? {}, call.body);
    if (answer === 'lost') throw unreachable(this.#deps.baseUrl);
    if (answer.status > 299) throw problemError(answer.status, answer.headers, answer.body);
    return answer;
  }

  async #paid(call: Call): Promise<Answered<unknown>> {
    const { authorizations } = this.#deps;
    const key = call.idempotencyKey ?? randomKey();
    const wallet = await this.#deps.prepaidWallet();
    let offer: Record<string, string> = wallet === undefined ? {} : { 'X-Prepaid-Wallet': wallet };
    let required = await this.#quote(call, offer);
    for (let signed = 1; ; signed++) {
      if (wallet !== undefined && authorizations.isShort(required)) {
        offer = {};
        required = await this.#quote(call, offer);
      }
      const authorization = await authorizations.take(required, call.maxPriceUsd);
      const headers = { ...call.headers, ...offer, ...authorization.headers, 'Idempotency-Key': key };
      const answer = await this.#insist(call, headers, call.body).catch((error: unknown) => {
        // The server never had the whole request: it cannot have charged it.
        if (isUnreadable(error)) authorizations.giveBack(authorization);
        else authorizations.spent(authorization);
        throw error;
      });
      if (answer === 'lost') {
        authorizations.spent(authorization);
        throw lost(key);
      }
      if (answer.status < 300) {
        this.#settle(answer, authorization);
        return answer;
      }
      if (answer.status !== 402) {
        // During a settlement the charge is unknown. An authorization known to be uncharged pays for the next call.
        if (answer.status >= 500) authorizations.spent(authorization);
        else authorizations.giveBack(authorization);
        throw problemError(answer.status, answer.headers, answer.body, key);
      }
      required = await authorizations.required(answer.headers, answer.body);
      this.#quotes.set(kindOf(call, offer), required);
      this.#refused(answer, authorization, signed);
    }
  }

  /** A 402 to a payment. @throws payment_refused, unless a fresh authorization may do better */
  #refused(answer: Answered<unknown>, authorization: Authorization, signed: number): void {
    const { authorizations } = this.#deps;
    const reason = (answer.body as { error?: unknown } | null)?.error;
    const used = reason === 'authorization_already_used';
    if (used) authorizations.spent(authorization);
    else authorizations.giveBack(authorization);
    const isShort = authorization.isPrepaid && reason === 'insufficient_funds';
    if (isShort) authorizations.wasShort(authorization);
    const curable = used ? authorization.reused : isShort || CURED_BY_A_FRESH_ONE.has(String(reason));
    if (curable && signed < AUTHORIZATIONS_MAX) return;
    const hint = isShort ? ' There is not enough prepaid money for it: prepay adds some.' : '';
    const message = `The server did not take the payment: ${String(reason)}.${hint}`;
    throw new FarthingError('payment_refused', message, { status: 402, facts: { reason } });
  }

  #settle(answer: Answered<unknown>, authorization: Authorization): void {
    const { authorizations, onPayment } = this.#deps;
    const receipt = answer.headers.get('PAYMENT-RESPONSE');
    const charged = receipt !== null || (answer.body as { charged?: unknown } | null)?.charged === true;
    if (charged) authorizations.spent(authorization);
    else authorizations.giveBack(authorization);
    if (charged) onPayment?.({ usd: formatUsd(authorization.amount), transaction: transactionOf(receipt) });
  }

  /** The terms of the 402. They are remembered for calls with a fixed price, which then take one round trip. */
  async #quote(call: Call, headers: Readonly<Record<string, string>>): Promise<PaymentRequired> {
    const known = call.price === 'fixed' ? this.#quotes.get(kindOf(call, headers)) : undefined;
    if (known) return known;
    const { quoteBody } = call;
    const answer = await this.#insist(call, headers, quoteBody === undefined ? undefined : () => quoteBody);
    if (answer === 'lost') throw unreachable(this.#deps.baseUrl);
    if (answer.status !== 402) throw problemError(answer.status, answer.headers, answer.body);
    const required = await this.#deps.authorizations.required(answer.headers, answer.body);
    this.#quotes.set(kindOf(call, headers), required);
    return required;
  }

  /**
   * Repeats a request until it is answered, and after temporary refusals; `lost` when no attempt was answered.
   * @throws source_unreadable when the body cannot be read any more, and no attempt with a whole body stayed unanswered
   */
  async #insist(
    call: Call,
    headers: Readonly<Record<string, string>>,
    body: (() => CallBody) | undefined,
  ): Promise<Answered<unknown> | 'lost'> {
    const { attemptsMax } = this.#deps;
    let last: Answered<unknown> | 'lost' = 'lost';
    let isLost = false;
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const answer = await this.#attempt(call, headers, body?.()).catch((error: unknown) => {
        if (isLost) return 'lost' as const;
        throw error;
      });
      call.signal?.throwIfAborted();
      isLost ||= answer === 'lost';
      if (answer !== 'lost' && !isMomentary(answer)) return answer;
      last = answer;
      if (attempt < attemptsMax) await pause(pauseAfter(answer, attempt), call.signal);
    }
    return last;
  }

  async #attempt(
    { method, path, signal, answer = 'json', attemptMs = ATTEMPT_MS }: Call,
    headers: Readonly<Record<string, string>>,
    body: CallBody | undefined,
  ): Promise<Answered<unknown> | 'lost'> {
    const limit = AbortSignal.timeout(Math.ceil(attemptMs));
    try {
      const response = await this.#deps.fetch(this.#deps.baseUrl + path, {
        method,
        headers,
        body,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        ...(body instanceof ReadableStream && { duplex: 'half' }),
      });
      const { status } = response;
      if (answer === 'stream' && response.ok)
        return { status, headers: response.headers, body: response.body };
      if (answer === 'blob' && response.ok)
        return { status, headers: response.headers, body: await response.blob() };
      return { status, headers: response.headers, body: JSON.parse(await response.text()) as unknown };
    } catch (error) {
      const cause = unreadableCause(error);
      if (cause)
        throw new FarthingError(
          'source_unreadable',
          `What was to be sent cannot be read: ${cause.message}.`,
          {
            cause,
          },
        );
      // Runtimes share no name for connection errors.
      return 'lost';
    }
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof FarthingError && error.code === 'source_unreadable';
}

/** Names of what a file that has vanished or changed since it was opened fails with. */
const UNREADABLE = new Set(['NotReadableError', 'NotFoundError']);

/** Why a body could not be read, if that was the reason of a failure. */
function unreadableCause(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  return UNREADABLE.has(error.name) ? error : unreadableCause(error.cause);
}

/** Key of calls with the same terms: the path without ids and query, and the wallet whose prepaid money is to pay. */
function kindOf({ method, path }: Call, offer: Readonly<Record<string, string>>): string {
  const wallet = offer['X-Prepaid-Wallet'] ?? '';
  return `${wallet} ${method} ${path.replace(/\?.*$/, '').replace(/\/(?:item|ws|job)_[^/]+/g, '/:id')}`;
}

/** A temporary refusal, uncharged: the same authorization may be sent again. A 5xx without a code may come from a proxy. */
function isMomentary({ status, body }: Answered<unknown>): boolean {
  const coded = typeof (body as { code?: unknown } | null)?.code === 'string';
  return status === 429 || status === 503 || (status >= 500 && !coded);
}

function pauseAfter(answer: Answered<unknown> | 'lost', attempt: number): number {
  const retryAfterMs = answer === 'lost' ? 0 : Number(answer.headers.get('Retry-After') ?? 0) * 1000;
  const growing = Math.min(PAUSE_FIRST_MS * 2 ** (attempt - 1), PAUSE_MAX_MS);
  return Math.max(retryAfterMs, growing * (0.5 + Math.random() / 2));
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** For `Idempotency-Key`. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

function unreachable(baseUrl: string): FarthingError {
  return new FarthingError('server_unreachable', `No answer came from ${baseUrl}: is the server running?`);
}

function lost(key: string): FarthingError {
  return new FarthingError(
    'answer_lost',
    'No answer came, and the call may have been charged. Repeat it with the option idempotencyKey: it is then charged once at most.',
    { facts: { idempotency_key: key } },
  );
}

function transactionOf(receipt: string | null): string {
  try {
    const { transaction } = JSON.parse(atob(receipt ?? '')) as { transaction?: unknown };
    return typeof transaction === 'string' ? transaction : '';
  } catch {
    return '';
  }
}
