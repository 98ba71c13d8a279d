import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { free } from '../../http/body/gathered.ts';
import type { Exchange } from '../../http/exchange/exchange.ts';
import type { Peer } from '../peers/peer.ts';
import type { PeerConnections, PeerRequest } from '../peers/peer-connections.ts';
import { PEER_HEADER, type PeerSignatures } from '../peers/peer-signature.ts';
import { aboutForwarded, asBytes, ELSEWHERE_HEADER, passedOn } from './passed-headers.ts';

/** The body of a request that is passed on: none, all of it, or read as it comes. */
export type PassedBody = Buffer | 'streamed' | undefined;

/** What came of a request that was sent to the owner of its slot. */
export type OwnerAnswer =
  | { readonly response: IncomingMessage }
  /** Nothing happened: it could not be reached, or has not the slot. */
  | 'away'
  /** It may have happened. */
  | 'lost';

/** A client's request under way to the owner of its slot. */
export class OwnerRequest {
  readonly #exchange: Exchange;
  readonly #sent: PeerRequest;
  #response: IncomingMessage | undefined;
  /** Of the last sign of life, by the monotonic clock in milliseconds. */
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

  /** @throws why the body ended early, where nobody waits for an answer any more */
  async answer(body: PassedBody): Promise<OwnerAnswer> {
    const { request, mayHaveArrived } = this.#sent;
    const answered = new Promise<OwnerAnswer>((resolve) => {
      request.on('error', () => resolve(mayHaveArrived() ? 'lost' : 'away'));
      request.once('response', (response: IncomingMessage) => {
        this.#response = response;
        response.on('error', () => undefined);
        this.#heardAt = performance.now();
        resolve(response.headers[ELSEWHERE_HEADER] === undefined ? { response } : 'away');
      });
    });
    if (body !== 'streamed') {
      request.end(body);
      const answer = await answered;
      if (answer === 'away') this.#response?.resume();
      return answer;
    }
    const pumped = this.#pump().catch((error: unknown) => {
      // The owner has answered, or is gone, before it took everything.
      if (this.#response || request.destroyed) return answered;
      request.destroy();
      throw error;
    });
    const answer = await Promise.race([answered, pumped.then(() => answered)]);
    if (answer === 'away') request.destroy();
    return answer;
  }

  /** The pieces of the answer. They end early where the owner is gone. */
  async *pieces(): AsyncGenerator<Uint8Array> {
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
