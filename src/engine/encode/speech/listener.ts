import { SOUND_RATE } from '@farthing/protocol/document';
import type { ManifestVoice } from '../models/manifest.ts';
import { type Clip, Clips } from './clips.ts';
import { CERTAIN_FROM } from './phrases.ts';
import type { SpokenLanguage, Written } from './speech-writer.ts';
import { fewer, type Stretch, Stretches } from './stretches.ts';
import type { Heard, ListenTask } from './voice-thread.ts';

/** A phrase of a recording. */
export interface Said extends Stretch {
  readonly text: string;
  /** The model's own, 0..1. */
  readonly certainty: number;
  /** The language that it was heard in. */
  readonly language: string;
}

export interface ListenerDeps {
  readonly voice: ManifestVoice;
  readonly listen: (task: Omit<ListenTask, 'kind'>) => Promise<Heard>;
  /** Absent where no model transcribes speech. `secondsMax`: of a clip. */
  readonly writing?: {
    readonly secondsMax: number;
    readonly write: (samples: Float32Array, before?: string) => Promise<Written>;
  };
}

/** What a recording says, in order of time. */
export interface HeardRecording {
  /** If there are too many stretches, neighbours are merged. */
  readonly speech: readonly Stretch[];
  readonly said: readonly Said[];
  /** What of it may be wrong. */
  readonly uncertain: readonly Said[];
  /** Speech of which no words could be written. Empty where no model writes them. */
  readonly unwritten: readonly Stretch[];
  /** Seconds of sound that arrived. */
  readonly seconds: number;
}

const STRETCHES_MAX = 1_000;
const SAMPLE_MAX = 32_768;
/** Whisper's input is 30 seconds. Two are left free, because words at its very end are often lost. */
const CLIP_SECONDS_MAX = 28;
/** Shorter sounds of a voice need not be words. */
const WORDS_SECONDS_MIN = 1;
/** Text transcribed farther than this from any detected speech is a hallucination. */
const AWAY_SECONDS_MAX = 0.5;

/** Listens to one recording, whose sound arrives in pieces, in order. */
export class Listener {
  readonly #deps: ListenerDeps;
  readonly #stretches: Stretches;
  readonly #clips: Clips;
  readonly #said: Said[] = [];
  #rest = new Float32Array();
  #context: Float32Array | undefined;
  #state: Float32Array | undefined;
  /** Sound that may still be transcribed, and the second at which it begins. */
  #kept = new Float32Array();
  #keptFrom = 0;
  /** Stretches that are part of clips. */
  #joined = 0;
  #language: SpokenLanguage | undefined;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    this.#stretches = new Stretches(deps.voice);
    this.#clips = new Clips(Math.min(CLIP_SECONDS_MAX, deps.writing?.secondsMax ?? CLIP_SECONDS_MAX));
  }

  /** Takes the next samples: 16 bits, one channel, SOUND_RATE a second. Resolves when the model has heard them. */
  async hear(samples: Int16Array): Promise<void> {
    const sound = new Float32Array(this.#rest.length + samples.length);
    sound.set(this.#rest);
    for (let at = 0; at < samples.length; at++) sound[this.#rest.length + at] = samples[at]! / SAMPLE_MAX;
    const { window, context } = this.#deps.voice;
    const whole = sound.length - (sound.length % window);
    this.#rest = sound.slice(whole);
    if (whole === 0) return;
    const heard = sound.slice(0, whole);
    const answer = await this.#deps.listen({
      samples: heard,
      ...(this.#context && { context: this.#context }),
      ...(this.#state && { state: this.#state }),
    });
    this.#context = heard.slice(heard.length - Math.min(context, heard.length));
    this.#state = answer.state;
    for (const probability of answer.probabilities) {
      this.#stretches.push(probability);
      if (this.#stretches.openFor >= this.#clips.stretchSecondsMax) this.#stretches.cut();
    }
    if (!this.#deps.writing) return;
    this.#kept = joined(this.#kept, heard);
    await this.#writeEnded();
    await this.#write(this.#clips.flush(this.#stretches.openSince ?? this.#stretches.seconds));
    this.#forget();
  }

  async finish(): Promise<HeardRecording> {
    const speech = this.#stretches.finish();
    await this.#writeEnded();
    await this.#write(this.#clips.flush());
    return {
      speech: fewer(speech, STRETCHES_MAX),
      said: this.#said,
      uncertain: this.#said.filter(({ certainty }) => certainty < CERTAIN_FROM),
      unwritten: this.#deps.writing ? speech.filter((stretch) => this.#isUnwritten(stretch)) : [],
      seconds: this.#stretches.seconds,
    };
  }

  #isUnwritten(stretch: Stretch): boolean {
    const inner = {
      time_s: stretch.time_s + WORDS_SECONDS_MIN / 2,
      time_end_s: stretch.time_end_s - WORDS_SECONDS_MIN / 2,
    };
    if (inner.time_end_s < inner.time_s) return false;
    return !this.#said.some(
      ({ time_s, time_end_s }) => time_s < inner.time_end_s && time_end_s > inner.time_s,
    );
  }

  /** Joins the stretches that have ended since the last call, and transcribes the clips that are complete. */
  async #writeEnded(): Promise<void> {
    for (; this.#joined < this.#stretches.found.length; this.#joined++)
      await this.#write(this.#clips.push(this.#stretches.found[this.#joined]!));
  }

  async #write(clip: Clip | undefined): Promise<void> {
    const { writing } = this.#deps;
    if (!writing || !clip) return;
    const { phrases, language } = await writing.write(
      this.#between(clip.time_s, clip.time_end_s),
      this.#language?.code,
    );
    if (language.share >= (this.#language?.share ?? 0)) this.#language = language;
    for (const { time_s, time_end_s, ...phrase } of phrases) {
      const times = { time_s: rounded(clip.time_s + time_s), time_end_s: rounded(clip.time_s + time_end_s) };
      if (!clip.stretches.some((stretch) => isNear(stretch, times))) continue;
      this.#said.push({ ...times, ...phrase, language: language.code });
    }
  }

  /** Drops the sound before all that may still be transcribed. */
  #forget(): void {
    const { seconds, openSince = seconds } = this.#stretches;
    // A stretch that begins now takes a second before it, at most.
    const from = Math.max(0, Math.min(this.#clips.neededFrom ?? openSince, openSince - 1));
    this.#kept = this.#between(from, Number.POSITIVE_INFINITY);
    this.#keptFrom = Math.max(from, this.#keptFrom);
  }

  #between(from: number, to: number): Float32Array<ArrayBuffer> {
    const at = (second: number): number => Math.max(0, Math.round((second - this.#keptFrom) * SOUND_RATE));
    return this.#kept.slice(at(from), Math.min(this.#kept.length, at(to)));
  }
}

function isNear(stretch: Stretch, times: Stretch): boolean {
  return (
    times.time_s < stretch.time_end_s + AWAY_SECONDS_MAX &&
    times.time_end_s > stretch.time_s - AWAY_SECONDS_MAX
  );
}

function joined(first: Float32Array, second: Float32Array): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
