import * as ort from 'onnxruntime-node';
import type { Candidate } from './tower.ts';

export type Feeds = Readonly<Record<string, ort.Tensor>>;

/** A loaded model on one provider, for the thread that opened it. */
export interface Session {
  run(feeds: Feeds, outputs: readonly string[]): Promise<Record<string, Output>>;
  close(): Promise<void>;
}

export interface Output {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** One thread for each session: throughput comes from several workers, and a small model gains nothing from more. */
export async function openSession(candidate: Candidate): Promise<Session> {
  const { provider, path, providerOptions, sessionOptions } = candidate;
  const session = await ort.InferenceSession.create(path, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 4,
    executionProviders: [provider === 'cpu' ? 'cpu' : { name: provider, ...providerOptions }],
    ...(sessionOptions ? { extra: sessionOptions } : {}),
  });
  return {
    async run(feeds, outputs) {
      const found = await session.run(feeds, outputs as string[]);
      return Object.fromEntries(outputs.map((name) => [name, floats(name, found[name])]));
    },
    close: () => session.release(),
  };
}

function floats(name: string, tensor: ort.Tensor | undefined): Output {
  if (!(tensor?.data instanceof Float32Array))
    throw new Error(`the model's output "${name}" is no tensor of 32-bit floats`);
  return { data: tensor.data, dims: tensor.dims };
}

/** A tensor over memory of the caller, who keeps it as it is until the run ends. */
export function integers(data: BigInt64Array, rows: number, width: number): ort.Tensor {
  return new ort.Tensor('int64', data, [rows, width]);
}

export function numbers(data: Float32Array, dims: readonly number[]): ort.Tensor {
  return new ort.Tensor('float32', data, dims);
}

/**
 * Scales a row to unit length in place. A row of zeros, which a static model gives for a text without a word that it
 * knows, becomes the same direction each time: rows of an index have unit length. @throws when it is not finite.
 */
export function toUnitLength(row: Float32Array): void {
  let sum = 0;
  for (const value of row) sum += value * value;
  const length = Math.sqrt(sum);
  if (!Number.isFinite(length)) throw new Error('the model gave a vector that is not finite');
  if (length === 0) row.fill(1 / Math.sqrt(row.length));
  else for (let index = 0; index < row.length; index++) row[index]! /= length;
}
