import { SOUND_RATE } from '../../domain/document.ts';
import type { ManifestVoice } from '../models/manifest.ts';
import { fewer, type Stretch, Stretches } from './stretches.ts';
import type { Heard, ListenTask } from './voice-thread.ts';

/** A stretch of a recording and what is said in it. */
export interface Said extends Stretch {
  readonly text: string;
}

export interface ListenerDeps {
  readonly voice: ManifestVoice;
  readonly listen: (task: Omit<ListenTask, 'kind'>) => Promise<Heard>;
  /** Absent where no model transcribes speech. */
  readonly writing?: { readonly seconds: number; readonly write: (samples: Float32Array) => Promise<string> };
}

const STRETCHES_MAX = 1_000;
const SAMPLE_MAX = 32_768;

/** Listens to one recording, whose sound arrives in pieces, in order. */
export class Listener {
  readonly #deps: ListenerDeps;
  readonly #stretches: Stretches;
  readonly #said: Said[] = [];
  #rest = new Float32Array();
  #context: Float32Array | undefined;
  #state: Float32Array | undefined;
  /** Sound that may still be transcribed, and the second at which it begins. */
  #kept = new Float32Array();
  #keptFrom = 0;
  #written = 0;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    this.#stretches = new Stretches(deps.voice);
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
    for (const probability of answer.probabilities) this.#stretches.push(probability);
    if (!this.#deps.writing) return;
    this.#kept = joined(this.#kept, heard);
    if (this.#stretches.openFor > this.#deps.writing.seconds / 2) this.#stretches.cut();
    await this.#write();
  }

  /** Where somebody speaks, in order, and what is said. Of very many stretches, neighbours are merged. */
  async finish(): Promise<{ speech: readonly Stretch[]; said: readonly Said[] }> {
    const speech = this.#stretches.finish();
    await this.#write();
    return { speech: fewer(speech, STRETCHES_MAX), said: this.#said };
  }

  /** Transcribes the stretches that have ended since the last call, and drops the sound before the open one. */
  async #write(): Promise<void> {
    const { writing } = this.#deps;
    if (!writing) return;
    const { found } = this.#stretches;
    for (const { time_s, time_end_s } of found.slice(this.#written)) {
      for (let from = time_s; from < time_end_s; from += writing.seconds) {
        const to = Math.min(time_end_s, from + writing.seconds);
        const text = (await writing.write(this.#between(from, to))).trim();
        if (text !== '') this.#said.push({ time_s: from, time_end_s: to, text });
      }
    }
    this.#written = found.length;
    const goesOnFrom = this.#stretches.openSince ?? this.#stretches.seconds;
    this.#kept = this.#between(goesOnFrom, Number.POSITIVE_INFINITY);
    this.#keptFrom = goesOnFrom;
  }

  #between(from: number, to: number): Float32Array<ArrayBuffer> {
    const at = (second: number): number => Math.max(0, Math.round((second - this.#keptFrom) * SOUND_RATE));
    return this.#kept.slice(at(from), Math.min(this.#kept.length, at(to)));
  }
}

function joined(first: Float32Array, second: Float32Array): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
