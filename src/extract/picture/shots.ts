import type { PictureContent } from '../../domain/document.ts';

/** Bits of 128 by which fingerprints differ where nobody sees a difference: such frames are one shot however long. */
const SAME_BITS_MAX = 2;
/** Bits by which those of near-equal pictures differ: such frames are one shot for so many seconds, or a hit would say too little. */
const NEAR_EQUAL_BITS_MAX = 12;
const NEAR_EQUAL_SECONDS_MAX = 2;

/**
 * Neighbouring frames that look the same become one, which stands for their whole time. When there are more than so many, every
 * second one is given up, again and again: they stay spread over all of the time.
 */
export class ShotMerger {
  readonly #most: number;
  readonly #frameSeconds: number;
  #shots: PictureContent[] = [];
  #last: PictureContent | undefined;

  /** @param frameSeconds how long a frame stands for whose end is not known */
  constructor(most: number, frameSeconds = 0) {
    this.#most = most;
    this.#frameSeconds = frameSeconds;
  }

  /** Takes the next frame. */
  push(frame: PictureContent): void {
    const last = this.#last;
    const time_end_s = (frame.time_end_s ?? 0) + this.#frameSeconds;
    if (last && isSameShot(last, frame)) {
      this.#last = { ...last, time_end_s };
      return;
    }
    if (last) this.#shots.push(last);
    this.#last = { ...frame, time_end_s };
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

function isSameShot(shot: PictureContent, frame: PictureContent): boolean {
  const bits = bitsApart(shot.fingerprint, frame.fingerprint);
  const seconds = (frame.time_s ?? 0) - (shot.time_s ?? 0);
  return bits <= SAME_BITS_MAX || (bits <= NEAR_EQUAL_BITS_MAX && seconds < NEAR_EQUAL_SECONDS_MAX);
}

function bitsApart(a: Uint8Array, b: Uint8Array): number {
  let bits = 0;
  for (const [index, byte] of a.entries()) {
    for (let rest = byte ^ b[index]!; rest !== 0; rest &= rest - 1) bits++;
  }
  return bits;
}
