import { type Candidate, onProcessor, type Tower } from '../models/tower.ts';
import type { TowerChoice } from './protocol.ts';
import { openTower } from './warm-up.ts';

/** Smallest cosine between a GPU's vector and the processor's, for the same weights and the same input. */
export const PARITY_MIN = 0.999;

/** Opens a candidate and encodes the probe. @returns its vector */
export type Try = (candidate: Candidate) => Promise<Float32Array>;

/**
 * The first candidate that serves, in the order of preference: nothing is timed, so that every start on a machine chooses the
 * same. A GPU that fails to open, or whose numbers differ from the processor's with the same weights, is rejected with the
 * reason; what runs on the processor is left to the caller.
 */
export async function chooseCandidate(candidates: readonly Candidate[], open: Try): Promise<TowerChoice> {
  const rejected: { provider: string; reason: string }[] = [];
  for (const [index, candidate] of candidates.entries()) {
    if (onProcessor(candidate)) return { candidates: candidates.slice(index), rejected };
    try {
      const vector = await open(candidate);
      const reference = await open({ ...candidate, provider: 'cpu', providerOptions: undefined });
      const likeness = cosine(vector, reference);
      if (likeness >= PARITY_MIN) return { candidates: [candidate], rejected };
      throw new Error(`its numbers differ from the processor's: cosine ${likeness.toFixed(5)}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      rejected.push({ provider: candidate.provider, reason });
    }
  }
  return { candidates: [], rejected };
}

/** Opens a candidate of a tower, encodes the probe, and closes it. */
export async function tryTower(tower: Tower, candidate: Candidate): Promise<Float32Array> {
  const { session, runner } = await openTower(tower, candidate);
  try {
    const vector = await runner.probe();
    // The processor may have stood in for the provider.
    if (session?.loss !== undefined) throw new Error(session.loss);
    return vector;
  } finally {
    await session?.close();
  }
}

/** Cosine of two vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
