import type { ManifestVoice } from '../models/manifest.ts';

/** Where somebody speaks, in seconds from the start. */
export interface Stretch {
  readonly time_s: number;
  readonly time_end_s: number;
}

/**
 * Stretches of speech from the probabilities of windows, as they come: one begins where the probability reaches `begins_at`, and
 * ends where it has stayed under `ends_below` for `silence_seconds_min`. Shorter ones than `speech_seconds_min` are no speech.
 */
export class Stretches {
  readonly #voice: ManifestVoice;
  readonly #windowSeconds: number;
  /** Those that have ended, in order. */
  readonly found: Stretch[] = [];
  #windows = 0;
  #began: number | undefined;
  /** Window at which a silence inside a stretch began. */
  #silent: number | undefined;

  constructor(voice: ManifestVoice) {
    this.#voice = voice;
    this.#windowSeconds = voice.window / voice.sample_rate;
  }

  push(probability: number): void {
    const at = this.#windows++;
    const { begins_at, ends_below, silence_seconds_min } = this.#voice;
    if (probability >= begins_at) {
      this.#began ??= at;
      this.#silent = undefined;
      return;
    }
    if (this.#began === undefined || probability >= ends_below) return;
    this.#silent ??= at;
    if ((at + 1 - this.#silent) * this.#windowSeconds >= silence_seconds_min) this.#close(this.#silent);
  }

  finish(): readonly Stretch[] {
    if (this.#began !== undefined) this.#close(this.#silent ?? this.#windows);
    return this.found;
  }

  /** Seconds that were looked at. */
  get seconds(): number {
    return rounded(this.#windows * this.#windowSeconds);
  }

  /** Second at which the stretch began that goes on; undefined while nobody speaks. */
  get openSince(): number | undefined {
    return this.#began === undefined ? undefined : rounded(this.#began * this.#windowSeconds);
  }

  /** Seconds that it has lasted. */
  get openFor(): number {
    return this.openSince === undefined ? 0 : this.seconds - this.openSince;
  }

  /** Ends it here: it goes on as the next one. */
  cut(): void {
    if (this.#began === undefined) return;
    const { speech_seconds_min } = this.#voice;
    if (this.openFor < speech_seconds_min) return;
    this.#close(this.#windows);
    this.#began = this.#windows;
  }

  #close(end: number): void {
    const began = this.#began!;
    this.#began = undefined;
    this.#silent = undefined;
    const [time_s, time_end_s] = [began, end].map((window) => rounded(window * this.#windowSeconds)) as [
      number,
      number,
    ];
    if (time_end_s - time_s >= this.#voice.speech_seconds_min) this.found.push({ time_s, time_end_s });
  }
}

/** At most so many: those with the shortest silences between them become one, until they are. */
export function fewer(stretches: readonly Stretch[], most: number): readonly Stretch[] {
  let merged = [...stretches];
  for (let gap = 1; merged.length > most; gap *= 2) {
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
