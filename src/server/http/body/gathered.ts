import { setImmediate as nextTurn } from 'node:timers/promises';

/** Smaller pieces are copied into blocks of this size. */
const BLOCK_BYTES = 64 * 1024;
/** Bytes joined in one turn of the event loop: about a millisecond. */
const BYTES_PER_TURN = 2 ** 20;

/** Bytes that come in pieces of any length: large ones are joined at the end, over several turns of the event loop. */
export class Gathered {
  readonly #blocks: Buffer[] = [];
  /** The last block, while there is room in it. */
  #open: Buffer | undefined;
  #openBytes = 0;
  #bytes = 0;

  /** Bytes added so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes a piece over. */
  add(piece: Buffer): void {
    this.#bytes += piece.byteLength;
    // The first may be the only one.
    if (piece.byteLength >= BLOCK_BYTES || this.#blocks.length === 0) {
      this.#close();
      this.#blocks.push(piece);
      return;
    }
    if (!this.#open || this.#openBytes + piece.byteLength > BLOCK_BYTES) {
      this.#close();
      this.#open = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#openBytes = 0;
    }
    this.#openBytes += piece.copy(this.#open, this.#openBytes);
    free(piece);
  }

  /** Puts all together; the pieces are given back on the way. */
  async whole(): Promise<Buffer> {
    this.#close();
    const only = this.#blocks.length === 1 && this.#blocks.pop();
    if (only) return only;
    const whole = Buffer.allocUnsafeSlow(this.#bytes);
    let [at, inTurn] = [0, 0];
    for (let block = this.#blocks.shift(); block; block = this.#blocks.shift()) {
      at += block.copy(whole, at);
      inTurn += block.byteLength;
      free(block);
      if (inTurn < BYTES_PER_TURN) continue;
      inTurn = 0;
      await nextTurn();
    }
    return whole;
  }

  /** Gives all memory back. */
  drop(): void {
    this.#close();
    for (const block of this.#blocks.splice(0)) free(block);
  }

  #close(): void {
    if (this.#open) this.#blocks.push(this.#open.subarray(0, this.#openBytes));
    this.#open = undefined;
  }
}

/** Gives memory back at once, which nothing else may look at: until the collector comes, a fast sender would have filled much more. */
export function free({ buffer }: Buffer): void {
  (buffer as ArrayBuffer).transfer(0);
}
