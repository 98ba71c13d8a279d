import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Answer } from '@farthing/payment/purchase';
import { RequestPayment } from '@farthing/payment/wire/request-payment';
import { type ErrorStatus, FarthingError } from '@farthing/protocol/error';
import { newId } from '@farthing/protocol/id';
import { type BodyOptions, RequestBody } from '../body/body.ts';
import { EVENT_HEADERS, writeEvents } from './events.ts';
import { Following } from './following.ts';
import { jsonText } from './json-text.ts';
import { type Delivery, padded, writeAsItComes, writeHeadAlone, writePieces, writeWhole } from './pieces.ts';
import type { ContentReply, EventsReply, RelayedReply } from './reply.ts';
import { type TraceContext, traceOf, traceparentOf } from './trace.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

/** Bodies up to this size are drained after an early answer; with larger ones the connection is closed. */
const DRAIN_BYTES_MAX = 64 * 2 ** 20;
/** uWebSockets.js closes a resumed connection that is idle for 10 s. */
const STAY_OPEN_MS = 4000;

/** Logged for a client that left before its answer, as proxies do. */
const LEFT_STATUS = 499;

/** Safe in logs and headers. */
const REQUEST_ID = /^[\w.-]{1,64}$/;

/** The head of a request, copied at once: uWebSockets.js frees it when the handler returns. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: ReadonlyMap<string, string>;
}

/** @returns the head, and as `fault` request_malformed for a head that two servers could read differently */
export function readHead(request: HttpRequest): { head: RequestHead; fault?: FarthingError } {
  const headers = new Map<string, string>();
  let fault: FarthingError | undefined;
  request.forEach((name, value) => {
    if (headers.has(name) && (name === 'content-length' || name === 'transfer-encoding')) {
      fault = new FarthingError(
        'request_malformed',
        `Send ${name} once: two of them can be read in two ways.`,
      );
    }
    headers.set(
      name,
      headers.has(name) && name !== 'content-length' ? `${headers.get(name)}, ${value}` : value,
    );
  });
  fault ??= faultOfFraming(headers.get('content-length'), headers.get('transfer-encoding'));
  return {
    head: {
      method: request.getCaseSensitiveMethod().toUpperCase(),
      path: request.getUrl(),
      query: request.getQuery() ?? '',
      headers,
    },
    fault,
  };
}

/** Whether a request has a payment or a token. */
export function hasCredentials({ head, payment }: Pick<Exchange, 'head' | 'payment'>): boolean {
  return payment.isPresent || head.headers.has('authorization');
}

/** A payment of a HEAD request is ignored: its answer could not contain what was bought. */
function paymentOf({ method, headers }: RequestHead): RequestPayment {
  if (method === 'HEAD') return new RequestPayment();
  return new RequestPayment({
    xPayment: headers.get('x-payment'),
    paymentSignature: headers.get('payment-signature'),
    idempotencyKey: headers.get('idempotency-key'),
  });
}

/** Fault of headers from which a proxy and uWebSockets.js may derive different body lengths. */
function faultOfFraming(length: string | undefined, encoding: string | undefined): FarthingError | undefined {
  const malformed = (detail: string) => new FarthingError('request_malformed', detail);
  if (length !== undefined && encoding !== undefined)
    return malformed('Send either Content-Length or Transfer-Encoding, not both.');
  // Of more digits numbers here are not exact, and uWebSockets.js takes at most 18: it refuses more after it has called its handler.
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    return malformed('Send Content-Length as a whole number of bytes, of at most 15 digits.');
  if (encoding !== undefined && encoding !== 'chunked')
    return malformed('Send Transfer-Encoding as "chunked" and nothing else.');
  return undefined;
}

/** Bytes of the body; undefined for a chunked one. */
function announcedBytes({ headers }: RequestHead): number | undefined {
  return headers.has('transfer-encoding') ? undefined : Number(headers.get('content-length') ?? 0);
}

/** How an answer is written. The functions are called at that time. */
export interface Writing {
  /** Whether the connection ends with the answer. */
  readonly isLast: () => boolean;
  /** Whether the rest of the same read is dropped: the connection then ends before uWebSockets.js handles it. */
  readonly endsRead: () => boolean;
  /** Whether to send the answers of this read so far before uWebSockets.js handles its rest, which may end the connection. */
  readonly flushes: () => boolean;
  /** Unsent answers of all connections. */
  readonly unsent: UnsentBytes;
}

