import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import * as ort from 'onnxruntime-node';
import type { ManifestVoice } from '../models/manifest.ts';
import { answerTasks } from '../workers/task-thread.ts';
import { type SpeechPaths, SpeechWriter, type Written } from './speech-writer.ts';

/**
 * A thread that listens for an ingest: runs a model of voice activity over windows of sound, and transcribes speech if a model is
 * installed, which it opens at the first.
 */

export interface VoiceSettings {
  readonly weights: string;
  readonly voice: ManifestVoice;
  readonly writing?: SpeechPaths;
}

/** Sound that continues from a state. The answer has a probability for each whole window, and the next state. */
export interface ListenTask {
  readonly kind: 'listen';
  readonly samples: Float32Array;
  /** Absent at the beginning of a recording. */
  readonly state?: Float32Array;
  /** The last samples before these. */
  readonly context?: Float32Array;
}

/** A stretch of speech to be transcribed. */
export interface WriteTask {
  readonly kind: 'write';
  readonly samples: Float32Array;
  /** The language of the recording until here. */
  readonly before?: string;
}

export interface Heard {
  readonly probabilities: Float32Array;
  readonly state: Float32Array;
}

/** The priority of the encoder's ingest workers: a search must not wait for it. */
const NICENESS = 10;

const { weights, voice, writing } = workerData as VoiceSettings;
const session = await ort.InferenceSession.create(weights, {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4,
});
setPriority(0, NICENESS);
let writer: SpeechWriter | undefined;
const rate = new ort.Tensor('int64', BigInt64Array.of(BigInt(voice.sample_rate)), []);
const stateLength = voice.state.reduce((product, side) => product * side, 1);

async function listen({ samples, state, context }: ListenTask): Promise<Heard> {
  const { window, inputs, outputs } = voice;
  const windows = Math.floor(samples.length / window);
  const probabilities = new Float32Array(windows);
  let carried: Float32Array = state ?? new Float32Array(stateLength);
  const whole = new Float32Array(voice.context + samples.length);
  if (context) whole.set(context);
  whole.set(samples, voice.context);
  for (let index = 0; index < windows; index++) {
    const start = index * window;
    const sound = whole.slice(start, start + voice.context + window);
    const found = await session.run({
      [inputs.sound]: new ort.Tensor('float32', sound, [1, sound.length]),
      [inputs.state]: new ort.Tensor('float32', carried, voice.state),
      ...(inputs.rate !== undefined && { [inputs.rate]: rate }),
    });
    carried = found[outputs.state]!.data as Float32Array;
    probabilities[index] = (found[outputs.probability]!.data as Float32Array)[0]!;
  }
  return { probabilities, state: carried };
}

async function write({ samples, before }: WriteTask): Promise<Written> {
  if (!writing) throw new Error('no model that transcribes speech is installed');
  writer ??= await SpeechWriter.open(writing);
  return writer.write(samples, before);
}

answerTasks((task: ListenTask | WriteTask) => (task.kind === 'listen' ? listen(task) : write(task)));
