import type * as ort from 'onnxruntime-node';
import type { Candidate } from '../models/tower.ts';
import { createSession } from './kept-graph.ts';
import { KeptTensor } from './kept-tensor.ts';

export type Feeds = Readonly<Record<string, ort.Tensor>>;

/** A loaded model on one provider. It belongs to the thread that opened it. */
export interface Session {
  /**
   * @param outputs shapes of the requested outputs
   * @returns their values, in memory that the session's next run overwrites
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
 * Options of a candidate's session. Each session has one thread: throughput comes from several workers, and a small model
 * gains nothing from more threads. The manifest's provider options are passed on unchanged; of CUDA's, onnxruntime-node 1.30
 * uses `deviceId` alone. It has no interface for CUDA graphs or I/O binding, but accepts preallocated tensors.
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

/** Loads a model for the calling thread. */
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
      const tensors: Record<string, ort.Tensor> = {};
      for (const [name, dims] of Object.entries(outputs)) tensors[name] = keptFor(name).of(dims);
      // ONNX Runtime writes into these tensors, and refuses them if shape or type differ. The tensors that the binding returns
      // are others, over new memory in each run.
      await session.run(feeds, tensors);
      return Object.fromEntries(
        Object.entries(tensors).map(([name, tensor]) => [
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
 * Scales a row to unit length in place, as rows of an index need it. A row of zeros, which a static model gives for a text
 * without known words, becomes a fixed direction.
 * @throws Error when the row is not finite
 */
export function toUnitLength(row: Float32Array): void {
  let sum = 0;
  for (const value of row) sum += value * value;
  const length = Math.sqrt(sum);
  if (!Number.isFinite(length)) throw new Error('the model gave a vector that is not finite');
  if (length === 0) row.fill(1 / Math.sqrt(row.length));
  else for (let index = 0; index < row.length; index++) row[index]! /= length;
}
