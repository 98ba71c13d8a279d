import type { ManifestVoice } from '../models/manifest.ts';

/** A stretch of speech, in seconds from the start. */
export interface Stretch {
  readonly time_s: number;
  readonly time_end_s: number;
}

/**
 * Finds stretches of speech in the probabilities of windows as they arrive. A stretch begins where the probability reaches
 * `begins_at`, and ends where it has stayed below `ends_below` for `silence_seconds_min`. Stretches shorter than
 * `speech_seconds_min` are dropped.
 */
export class Stretches {
  readonly #voice: ManifestVoice;
  readonly #windowSeconds: number;
  /** Stretches that have ended, in order. */
  readonly found: Stretch[] = [];
  #windows = 0;
  #began: number | undefined;
  /** Window at which the silence inside the open stretch began. */
  #silent: number | undefined;
  /** Probabilities of the open stretch's windows. */
  #open: number[] = [];

  constructor(voice: ManifestVoice) {
    this.#voice = voice;
    this.#windowSeconds = voice.window / voice.sample_rate;
  }

  push(probability: number): void {
    const at = this.#windows++;
    const { begins_at, ends_below, silence_seconds_min } = this.#voice;
    if (probability >= begins_at) {
      this.#began ??= at;
      this.#open.push(probability);
      this.#silent = undefined;
      return;
    }
    if (this.#began === undefined) return;
    this.#open.push(probability);
    if (probability >= ends_below) return;
    this.#silent ??= at;
    if ((at + 1 - this.#silent) * this.#windowSeconds >= silence_seconds_min) this.#close(this.#silent);
  }

  finish(): readonly Stretch[] {
    if (this.#began !== undefined) this.#close(this.#silent ?? this.#windows);
    return this.found;
  }

  /** Seconds heard so far. */
  get seconds(): number {
    return rounded(this.#windows * this.#windowSeconds);
  }

  /** Second at which the open stretch began; undefined during silence. */
  get openSince(): number | undefined {
    return this.#began === undefined ? undefined : rounded(this.#began * this.#windowSeconds);
  }

  /** Length of the open stretch in seconds. */
  get openFor(): number {
    return this.openSince === undefined ? 0 : this.seconds - this.openSince;
  }

  /** Ends the open stretch at the likeliest pause in its second half; the next one begins there. */
  cut(): void {
    if (this.#began === undefined) return;
    const half = this.#open.length >> 1;
    let pause = half;
    for (let at = half; at < this.#open.length; at++) if (this.#open[at]! <= this.#open[pause]!) pause = at;
    const [began, rest, silent] = [this.#began + pause, this.#open.slice(pause), this.#silent];
    this.#close(began);
    this.#began = began;
    this.#open = rest;
    if (silent !== undefined) this.#silent = Math.max(silent, began);
  }

  #close(end: number): void {
    const began = this.#began!;
    this.#began = undefined;
    this.#silent = undefined;
    this.#open = [];
    const [time_s, time_end_s] = [began, end].map((window) => rounded(window * this.#windowSeconds)) as [
      number,
      number,
    ];
    if (time_end_s - time_s >= this.#voice.speech_seconds_min) this.found.push({ time_s, time_end_s });
  }
}

/** Merges stretches that were cut apart, and those with the shortest silences between them until at most `most` are left. */
export function fewer(stretches: readonly Stretch[], most: number): readonly Stretch[] {
  let merged = [...stretches];
  for (let gap = 0; gap === 0 || merged.length > most; gap = Math.max(1, 2 * gap)) {
    const next: Stretch[] = [];
    for (const stretch of merged) {
      const last = next.at(-1);
      if (last && stretch.time_s - last.time_end_s <= gap)
        next[next.length - 1] = { time_s: last.time_s, time_end_s: stretch.time_end_s };
      else next.push(stretch);
    }
    merged = next;
  }
  return merged;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
