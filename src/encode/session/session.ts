import type * as ort from 'onnxruntime-node';
import type { Candidate } from '../models/tower.ts';
import { createSession } from './kept-graph.ts';
import { KeptTensor } from './kept-tensor.ts';

export type Feeds = Readonly<Record<string, ort.Tensor>>;

/** A loaded model on one provider, for the thread that opened it. */
export interface Session {
  /**
   * @param outputs the shape of each output that is wanted
   * @returns their values in memory of the session, which its next run writes anew
   */
  run(feeds: Feeds, outputs: OutputShapes): Promise<Record<string, Output>>;
  close(): Promise<void>;
}

export type OutputShapes = Readonly<Record<string, readonly number[]>>;

export interface Output {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/**
 * How a candidate's session is opened. One thread for each session: throughput comes from several workers, and a small model
 * gains nothing from more. The manifest's options of a provider go to it as they are; of CUDA's, onnxruntime-node 1.30 hands
 * on `deviceId` alone. It has no interface for CUDA graphs or I/O binding: what it takes are tensors that were made before.
 */
export function sessionOptionsOf({
  provider,
  providerOptions,
  sessionOptions,
}: Candidate): ort.InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 4,
    executionProviders: [provider === 'cpu' ? 'cpu' : { name: provider, ...providerOptions }],
    ...(sessionOptions ? { extra: sessionOptions } : {}),
  };
}

/** Loads a model for the thread that asks. */
export async function openSession(candidate: Candidate): Promise<Session> {
  const session = await createSession(candidate, sessionOptionsOf(candidate));
  const kept = new Map<string, KeptTensor<'float32'>>();
  const keptFor = (name: string): KeptTensor<'float32'> => {
    let memory = kept.get(name);
    if (!memory) {
      memory = new KeptTensor('float32', 0);
      kept.set(name, memory);
    }
    return memory;
  };
  return {
    async run(feeds, outputs) {
      const given: Record<string, ort.Tensor> = {};
      for (const [name, dims] of Object.entries(outputs)) given[name] = keptFor(name).of(dims);
      // ONNX Runtime writes into the tensors that it is given, and refuses those of another shape or type than its own. What
      // the binding returns are others, over memory that is new with each run.
      await session.run(feeds, given);
      return Object.fromEntries(
        Object.entries(given).map(([name, tensor]) => [
          name,
          { data: KeptTensor.data<Float32Array>(tensor), dims: tensor.dims },
        ]),
      );
    },
    close: () => session.release(),
  };
}

/** Rows of a run once it is padded to the next of the allowed counts; as many as there are where any count is allowed. */
export function paddedRows(rows: number, counts: readonly number[] | undefined): number {
  return counts?.find((count) => count >= rows) ?? rows;
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
