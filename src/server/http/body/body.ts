import { Readable } from 'node:stream';
import { FarthingError } from '@farthing/protocol/error';
import { BudgetedBytes } from './budgeted-bytes.ts';
import { free, Gathered } from './gathered.ts';
import { type Owner, overShare, type Shares } from './shared-bytes.ts';

/** Larger JSON bodies are split off the event loop (8 MB of base64 take 9 + 6 ms). */
export const OFF_THREAD_BYTES = 16 * 1024;
const IDENTITY = /^\s*(?:identity)?\s*$/i;
/** Bytes that wait in memory before the socket is paused. */
const HIGH_WATER_BYTES = 256 * 1024;

/** The part of a uWebSockets.js response that a body needs: back-pressure on the socket below it. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/** Owner of all bodies that outgrew the unproved part and whose payment is being verified. */
const BEING_PROVED = 'being proved';

/** Checks that the request is paid for. @returns the owner whose bytes are counted together from then on */
type Prove = () => Promise<Owner>;

export interface BodyOptions {
  /** By `Content-Length`; undefined for a chunked body. */
  readonly announced?: number;
  readonly shares: Shares;
  /** `Content-Encoding` of the request. */
  readonly coding?: string;
  /** Called for bytes that came. */
  readonly onBytes?: (body: RequestBody, bytes: number) => void;
}

/** Owner of a body without a known payer. */
const UNPROVED = 'unproved';

/** Every answered request's: made once, because making an error costs more than the rest of an answer's end. */
const GIVEN_UP = new FarthingError('request_malformed', 'The body was given up.');

/**
 * A request body that arrives in pieces, with back-pressure. It is read once, whole (with a limit) or as a stream.
 * The connection pushes into it; `fail` ends it when the client leaves. Its bytes count against the budget of all bodies.
 */
export class RequestBody {
  readonly #source: BodySource;
  readonly #announced: number | undefined;
  readonly #coding: string | undefined;
  readonly #onBytes: BodyOptions['onBytes'];
  readonly #budget: BudgetedBytes;
  readonly #budgets: BudgetedBytes[];
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #arrived = 0;
  /** Bytes that had arrived at the last rate check; undefined before it. */
  #arrivedBefore: number | undefined;
  #paused = false;
  /** More waits in memory than its reader takes. */
  #isFull = false;
  /** It is paused until `release`. */
  #isHeld = false;
  #complete = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  #unprovedMax = Number.POSITIVE_INFINITY;
  #prove: Prove | undefined;
  #proving: Promise<void> | undefined;
  #owner: Owner | undefined;