/** Takes a piece of a body. */
export type HearBody = (piece: ArrayBuffer, last: boolean) => void;

/** A request that was to be answered in another way. */
export interface BegunRequest {
  readonly requestId: string;
  readonly startedAt: number;
  /** Once its whole body has come. */
  readonly following?: Following;
}

/** What an exchange is made with. */
export interface ExchangeOptions extends Writing {
  readonly bodies: Omit<BodyOptions, 'announced' | 'coding'>;
  /** The whole body, where it has come; else the response has it. */
  readonly whole?: ArrayBuffer | undefined;
  /** Told by whom the body comes, which has it from the response. */
  readonly feed?: ((hear: HearBody) => void) | undefined;
  /** What is known of a request that has begun before. */
  readonly begun?: BegunRequest | undefined;
  /** The response is uWebSockets.js' own: a request that comes behind this one is noticed. */
  readonly isWatched?: boolean;
}

/** The client's `X-Request-Id` if it is safe in logs, otherwise a new id. */
export function requestIdOf({ headers }: RequestHead): string {
  const sent = headers.get('x-request-id');
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : newId('request');
}

/** Headers of an answer after those of every answer to its origin: what either varies by is named once. */
function withVary(
  fixed: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = { ...fixed, ...own };
  if (fixed.Vary && own.Vary) all.Vary = [...new Set([fixed.Vary, own.Vary])].join(', ');
  return all;
}

export function writeHead(
  response: HttpResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeStatus(`${status} ${REASONS[status as KnownStatus] ?? 'Status'}`);
  for (const name in headers) response.writeHeader(name, headers[name]!);
}

/** One request and its answer. It is answered exactly once; after the client left, answering does nothing. */
export class Exchange {
  readonly head: RequestHead;
  readonly payment: RequestPayment;
  readonly requestId: string;
  readonly trace: TraceContext | undefined;
  readonly body: RequestBody;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Name of the key of the house that it came with, for the log. */
  key: string | undefined;
  readonly #response: HttpResponse;
  readonly #left = new AbortController();
  readonly #fixedHeaders: Readonly<Record<string, string>>;
  readonly #writing: Writing;
  #ended = false;
  #gone = false;
  #isOut = false;
  #status = 0;
  readonly #following: Following;
  #isClosed = false;

