import type { HttpResponse } from 'uWebSockets.js';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * uWebSockets.js buffers answers up to this size while it handles a read. They are lost if it drops the connection, as it does when a
 * request follows one without an answer.
 */
const CORK_BYTES = 16 * 1024;
const PADDING = Buffer.alloc(CORK_BYTES, ' ');

/** A JSON answer padded with white space, so that uWebSockets.js sends it at once; undefined if it is too large to be buffered anyway. */
export function padded(json: string | Uint8Array): Buffer | undefined {
  if (json.length > CORK_BYTES) return undefined;
  return Buffer.concat([typeof json === 'string' ? Buffer.from(json) : json, PADDING]);
}

/**
 * Writes a body of a known length, piece by piece, as fast as the client reads it: one piece waits in memory. The status
 * and the headers must have been written. uWebSockets.js drops a client that reads nothing for ten seconds.
 * A piece may be reused once the next is requested.
 * @param mayGo resolves when a piece may be read and written
 * @returns true once everything is written; false when the client left or the pieces end too early.
 */
export async function writePieces(
  response: HttpResponse,
  { bytes, pieces }: { readonly bytes: number; readonly pieces: AsyncIterable<Uint8Array> },
  { gone, mayGo }: { readonly gone: AbortSignal; readonly mayGo: () => Promise<void> },
): Promise<boolean> {
  const writable = watchWritable(response, gone);
  await mayGo();
  for await (const piece of pieces) {
    let rest = piece;
    for (;;) {
      if (gone.aborted) return false;
      const start = response.getWriteOffset();
      const { taken, done } = tryEnd(response, rest, bytes);
      if (done) return true;
      if (taken) {
        await mayGo();
        break;
      }
      const offset = await writable();
      if (offset === undefined) return false;
      await mayGo();
      rest = rest.subarray(offset - start);
    }
  }
  return false;
}

/**
 * Writes a body of unknown length, piece by piece, each as soon as it comes, and as fast as the client reads them. The head must have
 * been written.
 * @returns true once everything is written, and the end is to be; false when the client left. @throws what the pieces throw
 */
export async function writeAsItComes(
  response: HttpResponse,
  pieces: AsyncIterable<Uint8Array>,
  gone: AbortSignal,
): Promise<boolean> {
  let wake = (): void => undefined;
  response.onWritable(() => {
    wake();
    return true;
  });
  gone.addEventListener('abort', () => wake(), { once: true });
  for await (const piece of pieces) {
    if (gone.aborted) return false;
    let hasRoom = true;
    const writable = new Promise<void>((resolve) => {
      wake = resolve;
    });
    response.cork(() => {
      hasRoom = response.write(piece);
    });
    if (!hasRoom) await writable;
  }
  return !gone.aborted;
}

/** How a whole answer is sent. */
export interface Delivery {
  /** The connection ends once everything is written. */
  readonly close: boolean;
  /** Called when everything is written and the caller must close the connection; not called if uWebSockets.js does so. */
  readonly onOut: () => void;
  readonly gone: AbortSignal;
  /** Counts what waits, until the returned function is called. */
  readonly hold: (body: Uint8Array) => () => void;
}

/**
 * Writes a head and a whole body without copying it: what the socket does not take stays in `body`. Until all is sent, uWebSockets.js
 * drops the connection if another request arrives on it, or if the client reads nothing for ten seconds.
 * @returns true where all is written; else a promise: true once it is, false when the client left
 */
export function writeWhole(
  response: HttpResponse,
  writeHead: () => void,
  body: string | Uint8Array,
  delivery: Delivery,
): boolean | Promise<boolean> {
  if (body.length === 0) {
    response.cork(() => {
      writeHead();
      response.end('', delivery.close);
    });
    return true;
  }
  if (delivery.close) return new ClosingAnswer(response, Buffer.from(body), delivery).write(writeHead);
  let isDone = false;
  response.cork(() => {
    writeHead();
    // Without a size it is that of the body.
    [, isDone] = response.tryEnd(body, 0);
  });
  return isDone || writeRest(response, body, delivery);
}

/** Writes what the socket has not taken of a body; the same result as `writeWhole`. */
export function writeRest(
  response: HttpResponse,
  body: string | Uint8Array,
  delivery: Pick<Delivery, 'gone' | 'hold'>,
): Promise<boolean> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const write = () => tryEnd(response, bytes.subarray(response.getWriteOffset()), bytes.byteLength).done;
  return whenWritable(response, bytes, delivery, write);
}

