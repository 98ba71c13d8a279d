import type { HttpResponse } from 'uWebSockets.js';
import type { Cors } from './cors.ts';
import { type HearBody, type RequestHead, requestIdOf, writeHead } from './exchange.ts';
import { Following } from './following.ts';
import { jsonText } from './json-text.ts';
import { writeRest } from './pieces.ts';
import { problem } from './problem.ts';
import { type JsonReply, type Outcome, outcomeOf } from './reply.ts';
import type { AnsweredEvent, Incoming } from './server.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

/**
 * A short way of the commonest requests, beside that of all others: no promise, stream or signal for a request that needs none. What it
 * answers is answered in the same words by the general way, which has all else: errors, warnings, and what is rare.
 */
export interface QuickWay {
  /** What a request asks; undefined where it is for the general way. */
  asks(head: RequestHead): QuickAsk | undefined;
}

export interface QuickAsk {
  /** Path of its route, with parameters in braces. */
  readonly route: string;
  /** In the fair queue of waiting requests, and of answers that wait. */
  readonly owner: string;
  /**
   * Begins once the whole body has come.
   * @param body only valid until this returns
   * @param answer called once, later; its promise must not reject
   * @returns gives it up, and nothing is answered then; undefined where nothing has begun
   */
  begin(body: ArrayBuffer, request: QuickRequest, answer: Answering): (() => void) | undefined;
}

export type Answering = (reply: JsonReply | Promise<JsonReply>) => void;

/** A request, as its work sees it. */
export interface QuickRequest {
  readonly requestId: string;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
}

/** The connections of a thread, as a quick exchange uses them. */
export interface QuickHost {
  readonly cors: Cors;
  readonly unsent: UnsentBytes;
  readonly isClosing: boolean;
  /** The general way is to go on. */
  takeOver(quick: QuickExchange, response: HttpResponse, incoming: Incoming): void;
  /** As the general way writes an answer. @returns its status */
  write(response: HttpResponse, incoming: Incoming, reply: JsonReply): Promise<number>;
  /** Resolves when an answer may be sent. */
  mayAnswer(status: number): Promise<void>;
  ended(quick: QuickExchange, event: Omit<AnsweredEvent, 'milliseconds'>, startedAt: number): void;
}

/** What is asked, and when it may begin: absent, at once. */
export interface QuickTurn {
  readonly ask: QuickAsk;
  readonly turn: Promise<void> | undefined;
}

const NOTHING = new ArrayBuffer(0);
/** An answer until the socket has copied it. */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
/** Logged for a client that left before its answer. */
const LEFT: Outcome & { readonly status: number } = { status: 499, code: 'client_left' };

/** A request in the short way, and its answer. */
export class QuickExchange implements QuickRequest {
  readonly startedAt = performance.now();
  readonly #host: QuickHost;
  readonly #response: HttpResponse;
  readonly #incoming: Incoming;
  readonly #ask: QuickAsk;
  #id: string | undefined;
  readonly #following = new Following();
  #waitsForTurn: boolean;
  /** The body, where its turn has not come yet. */
  #body: ArrayBuffer | undefined;
  #giveUp: (() => void) | undefined;
  /** The general way has it. */
  #hear: HearBody | undefined;
  #isGone = false;
  #left: AbortController | undefined;

