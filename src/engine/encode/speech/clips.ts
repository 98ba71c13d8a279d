import type { Stretch } from './stretches.ts';

/** Neighbouring stretches of speech that are transcribed together, with the silences between them. */
export interface Clip extends Stretch {
  readonly stretches: readonly Stretch[];
}

/** Silence before and after speech that a clip has besides: voices begin before they are noticed. */
const MARGIN_SECONDS = 0.2;
/** A longer silence parts two clips. */
const GAP_SECONDS_MAX = 2;

/** Joins stretches, as they end, to clips of at most some seconds. A longer stretch must be cut before. */
export class Clips {
  readonly #secondsMax: number;
  #open: Stretch[] = [];
  #former = 0;

  constructor(secondsMax: number) {
    this.#secondsMax = secondsMax;
  }

  /** Most seconds of a stretch. */
  get stretchSecondsMax(): number {
    return this.#secondsMax - 2 * MARGIN_SECONDS;
  }

  /** Second from which sound is still needed; undefined while no stretch waits. */
  get neededFrom(): number | undefined {
    return this.#open[0] && this.#start();
  }

  /** Takes the next stretch. @returns the clip before it, if they are not joined */
  push(stretch: Stretch): Clip | undefined {
    const last = this.#open.at(-1);
    const isNear = last && stretch.time_s - last.time_end_s <= GAP_SECONDS_MAX;
    const isShort = last && stretch.time_end_s + MARGIN_SECONDS - this.#start() <= this.#secondsMax;
    const clip = isNear && isShort ? undefined : this.flush();
    this.#open.push(stretch);
    return clip;
  }

  /** The clip that was open. @param second heard so far: nothing that comes later joins it if it is long ago */
  flush(second = Number.POSITIVE_INFINITY): Clip | undefined {
    const last = this.#open.at(-1);
    if (!last || second - last.time_end_s <= GAP_SECONDS_MAX) return undefined;
    const time_s = this.#start();
    this.#former = last.time_end_s + MARGIN_SECONDS;
    const clip = { time_s, time_end_s: this.#former, stretches: this.#open };
    this.#open = [];
    return clip;
  }

  #start(): number {
    const { time_s } = this.#open[0]!;
    // Not the margin that the clip before has taken, but never later than the speech.
    return Math.min(time_s, Math.max(0, this.#former, time_s - MARGIN_SECONDS));
  }
}
