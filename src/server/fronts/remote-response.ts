import type { HttpResponse, RecognizedString } from 'uWebSockets.js';
import type { Call, ToFront } from './messages.ts';

/** Bytes of an answer that are on their way to a front's socket at a time. */
export const AHEAD_BYTES_MAX = 256 * 1024;

type Post = (message: ToFront) => void;

/**
 * A response of a front's, for the owner: what `Exchange` uses of uWebSockets.js' HttpResponse, with the same meaning. Its calls are posted
 * in their order. What it reports as written has been taken by the front's socket, so that unsent bytes count here until then.
 */
export class RemoteResponse {
  readonly #id: number;
  readonly #post: Post;
  readonly #address: ArrayBuffer;
  #onData: ((piece: ArrayBuffer, last: boolean) => void) | undefined;
  #onAborted: (() => void) | undefined;
  #onWritable: ((offset: number) => boolean) | undefined;
  #calls: Call[] | undefined;
  /** Bytes of the body that were posted, and those that the socket has taken. */
  #posted = 0;
  #taken = 0;
  #isOver = false;
  #isAborted = false;
  readonly #onOver: () => void;

  /** @param onOver called once, when nothing more is to come for it */
  constructor(id: number, address: ArrayBuffer, post: Post, onOver: () => void) {
    this.#id = id;
    this.#address = address;
    this.#post = post;
    this.#onOver = onOver;
  }

  /** As `Exchange` takes it. */
  get asResponse(): HttpResponse {
    return this as unknown as HttpResponse;
  }

  /** A piece of the body has come. */
  deliver(piece: ArrayBuffer, last: boolean): void {
    if (!this.#isAborted) this.#onData?.(piece, last);
    if (piece.byteLength > 0 && !last) this.#post({ kind: 'read', id: this.#id, bytes: piece.byteLength });
  }

  /** The socket has taken more of the answer. */
  taken(bytes: number): void {
    this.#taken += bytes;
    if (this.#isOver || this.#taken < this.#posted) return;
    this.#onWritable?.(this.#posted);
  }

  /** The connection is gone. */
  abort(): void {
    if (this.#isOver) return;
    this.#over();
    this.#isAborted = true;
    this.#onAborted?.();
  }

  onAborted(handler: () => void): this {
    this.#onAborted = handler;
    return this;
  }

  onData(handler: (piece: ArrayBuffer, last: boolean) => void): this {
    this.#onData = handler;
    return this;
  }

  onWritable(handler: (offset: number) => boolean): this {
    this.#onWritable = handler;
    return this;
  }

  getRemoteAddress(): ArrayBuffer {
    return this.#address;
  }

  getWriteOffset(): number {
    return this.#posted;
  }

  pause(): void {
    if (!this.#isOver) this.#post({ kind: 'pause', id: this.#id });
  }

  resume(): void {
    if (!this.#isOver) this.#post({ kind: 'resume', id: this.#id });
  }

  close(): this {
    if (this.#isOver) return this;
    this.#post({ kind: 'close', id: this.#id });
    this.abort();
    return this;
  }

  /** Calls inside go as one message. */
  cork(work: () => void): this {
    if (this.#calls) {
      work();
      return this;
    }
    const calls: Call[] = [];
    this.#calls = calls;
    try {
      work();
    } finally {
      this.#calls = undefined;
      if (calls.length > 0) this.#post({ kind: 'calls', id: this.#id, calls });
    }
    return this;
  }

  writeStatus(status: RecognizedString): this {
    this.#call(['status', String(status)]);
    return this;
  }

  writeHeader(name: RecognizedString, value: RecognizedString): this {
    this.#call(['header', String(name), String(value)]);
    return this;
  }

  /** @returns false where more than the bound is on its way: `onWritable` follows */
  write(piece: RecognizedString): boolean {
    const bytes = bytesOf(piece);
    this.#posted += bytes.byteLength;
    this.#call(['write', bytes]);
    return this.#posted - this.#taken <= AHEAD_BYTES_MAX;
  }

  /** As much as the bound allows is posted; `onWritable` follows once all that was posted is taken. */
  tryEnd(body: RecognizedString, totalBytes: number): [ok: boolean, done: boolean] {
    const bytes = bytesOf(body);
    const total = totalBytes || bytes.byteLength;
    const room = Math.max(0, AHEAD_BYTES_MAX - (this.#posted - this.#taken));
    const part = bytes.subarray(0, room);
    if (part.byteLength > 0 || this.#posted === 0) {
      this.#posted += part.byteLength;
      this.#call(['part', part, total]);
    }
    // Nothing is to be said to be out before it is, but pieces before the last may be on their way.
    const mayBeAhead = bytes.byteLength > 0 && this.#posted < total;
    const isTaken = part.byteLength === bytes.byteLength && (mayBeAhead || this.#taken === this.#posted);
    const isDone = isTaken && this.#posted === total;
    if (isDone) this.#over();
    return [isTaken, isDone];
  }

  end(body: RecognizedString = '', close = false): this {
    this.#call(['end', bytesOf(body), close]);
    this.#over();
    return this;
  }

  endWithoutBody(bytes?: number, close = false): this {
    this.#call(['headOnly', bytes, close]);
    this.#over();
    return this;
  }

  #call(call: Call): void {
    if (this.#isOver) return;
    if (this.#calls) this.#calls.push(call);
    else this.#post({ kind: 'calls', id: this.#id, calls: [call] });
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
  }
}

/** A copy: the memory may be used again. */
function bytesOf(text: RecognizedString): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : new Uint8Array(text as Uint8Array);
}
