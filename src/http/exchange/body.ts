import { Readable } from 'node:stream';
import { FarthingError } from '../../domain/error.ts';

/** Larger JSON bodies are split off the event loop (8 MB of base64 take 9 + 6 ms). */
export const OFF_THREAD_BYTES = 16 * 1024;
/** Bytes that wait in memory before the socket is paused. */
const HIGH_WATER_BYTES = 256 * 1024;

/** The part of a uWebSockets.js response that a body needs: back-pressure on the socket below it. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/**
 * A request body that arrives in pieces, with back-pressure. It is read once, whole (with a limit) or as a stream.
 * The connection pushes into it; `fail` ends it when the client leaves.
 */
export class RequestBody {
  readonly #source: BodySource;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #paused = false;
  #complete = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** One piece from the socket; the memory belongs to the socket and is copied. */
  push(piece: ArrayBuffer, last: boolean): void {
    if (this.#failure) return;
    if (piece.byteLength > 0) {
      this.#waiting.push(Buffer.from(piece.slice(0)));
      this.#waitingBytes += piece.byteLength;
    }
    this.#complete = last;
    if (!last && !this.#paused && this.#waitingBytes > HIGH_WATER_BYTES) {
      this.#paused = true;
      this.#source.pause();
    }
    this.#wakeReader();
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#wakeReader();
  }

  /** Drops what waits and resumes the socket, so that the answer can be sent. */
  discard(): void {
    this.#failure ??= new FarthingError('request_malformed', 'The body was given up.');
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#resumeSource();
    this.#wakeReader();
  }

  /** The pieces in order. @throws the failure when the client left before the end. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = this.#waiting.shift();
      if (piece) {
        this.#waitingBytes -= piece.byteLength;
        if (this.#waitingBytes <= HIGH_WATER_BYTES / 2) this.#resumeSource();
        yield piece;
        continue;
      }
      if (this.#failure) throw this.#failure;
      if (this.#complete) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /**
   * The whole body.
   * @param onBytes called with the size of each piece; it refuses the body by throwing
   * @throws body_too_large once more than `bytesMax` arrived.
   */
  async whole(bytesMax: number, onBytes?: (bytes: number) => void): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of this.pieces()) {
      bytes += piece.byteLength;
      onBytes?.(piece.byteLength);
      if (bytes > bytesMax) {
        throw new FarthingError(
          'body_too_large',
          `Send at most ${bytesMax} bytes in the body of this request.`,
          {
            facts: { limit_bytes: bytesMax },
          },
        );
      }
      pieces.push(piece);
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /** Ends at once when destroyed. `Readable.from` would wait for the next piece, which a client may never send. */
  stream(): Readable {
    const pieces = this.pieces();
    return new Readable({
      highWaterMark: HIGH_WATER_BYTES,
      read() {
        pieces.next().then(
          ({ value }) => this.push(value ?? null),
          (error: Error) => this.destroy(error),
        );
      },
    });
  }

  #resumeSource(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }

  #wakeReader(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