  constructor(host: QuickHost, response: HttpResponse, incoming: Incoming, { ask, turn }: QuickTurn) {
    this.#host = host;
    this.#response = response;
    this.#incoming = incoming;
    this.#ask = ask;
    this.#waitsForTurn = turn !== undefined;
    turn?.then(
      () => this.#turned(),
      (error: unknown) => this.#refused(error),
    );
    response.onAborted(() => this.#aborted());
    if (incoming.whole) this.#take(incoming.whole, true);
    else response.onData((piece, last) => this.#take(piece, last));
  }

  get requestId(): string {
    this.#id ??= requestIdOf(this.#incoming.head);
    return this.#id;
  }

  /** Its body takes long. */
  waitNoLonger(): void {
    if (this.#giveUp || this.#body || this.#hear || this.#isGone || this.#waitsForTurn) return;
    this.#goGenerally();
  }

  #take(piece: ArrayBuffer, last: boolean): void {
    if (this.#isGone) return;
    if (this.#hear) this.#hear(piece, last);
    else if (!last) this.#goGenerally(piece, last);
    else {
      this.#following.wait(this.#response);
      if (this.#waitsForTurn) this.#body = piece.slice(0);
      else this.#begin(piece);
    }
  }

  #begin(body: ArrayBuffer): void {
    const answer: Answering = (reply) => {
      if (reply instanceof Promise) void reply.then((late) => this.#answerLate(late));
      else if (!this.#isGone) this.#answer(reply);
    };
    try {
      this.#giveUp = this.#ask.begin(body, this, answer);
    } catch {
      // The general way meets the same, and says so.
    }
    if (!this.#giveUp) this.#goGenerally(body, true);
  }

  #turned(): void {
    this.#waitsForTurn = false;
    const body = this.#body;
    this.#body = undefined;
    if (body && !this.#isGone) this.#begin(body);
  }

  #refused(error: unknown): void {
    if (this.#hear || this.#isGone) return;
    void this.#answerLate(problem(error, this.requestId), 'unmatched');
  }

  #goGenerally(piece?: ArrayBuffer, last = false): void {
    const begun = { requestId: this.requestId, startedAt: this.startedAt };
    const incoming: Incoming = {
      ...this.#incoming,
      begun,
      placed: this.#waitsForTurn ? 'later' : 'now',
      ...(this.#incoming.whole && piece && { whole: piece }),
      feed: (hear) => {
        this.#hear = hear;
      },
    };
    this.#hear = () => undefined;
    this.#host.takeOver(this, this.#response, incoming);
    if (piece) this.#hear(piece, last);
  }

  #aborted(): void {
    this.#left?.abort();
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.#left) return;
    this.#following.begin();
    this.#giveUp?.();
    this.#incoming.onWorked?.();
    this.#end(LEFT);
  }

  #answer(reply: JsonReply): void {
    const { head, onWorked } = this.#incoming;
    const { cors, unsent, isClosing } = this.#host;
    if (isClosing || !this.#following.mayRead) {
      void this.#answerLate(reply);
      return;
    }
    onWorked?.();
    this.#following.begin();
    const response = this.#response;
    const json = jsonText(reply.body, SCRATCH);
    const outcome = { status: reply.status, ...outcomeOf(reply) };
    let isOut = false;
    response.cork(() => {
      writeHead(response, reply.status, {
        'X-Request-Id': this.requestId,
        ...cors.headers(head.headers.get('origin')),
        'Content-Type': 'application/json',
        ...reply.headers,
      });
      [, isOut] = response.tryEnd(json, 0);
    });
    if (isOut) {
      this.#end(outcome);
      return;
    }
    this.#left = new AbortController();
    const hold = (body: Uint8Array) => unsent.hold(this.#ask.owner, body, () => void response.close());
    void writeRest(response, Buffer.from(json), { gone: this.#left.signal, hold }).then(() =>
      this.#end(outcome),
    );
  }

  /** As the general way writes it. */
  async #answerLate(reply: JsonReply, route?: string): Promise<void> {
    this.#incoming.onWorked?.();
    await this.#host.mayAnswer(reply.status);
    if (this.#isGone) return;
    this.#isGone = true;
    const { requestId, startedAt } = this;
    const begun = { requestId, startedAt, following: this.#following };
    const status = await this.#host.write(
      this.#response,
      { ...this.#incoming, begun, whole: NOTHING },
      reply,
    );
    this.#end({ status, ...outcomeOf(reply) }, route);
  }

  #end({ status, ...outcome }: Outcome & { readonly status: number }, route = this.#ask.route): void {
    this.#isGone = true;
    const { method } = this.#incoming.head;
    this.#host.ended(this, { requestId: this.requestId, method, route, status, ...outcome }, this.startedAt);
  }
}