  constructor(source: BodySource, { announced, shares, coding, onBytes }: BodyOptions) {
    this.#source = source;
    this.#announced = announced;
    this.#coding = coding;
    this.#onBytes = onBytes;
    this.#budget = this.#budgeted(shares);
    this.#budgets = [this.#budget];
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** Why it can be read no further. */
  get failure(): unknown {
    return this.#failure;
  }

  /** One piece from the socket; the memory belongs to the socket and is copied. */
  push(piece: ArrayBuffer, last: boolean): void {
    if (this.#failure) return;
    this.#complete = last;
    if (piece.byteLength > 0) {
      this.#waiting.push(Buffer.from(piece.slice(0)));
      this.#waitingBytes += piece.byteLength;
      this.#arrived += piece.byteLength;
      this.#budget.add(piece.byteLength);
      if (last) this.#budget.keep();
    }
    if (!last && this.#waitingBytes > HIGH_WATER_BYTES) {
      this.#isFull = true;
      this.#pauseOrResume();
    }
    this.#onBytes?.(this, piece.byteLength);
    this.#wakeReader();
  }

  /** Pauses. @returns false when the body is complete, or paused already */
  hold(): boolean {
    if (this.#isHeld || this.#complete || this.#failure) return false;
    this.#isHeld = true;
    this.#pauseOrResume();
    return true;
  }

  release(): void {
    this.#isHeld = false;
    this.#pauseOrResume();
  }

  /** Its sender is known, and its bytes count with the sender's. */
  get isProved(): boolean {
    return this.#owner !== undefined;
  }

  /** The Tenant that pays for it, once that is known. */
  get owner(): string | undefined {
    return typeof this.#owner === 'string' ? this.#owner : undefined;
  }

  /** The sender in the fair queue of reads. */
  get sender(): string {
    return this.owner ?? UNPROVED;
  }

  /** It ends here: what waits is dropped. */
  fail(error: unknown): void {
    this.#failure ??= error;
    for (const piece of this.#waiting.splice(0)) free(piece);
    this.#waitingBytes = 0;
    for (const budget of this.#budgets) budget.end();
    this.#wakeReader();
  }

  /** The rest will not be read: the socket flows again, so that the answer gets out. */
  discard(): void {
    this.fail(GIVEN_UP);
    this.#isFull = false;
    this.release();
  }

  /** The request is paid for: its bytes count with the owner's, in the part of the budget reserved for paid requests. */
  proved(owner: Owner): void {
    this.#owner = owner;
    for (const budget of this.#budgets) budget.move(owner);
  }

  /** More than `bytesMax`, announced or arrived, is taken only once `prove` has resolved; when it rejects, the body fails. */
  proveBefore(bytesMax: number, prove: Prove): void {
    this.#unprovedMax = bytesMax;
    this.#prove = prove;
  }

  /**
   * Counts the body's bytes that are held elsewhere, like those that wait here.
   * @returns call it with further bytes; it ends with the body
   */
  holdElsewhere(shares: Shares): (bytes: number) => void {
    const budget = this.#budgeted(shares);
    this.#budgets.push(budget);
    if (this.#owner !== undefined) budget.move(this.#owner);
    return (bytes) => budget.add(bytes);
  }

  /** To be called at even intervals. True if fewer than `bytesMin` bytes came since the last call, though reading was not paused. */
  isTooSlow(bytesMin: number): boolean {
    const before = this.#arrivedBefore;
    this.#arrivedBefore = this.#complete || this.#failure || this.#paused ? undefined : this.#arrived;
    return before !== undefined && this.#arrivedBefore !== undefined && this.#arrived - before < bytesMin;
  }

  /**
   * The pieces in order.
   * @throws the failure when the client left before the end, or what `proveBefore` was given; request_malformed for a compressed body
   */
  async *pieces({ kept = false } = {}): AsyncGenerator<Buffer> {
    if (this.#coding !== undefined && !IDENTITY.test(this.#coding)) throw compressed(this.#coding);
    let taken = 0;
    if (this.#announced !== undefined && this.#announced > this.#unprovedMax) await this.#proof();
    for (;;) {
      const next = this.#waiting[0];
      if (next && taken + next.byteLength > this.#unprovedMax) await this.#proof();
      const piece = this.#waiting.shift();
      if (piece) {
        taken += piece.byteLength;
        this.#waitingBytes -= piece.byteLength;
        if (this.#waitingBytes <= HIGH_WATER_BYTES / 2) {
          this.#isFull = false;
          this.#pauseOrResume();
        }
        if (!kept) this.#budget.remove(piece.byteLength);
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
   * The whole body; no memory is taken for what has only been announced.
   * @throws body_too_large once more than `bytesMax` is announced or has arrived.
   */
  async whole(bytesMax: number): Promise<Buffer> {
    if ((this.#announced ?? 0) > bytesMax) throw tooLarge(bytesMax);
    const gathered = new Gathered();
    try {
      for await (const piece of this.pieces({ kept: true })) {
        gathered.add(piece);
        if (gathered.bytes > bytesMax) throw tooLarge(bytesMax);
      }
      return await gathered.whole();
    } catch (error) {
      gathered.drop();
      throw error;
    }
  }

  /** The body that `whole` read is to be read again. */
  putBack(body: Buffer): void {
    if (this.#failure || body.byteLength === 0) return;
    this.#waiting.unshift(body);
    this.#waitingBytes += body.byteLength;
  }

  /** Given up at once when it is destroyed: `Readable.from` would wait for the next piece, which a client may never send. */
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

  /** A body that exceeds the unproved part's share may still be proved, which moves it to the other part. */
  #budgeted(shares: Shares): BudgetedBytes {
    const budget: BudgetedBytes = new BudgetedBytes(shares, (bytes) => {
      if (!this.#prove || this.#owner !== undefined || this.#proving) return this.fail(overShare());
      // A refusal fails the body.
      this.#proof().catch(() => undefined);
      budget.move(BEING_PROVED, bytes);
    });
    return budget;
  }

  #proof(): Promise<void> {
    this.#proving ??= this.#proveNow();
    return this.#proving;
  }

  async #proveNow(): Promise<void> {
    try {
      const owner = await this.#prove?.();
      this.#unprovedMax = Number.POSITIVE_INFINITY;
      if (owner !== undefined) this.proved(owner);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  #pauseOrResume(): void {
    const pauses = this.#isFull || this.#isHeld;
    if (pauses === this.#paused) return;
    this.#paused = pauses;
    if (pauses) this.#source.pause();
    else this.#source.resume();
  }

  #wakeReader(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** A small body may unfold to any length: it is not taken. */
function compressed(coding: string): FarthingError {
  const shown = coding.slice(0, 32);
  return new FarthingError(
    'request_malformed',
    `The body is compressed (Content-Encoding: ${shown}). Send it as it is, without this header; a file may be a .gz or .zip.`,
  );
}

function tooLarge(bytesMax: number): FarthingError {
  return new FarthingError('body_too_large', `Send at most ${bytesMax} bytes in the body of this request.`, {
    facts: { limit_bytes: bytesMax },
  });
}
