import type { Dispatcher } from 'undici';
import Agent from 'undici/lib/dispatcher/agent.js';

/** Facilitators' answers are small; more than this is none of theirs. */
const REPLY_BYTES_MAX = 64 * 1024;

export type JsonReply =
  /** `body` is undefined when it was no JSON, or over the limit. */
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly body: unknown;
      /** Value of a header by its name in lower case; the last where there are several. */
      readonly header: (name: string) => string | undefined;
    }
  /** Certain: no byte of the request was sent. */
  | { readonly kind: 'not_sent'; readonly detail: string }
  /** The request may have been acted upon, and the answer is lost. */
  | { readonly kind: 'lost'; readonly detail: string };

/** Time limit for a new connection. */
const CONNECT_DEADLINE_MS = 4000;
/**
 * Idle connections are closed before a facilitator's own time-out; the shortest common one is 5 s, and undici's clock is up to a
 * second late.
 */
const KEEP_ALIVE_MS = 3000;
const AGENT = new Agent({
  connectTimeout: CONNECT_DEADLINE_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  // An exchange has a deadline as a whole.
  headersTimeout: 0,
  bodyTimeout: 0,
});

export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly body?: unknown;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
  /** Maximum size of the answer's body. */
  readonly replyBytesMax?: number;
}

/** A request as it is sent, whichever thread sends it. */
export interface Asked {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly content: string | undefined;
  readonly deadlineMs: number;
  readonly replyBytesMax: number;
}

/** What came of it. */
export type Told =
  /** `headers`: names and values in turn. */
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly text: string;
      readonly headers: readonly string[];
    }
  | Exclude<JsonReply, { readonly kind: 'reply' }>;

/**
 * One HTTP exchange of JSON within a deadline, over connections that are kept alive. Never throws, follows no redirect, sends nothing
 * twice.
 */
export async function exchangeJson(url: string, request: JsonRequest): Promise<JsonReply> {
  return replyOf(await exchange(askedOf(url, request)));
}

export function askedOf(
  url: string,
  { method, body, headers, deadlineMs, replyBytesMax = REPLY_BYTES_MAX }: JsonRequest,
): Asked {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const own = {
    accept: 'application/json',
    ...(content !== undefined && { 'content-type': 'application/json' }),
  };
  return { url, method, headers: { ...own, ...headers }, content, deadlineMs, replyBytesMax };
}

/** By undici's `dispatch`: two of these stand in every paid request, and Node's own client takes twice the processor time. */
export function exchange(asked: Asked): Promise<Told> {
  return new Promise((resolve) => {
    try {
      const { origin, pathname, search, username, password } = new URL(asked.url);
      const headers = { ...basicAuthOf(username, password), ...asked.headers };
      AGENT.dispatch(
        { origin, path: pathname + search, method: asked.method, headers, body: asked.content },
        new Exchange(asked, resolve),
      );
    } catch (error) {
      resolve({ kind: 'not_sent', detail: String(error) });
    }
  });
}

export function replyOf(told: Told): JsonReply {
  if (told.kind !== 'reply') return told;
  const { status, text, headers } = told;
  return { kind: 'reply', status, body: parse(text), header: (name) => headerValue(headers, name) };
}

/** An address may name a user, as those of some nodes do. */
function basicAuthOf(username: string, password: string) {
  if (username === '') return undefined;
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(user).toString('base64')}` };
}

/** Handler of one undici exchange. The first event that ends it counts. */
class Exchange implements Dispatcher.DispatchHandlers {
  readonly #done: (told: Told) => void;
  readonly #bytesMax: number;
  readonly #deadline: NodeJS.Timeout;
  readonly #connecting: NodeJS.Timeout;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #headers: readonly Buffer[] = [];
  /** Ends the connection of an answer that has not ended. Known from before the request's first byte is sent. */
  #abort: (() => void) | undefined;
  #isOver = false;

  constructor({ deadlineMs, replyBytesMax }: Asked, done: (told: Told) => void) {
    this.#done = done;
    this.#bytesMax = replyBytesMax;
    this.#deadline = setTimeout(() => this.#fail(`no answer within ${deadlineMs} ms`), deadlineMs);
    this.#connecting = setTimeout(() => this.#fail('ECONNECTTIMEOUT'), CONNECT_DEADLINE_MS);
  }

  /** Called before each time a request is sent. */
  onConnect(abort: () => void): void {
    if (this.#isOver || this.#abort) {
      abort();
      return;
    }
    this.#abort = abort;
    clearTimeout(this.#connecting);
  }

  /** Called for interim answers, too: the last counts. */
  onHeaders(status: number, headers: Buffer[]): boolean {
    this.#status = status;
    this.#headers = headers;
    return true;
  }

  onData(piece: Buffer): boolean {
    this.#bytes += piece.byteLength;
    this.#pieces.push(piece);
    if (this.#bytes > this.#bytesMax) this.#reply('');
    return true;
  }

  onComplete(): void {
    this.#reply(Buffer.concat(this.#pieces).toString('utf8'));
  }

  onError(error: Error): void {
    this.#fail(detailOf(error));
  }

  #reply(text: string): void {
    const headers = this.#headers.map((header) => header.toString('latin1'));
    this.#end({ kind: 'reply', status: this.#status, text, headers });
  }

  #fail(detail: string): void {
    this.#end({ kind: this.#abort ? 'lost' : 'not_sent', detail });
  }

  #end(told: Told): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#connecting);
    this.#done(told);
    this.#abort?.();
  }
}

function headerValue(headers: readonly string[], name: string): string | undefined {
  const at = headers.findLastIndex((header, index) => index % 2 === 0 && header.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A host of several addresses fails with one error for each. */
function detailOf(error: Error & { code?: string; errors?: { code?: string }[] }): string {
  const codes = (error.errors ?? [error]).map(({ code }) => code).filter((code) => code !== undefined);
  return codes.join(', ') || String(error);
}
