import type { PictureContent } from '../domain/document.ts';

/** Bits of 128 by which the fingerprints of near-equal pictures differ at most: as a search by picture counts them. */
const NEAR_EQUAL_BITS_MAX = 20;

/**
 * Neighbouring frames that look the same become one, which stands for their whole time. When there are more than so many, every
 * second one is given up, again and again: they stay spread over all of the time.
 */
export class ShotMerger {
  readonly #most: number;
  #shots: PictureContent[] = [];
  #last: PictureContent | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes the next frame. */
  push(frame: PictureContent): void {
    const last = this.#last;
    if (last && bitsApart(last.fingerprint, frame.fingerprint) <= NEAR_EQUAL_BITS_MAX) {
      this.#last = { ...last, time_end_s: frame.time_end_s };
      return;
    }
    if (last) this.#shots.push(last);
    this.#last = frame;
    if (this.#shots.length >= 2 * this.#most) this.#thin();
  }

  /** The shots, in order. */
  finish(): PictureContent[] {
    if (this.#last) this.#shots.push(this.#last);
    this.#last = undefined;
    while (this.#shots.length > this.#most) this.#thin();
    const shots = this.#shots;
    this.#shots = [];
    return shots;
  }

  #thin(): void {
    this.#shots = this.#shots
      .filter((_, index) => index % 2 === 0)
      .map((shot, index) => ({
        ...shot,
        time_end_s: this.#shots[2 * index + 1]?.time_end_s ?? shot.time_end_s,
      }));
  }
}

function bitsApart(a: Uint8Array, b: Uint8Array): number {
  let bits = 0;
  for (const [index, byte] of a.entries()) {
    for (let rest = byte ^ b[index]!; rest !== 0; rest &= rest - 1) bits++;
  }
  return bits;
}