/** Calls `write` whenever the socket takes more, until it says that all is written. */
async function whenWritable(
  response: HttpResponse,
  body: Uint8Array,
  { gone, hold }: Pick<Delivery, 'gone' | 'hold'>,
  write: () => boolean,
): Promise<boolean> {
  const written = Promise.withResolvers<boolean>();
  response.onWritable(() => {
    if (write()) written.resolve(true);
    return true;
  });
  gone.addEventListener('abort', () => written.resolve(false), { once: true });
  const release = hold(body);
  const isWhole = await written.promise;
  release();
  return isWhole;
}

/**
 * The last answer of a connection. uWebSockets.js closes a connection only in `end`, which copies what the socket does not take. So
 * `tryEnd` gets a total larger than the body, which leaves the answer open, and `onOut` closes the connection once all is sent.
 */
class ClosingAnswer {
  readonly #response: HttpResponse;
  readonly #body: Buffer;
  readonly #delivery: Delivery;

  constructor(response: HttpResponse, body: Buffer, delivery: Delivery) {
    this.#response = response;
    this.#body = body;
    this.#delivery = delivery;
  }

  async write(writeHead: () => void): Promise<boolean> {
    const { gone } = this.#delivery;
    this.#response.cork(() => {
      writeHead();
      this.#response.writeHeader('Connection', 'close');
      this.#proceed();
    });
    // By then the rest of the read has been handled, and uWebSockets.js has sent its buffer.
    await nextTurn();
    if (gone.aborted) return false;
    const isOut =
      this.#isOut() || (await whenWritable(this.#response, this.#body, this.#delivery, () => this.#isOut()));
    if (isOut) this.#delivery.onOut();
    return isOut;
  }

  #isOut(): boolean {
    let isOut = false;
    this.#response.cork(() => {
      isOut = this.#proceed();
    });
    return isOut;
  }

  /** @returns true when the socket has taken all */
  #proceed(): boolean {
    const last = this.#body.byteLength - 1;
    const at = this.#response.getWriteOffset();
    if (at < last && !this.#response.tryEnd(this.#body.subarray(at, last), last + 1)[0]) return false;
    if (at <= last && !this.#response.tryEnd(this.#body.subarray(last), last + 2)[0]) return false;
    return this.#response.tryEnd('', last + 3)[0];
  }
}

/** Writes a head without its body of `bytes` bytes, as for HEAD; the same result as `writeWhole`. `writeHead` writes no length. */
export function writeHeadAlone(
  response: HttpResponse,
  writeHead: () => void,
  bytes: number,
  delivery: Delivery,
): boolean | Promise<boolean> {
  let hasRoom = false;
  response.cork(() => {
    writeHead();
    hasRoom = delivery.close || bytes === 0;
    if (delivery.close) response.endWithoutBody(bytes, true);
    else if (bytes === 0) response.writeHeader('Content-Length', '0').endWithoutBody();
    if (hasRoom) return;
    // This writes the length, and returns whether the socket took it all.
    [hasRoom] = response.tryEnd('', bytes);
    if (hasRoom) response.endWithoutBody();
  });
  if (hasRoom) return true;
  return whenWritable(response, NOTHING, delivery, () => {
    response.cork(() => void response.endWithoutBody());
    return true;
  });
}

const NOTHING = new Uint8Array();

function tryEnd(response: HttpResponse, piece: Uint8Array, bytes: number): { taken: boolean; done: boolean } {
  let result: [boolean, boolean] = [false, false];
  response.cork(() => {
    result = response.tryEnd(piece, bytes);
  });
  const [taken, done] = result;
  return { taken, done };
}

/**
 * The returned function resolves once the socket is writable, with the bytes of the body written so far; with undefined when
 * the client leaves. The handler is set once: one that is set while the previous one runs would be lost.
 */
function watchWritable(response: HttpResponse, gone: AbortSignal): () => Promise<number | undefined> {
  let wake = (_offset: number | undefined): void => undefined;
  response.onWritable((offset) => {
    wake(offset);
    return true;
  });
  gone.addEventListener('abort', () => wake(undefined), { once: true });
  return () =>
    new Promise((resolve) => {
      wake = resolve;
    });
}
