import type { LastingSession } from './lasting-session.ts';
import { openPicture, openText, probePicture, probeText } from './opened.ts';
import type { TowerChoice } from './protocol.ts';
import type { Candidate, PictureTower, TextTower } from './tower.ts';

/** Smallest cosine between a provider's vector and the processor's, for the same weights and the same input. */
export const PARITY_MIN = 0.999;

/** A candidate that was opened and measured: milliseconds of one row, and its vector of the probe. */
export interface Trial {
  readonly warmupMs: number;
  readonly vector: Float32Array;
}

/**
 * The fastest candidate whose numbers are right. One that fails to open, or that gives other numbers than the processor
 * does with the same weights, is rejected with its reason.
 */
export async function chooseCandidate(
  candidates: readonly Candidate[],
  open: (candidate: Candidate) => Promise<Trial>,
): Promise<TowerChoice> {
  const only = candidates.length === 1 ? candidates[0] : undefined;
  if (only?.provider === 'cpu') return { candidate: only, rejected: [] };
  const rejected: { provider: string; reason: string }[] = [];
  let best: { candidate: Candidate; warmupMs: number } | undefined;
  for (const candidate of candidates) {
    try {
      const trial = await open(candidate);
      if (candidate.provider !== 'cpu') {
        const reference = await open({ ...candidate, provider: 'cpu', providerOptions: undefined });
        const likeness = cosine(trial.vector, reference.vector);
        if (!(likeness >= PARITY_MIN))
          throw new Error(`its numbers differ from the processor's: cosine ${likeness.toFixed(5)}`);
      }
      if (!best || trial.warmupMs < best.warmupMs) best = { candidate, warmupMs: trial.warmupMs };
    } catch (error) {
      rejected.push({
        provider: candidate.provider,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }
  return { ...(best ? { candidate: best.candidate } : {}), rejected };
}

export async function tryText(tower: TextTower, candidate: Candidate): Promise<Trial> {
  const { runner, session, report } = await openText(tower, candidate);
  try {
    return { warmupMs: report.warmupMs, vector: still(session, await probeText(runner)) };
  } finally {
    await runner.session.close();
  }
}

export async function tryPicture(tower: PictureTower, candidate: Candidate): Promise<Trial> {
  const { runner, session, report } = await openPicture(tower, candidate, new Float32Array(0));
  try {
    return { warmupMs: report.warmupMs, vector: still(session, await probePicture(runner, tower)) };
  } finally {
    await runner.session.close();
  }
}

/** The vector, if the provider that was tried made it. @throws its failure otherwise */
function still({ loss }: LastingSession, vector: Float32Array): Float32Array {
  if (loss !== undefined) throw new Error(loss);
  return vector;
}

/** Cosine of two vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
