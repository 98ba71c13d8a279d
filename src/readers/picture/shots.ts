import type { PictureContent } from '@farthing/protocol/document';

/** Fingerprints (128 bits) of frames without a visible difference differ by at most this. Such frames are one shot, however long. */
const SAME_BITS_MAX = 2;
/** The same for nearly equal frames. Such a shot is cut after some seconds, so that the times of a hit say enough. */
const NEAR_EQUAL_BITS_MAX = 12;
const NEAR_EQUAL_SECONDS_MAX = 2;

/**
 * Merges neighbouring frames that look the same into one shot, which covers their whole time. With too many shots, every
 * second one is dropped, as often as needed: those that stay are spread over the whole time.
 */
export class ShotMerger {
  readonly #shotsMax: number;
  readonly #frameSeconds: number;
  #shots: PictureContent[] = [];
  #last: PictureContent | undefined;
  #dropped = 0;

  /** @param frameSeconds how long a frame lasts beyond its `time_end_s` */
  constructor(shotsMax: number, frameSeconds = 0) {
    this.#shotsMax = shotsMax;
    this.#frameSeconds = frameSeconds;
  }

  /** Shots that were too many. */
  get dropped(): number {
    return this.#dropped;
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
    if (this.#shots.length >= 2 * this.#shotsMax) this.#thin();
  }

  /** The shots, in order. */
  finish(): PictureContent[] {
    if (this.#last) this.#shots.push(this.#last);
    this.#last = undefined;
    while (this.#shots.length > this.#shotsMax) this.#thin();
    const shots = this.#shots;
    this.#shots = [];
    return shots;
  }

  #thin(): void {
    this.#dropped += this.#shots.length >> 1;
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