  constructor(
    response: HttpResponse,
    head: RequestHead,
    fixedHeaders: Readonly<Record<string, string>>,
    { bodies, whole, feed, begun, isWatched = false, ...writing }: ExchangeOptions,
  ) {
    this.head = head;
    this.payment = paymentOf(head);
    this.#response = response;
    this.#fixedHeaders = fixedHeaders;
    this.#writing = writing;
    this.requestId = begun?.requestId ?? requestIdOf(head);
    this.startedAt = begun?.startedAt ?? performance.now();
    this.#following = begun?.following ?? new Following();
    this.trace = traceOf(head.headers.get('traceparent'));
    const source = { pause: () => this.#open(() => response.pause()), resume: () => this.#resume() };
    const framing = { announced: announcedBytes(head), coding: head.headers.get('content-encoding') };
    this.body = new RequestBody(source, { ...framing, ...bodies });
    response.onAborted(() => {
      this.#waitsNoMore();
      this.#isClosed = true;
      if (this.#isOut) return;
      this.#ended = true;
      this.#gone = true;
      const left = new FarthingError('request_malformed', 'The client closed the connection.');
      this.body.fail(left);
      this.#left.abort(left);
    });
    const hear: HearBody = (piece, last) => {
      this.body.push(piece, last);
      if (last && isWatched && !begun?.following && !this.#ended) this.#following.wait(response);
    };
    if (whole) hear(whole, true);
    else if (feed) feed(hear);
    else response.onData(hear);
  }

  /** Aborted when the client goes away before its answer. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Status of the answer; 499 if the client left before it. */
  get status(): number {
    return this.#gone && this.#status === 0 ? LEFT_STATUS : this.#status;
  }

  header(name: string): string | undefined {
    return this.head.headers.get(name);
  }

  /**
   * Writes the answer.
   * @returns true when all of it reached the network, false when the client had left; a promise of it while the client does not read
   */
  answer({ status, headers, body }: Answer): boolean | Promise<boolean> {
    const json = jsonText(body);
    const { endsRead, flushes } = this.#writing;
    const ends = endsRead();
    const all = { 'Content-Type': 'application/json', ...headers };
    const sentAtOnce = ends || flushes() ? padded(json) : undefined;
    if (!sentAtOnce || this.#hasNoBody(status)) return this.send(status, all, json);
    if (!this.#begin(status)) return false;
    this.#response.cork(() => {
      this.#writeHead(status, all);
      this.#response.end(sentAtOnce, ends || this.#closesAfterAnswer());
    });
    return true;
  }

  /** Writes raw bytes under the given headers; the same result as `answer`. */
  send(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
  ): boolean | Promise<boolean> {
    return this.#whole(status, () => this.#writeHead(status, headers), body);
  }

  /** Writes a head and, unless the answer has none, a whole body. */
  #whole(status: number, writeHead: () => void, body: string | Uint8Array): boolean | Promise<boolean> {
    if (!this.#begin(status)) return false;
    const delivery = this.#delivery();
    // A 304 has the length of the body that it replaces: a cache may update its entry with it.
    return this.#hasNoBody(status)
      ? writeHeadAlone(this.#response, writeHead, Buffer.byteLength(body), delivery)
      : writeWhole(this.#response, writeHead, body, delivery);
  }

  #hasNoBody(status: number): boolean {
    return this.head.method === 'HEAD' || status === 304;
  }

  #delivery(): Delivery {
    const close = () => void this.#response.close();
    return {
      close: this.#closesAfterAnswer(),
      gone: this.signal,
      hold: (body) => this.#writing.unsent.hold(this.body.owner, body, close),
      onOut: () => {
        this.#isOut = true;
        if (this.#following.isFollowed) void this.#closeSlowly();
        else close();
      },
    };
  }

  async #closeSlowly(): Promise<void> {
    await this.#following.linger();
    if (!this.#isClosed) this.#response.close();
  }

  /**
   * Writes stored bytes, then closes the content; resolves when all are written or the client has left.
   * @param mayGo resolves when this owner may write a piece
   */
  async sendContent(
    { status, headers, content }: ContentReply,
    mayGo: (owner: string) => Promise<void>,
  ): Promise<void> {
    try {
      if (!this.#begin(status)) return;
      const response = this.#response;
      if (this.head.method === 'HEAD' || content.bytes === 0) {
        const delivery = { ...this.#delivery(), close: false };
        const writeHead = () => this.#writeHead(status, headers);
        await (content.bytes === undefined
          ? writeWhole(response, writeHead, '', delivery)
          : writeHeadAlone(response, writeHead, content.bytes, delivery));
        return;
      }
      response.cork(() => this.#writeHead(status, { ...headers, ...this.#closing() }));
      const { bytes, pieces, isComplete } = content;
      const turns = { gone: this.signal, mayGo: () => mayGo(this.body.sender) };
      const whole =
        bytes === undefined
          ? (await writeAsItComes(response, inTurn(pieces, turns.mayGo), this.signal)) &&
            (isComplete?.() ?? true)
          : await writePieces(response, { bytes, pieces }, turns);
      if (whole && bytes === undefined) response.cork(() => void response.end());
      // The head promised more bytes: only closing the connection shows that the body is incomplete.
      if (!whole && !this.#gone) response.close();
      // uWebSockets.js closes the connection ten seconds later.
      if (whole && bytes !== undefined) this.#following.endWriting();
    } catch (error) {
      if (!this.#gone) this.#response.close();
      throw error;
    } finally {
      await content.close();
    }
  }

  /** Sends the status at once, then events as they come; resolves at their end or when the client left. */
  async stream({ status, headers, events, close }: EventsReply): Promise<void> {
    try {
      if (!this.#begin(status)) return;
      const response = this.#response;
      response.cork(() => this.#writeHead(status, { ...EVENT_HEADERS, ...headers, ...this.#closing() }));
      if (this.head.method !== 'HEAD') await writeEvents(response, events, this.signal);
      if (!this.#gone) response.cork(() => void response.end());
    } catch (error) {
      if (!this.#gone) this.#response.close();
      throw error;
    } finally {
      close();
    }
  }

  /** Passes another server's answer on; the same result as `answer`. @param mayGo see `sendContent` */
  async relay(
    { status, reason, sent, relayed }: RelayedReply,
    mayGo: (owner: string) => Promise<void>,
  ): Promise<boolean> {
    const { whole, bytes, pieces } = relayed;
    const response = this.#response;
    const writeHead = () => {
      response.writeStatus(`${status} ${reason}`);
      for (const [name, value] of sent) response.writeHeader(name, value);
    };
    try {
      if (whole) return await this.#whole(status, writeHead, whole);
      if (!this.#begin(status)) return false;
      if (this.#hasNoBody(status))
        return await (bytes === undefined
          ? writeWhole(response, writeHead, '', this.#delivery())
          : writeHeadAlone(response, writeHead, bytes, this.#delivery()));
      response.cork(() => {
        writeHead();
        for (const [name, value] of Object.entries(this.#closing())) response.writeHeader(name, value);
      });
      const isWhole =
        bytes === undefined
          ? (await writeAsItComes(response, pieces, this.signal)) && relayed.isComplete()
          : await writePieces(
              response,
              { bytes, pieces },
              { gone: this.signal, mayGo: () => mayGo(this.body.sender) },
            );
      if (isWhole && bytes === undefined) response.cork(() => void response.end());
      if (!isWhole && !this.#gone) response.close();
      if (isWhole && bytes !== undefined) this.#following.endWriting();
      return isWhole;
    } catch (error) {
      if (!this.#gone) this.#response.close();
      throw error;
    } finally {
      await pieces.return(undefined);
    }
  }

  /** @returns false when the client left or was answered */
  #begin(status: number): boolean {
    if (this.#ended) return false;
    // Before `#ended` is set, which would keep `discard` from resuming a paused socket.
    this.body.discard();
    this.#waitsNoMore();
    this.#ended = true;
    this.#status = status;
    return true;
  }

  #waitsNoMore(): void {
    if (!this.#ended) this.#following.begin();
  }

  #writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    writeHead(this.#response, status, {
      'X-Request-Id': this.requestId,
      ...(this.trace && { traceparent: traceparentOf(this.trace) }),
      ...withVary(this.#fixedHeaders, headers),
    });
  }

  /** For the head of an answer in pieces, whose end uWebSockets.js cannot make the connection's. */
  #closing(): Readonly<Record<string, string>> {
    return this.#following.isFollowed ? { Connection: 'close' } : {};
  }

  #closesAfterAnswer(): boolean {
    // Proxies differ in where a chunked body ends, and the next request begins.
    if (this.#following.isFollowed || this.#writing.isLast() || this.head.headers.has('transfer-encoding'))
      return true;
    if (this.body.complete) return false;
    return Number(this.header('content-length') ?? 0) > DRAIN_BYTES_MAX;
  }

  #open(act: () => void): void {
    if (!this.#ended) act();
  }

  /**
   * The last piece of a body ends the idle timeout, and a resume sets it again. If the socket was paused at the last piece, the
   * timeout is renewed until the answer. Staying paused would hide that the client left.
   */
  #resume(): void {
    const resume = () => {
      if (this.#following.mayRead) this.#response.resume();
    };
    this.#open(resume);
    if (!this.body.complete) return;
    const again = setInterval(() => {
      if (this.#ended) clearInterval(again);
      else resume();
    }, STAY_OPEN_MS).unref();
  }
}

/** Statuses of answers. The libraries of MCP have others. */
type KnownStatus = ErrorStatus | 200 | 201 | 202 | 204 | 304 | 402 | 421;

const REASONS: Readonly<Record<KnownStatus, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
};

/** The pieces, each once it may be read and written. */
async function* inTurn(
  pieces: AsyncIterable<Uint8Array>,
  mayGo: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  await mayGo();
  for await (const piece of pieces) {
    yield piece;
    await mayGo();
  }
}
