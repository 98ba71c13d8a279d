import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { free } from '@farthing/server/http/body/gathered';
import type { Exchange } from '@farthing/server/http/exchange/exchange';
import type { RelayedReply } from '@farthing/server/http/exchange/reply';
import type { Peer } from '../peers/peer.ts';
import type { PeerConnections, PeerRequest } from '../peers/peer-connections.ts';
import { PEER_HEADER, type PeerSignatures } from '../peers/peer-signature.ts';
import { aboutForwarded, asBytes, ELSEWHERE_HEADER, passedBack, passedOn } from './passed-headers.ts';

/** The body of a request that is passed on: none, all of it, or read as it comes. */
export type PassedBody = Buffer | 'streamed' | undefined;

/** The outcome of a request that was sent to the owner of its slot. */
export type Sent =
  | { readonly outcome: 'answered'; readonly response: IncomingMessage }
  /** Nothing happened: the owner was unreachable, or does not own the slot. */
  | { readonly outcome: 'not taken' }
  /** It may have happened. */
  | { readonly outcome: 'lost' };

const NOT_TAKEN: Sent = { outcome: 'not taken' };
const LOST: Sent = { outcome: 'lost' };
/** Smaller answers are passed on whole or not at all. */
const WHOLE_BYTES_MAX = 64 * 1024;

/** A client's request that is sent to the owner of its slot, and the owner's answer. */
export class OwnerRequest {
  readonly #exchange: Exchange;
  readonly #sent: PeerRequest;
  #response: IncomingMessage | undefined;
  /** Time of the last sign of life, in milliseconds of the monotonic clock. */
  #heardAt = performance.now();

  constructor(
    exchange: Exchange,
    body: PassedBody,
    to: { readonly peer: Peer; readonly connections: PeerConnections; readonly signatures: PeerSignatures },
  ) {
    this.#exchange = exchange;
    const { method, path, query, headers } = exchange.head;
    const target = query === '' ? path : `${path}?${query}`;
    const about = aboutForwarded(exchange.requestId);
    this.#sent = to.connections.open(to.peer, {
      method,
      path: asBytes(target),
      headers: {
        ...passedOn(headers),
        ...framing(headers, body),
        'x-request-id': exchange.requestId,
        [PEER_HEADER]: to.signatures.sign(to.peer.id, { method, path: target, about }),
      },
    });
    exchange.signal.addEventListener('abort', this.#leave, { once: true });
    this.#sent.request.once('close', () => exchange.signal.removeEventListener('abort', this.#leave));
  }

  /** Milliseconds since the owner last took or sent something. */
  get silentMs(): number {
    return performance.now() - this.#heardAt;
  }

  /** Ends it: the owner sees that the client left. */
  destroy(): void {
    this.#sent.request.destroy();
  }

  /** @throws why the body ended early, where no answer is awaited any more */
  async send(body: PassedBody): Promise<Sent> {
    const { request, mayHaveArrived } = this.#sent;
    const ended = new Promise<Sent>((resolve) => {
      request.on('error', () => resolve(mayHaveArrived() ? LOST : NOT_TAKEN));
      request.once('response', (response: IncomingMessage) => {
        this.#response = response;
        response.on('error', () => undefined);
        this.#heardAt = performance.now();
        const isTaken = response.headers[ELSEWHERE_HEADER] === undefined;
        resolve(isTaken ? { outcome: 'answered', response } : NOT_TAKEN);
      });
    });
    if (body !== 'streamed') {
      request.end(body);
      const sent = await ended;
      if (sent === NOT_TAKEN) this.#response?.resume();
      return sent;
    }
    const pumped = this.#pump().catch((error: unknown) => {
      // The owner has answered, or is gone, before it took everything.
      if (this.#response || request.destroyed) return ended;
      request.destroy();
      throw error;
    });
    const sent = await Promise.race([ended, pumped.then(() => ended)]);
    if (sent === NOT_TAKEN) request.destroy();
    return sent;
  }

  /**
   * The owner's answer for the client, as it comes.
   * @param delivered called once, with whether all of it reached the network
   * @returns undefined where the owner is gone before all of a small answer came
   */
  async relay(
    response: IncomingMessage,
    delivered: (whole: boolean) => void,
  ): Promise<RelayedReply | undefined> {
    const { headers, statusCode: status = 0, statusMessage: reason = '' } = response;
    const length = headers['content-length'];
    const bytes = length === undefined ? undefined : Number(length);
    const pieces = this.#pieces();
    const body = { bytes, pieces, isComplete: () => response.complete };
    const reply = { status, reason, sent: passedBack(response), delivered };
    if (this.#exchange.head.method === 'HEAD' || status === 304) {
      await gathered(pieces);
      return { ...reply, relayed: body };
    }
    if (bytes === undefined || bytes > WHOLE_BYTES_MAX) return { ...reply, relayed: body };
    const whole = await gathered(pieces);
    return whole.byteLength < bytes ? undefined : { ...reply, relayed: { ...body, whole } };
  }

  /** The pieces of the answer. They end early where the owner is gone. */
  async *#pieces(): AsyncGenerator<Uint8Array> {
    const response = this.#response!;
    try {
      for await (const piece of response) {
        this.#heardAt = performance.now();
        yield piece as Buffer;
        // The client took it: until now the owner could send nothing more.
        this.#heardAt = performance.now();
      }
    } catch {
      return;
    } finally {
      // An answer that came before the end of the request's body leaves the rest of it unsent.
      if (!this.#sent.request.writableFinished || !response.complete) this.destroy();
    }
  }

  readonly #leave = (): void => this.destroy();

  async #pump(): Promise<void> {
    const { request } = this.#sent;
    for await (const piece of this.#exchange.body.pieces()) {
      if (request.destroyed || this.#response) return;
      const hasRoom = request.write(piece, () => {
        this.#heardAt = performance.now();
        free(piece);
      });
      if (hasRoom) continue;
      const over = new AbortController();
      const either = { signal: over.signal };
      await Promise.race([
        once(request, 'drain', either),
        once(request, 'close', either),
        once(request, 'response', either),
      ]).finally(() => over.abort());
    }
    request.end();
  }
}

/** Headers that say where the body ends. */
function framing(headers: ReadonlyMap<string, string>, body: PassedBody): Record<string, string> {
  const length = headers.get('content-length');
  if (body === 'streamed')
    return length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
  if (body !== undefined) return { 'content-length': String(body.byteLength) };
  return length === undefined ? {} : { 'content-length': length };
}

async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return all.length === 1 ? all[0]! : Buffer.concat(all);
}
