import { basename } from 'node:path';
import type { Candidate, PictureTower, TextTower } from '../models/tower.ts';
import type { LastingSession } from '../session/lasting-session.ts';
import type { TowerChoice } from './protocol.ts';
import { ingestPictureMs, ingestTextMs, openPicture, openText, probePicture, probeText } from './warm-up.ts';

/** Smallest cosine between a provider's vector and the processor's, for the same weights and the same input. */
export const PARITY_MIN = 0.999;

/** How much longer than the fastest a query may take and count as near: twice, or this much, which no search notices. */
const LATENCY_NEAR = 2;
const LATENCY_NEAR_MS = 3;
/** A change of weights encodes every index again: it takes this many times the speed. */
const CLEARLY_FASTER = 2;

/** A candidate that was opened and tried: its vector of the probe, and milliseconds. */
export interface Trial {
  readonly vector: Float32Array;
  /** Of one query alone. */
  readonly warmupMs: number;
  /** Of one row in the largest run of an ingest; absent where it was not measured. */
  readonly rowMs?: number;
}

/** Opens a candidate and tries it; `measured`: with a run of an ingest, too. */
export type Try = (candidate: Candidate, measured: boolean) => Promise<Trial>;

interface Contender {
  readonly candidate: Candidate;
  readonly warmupMs: number;
  readonly rowMs: number;
}

/**
 * The fastest candidate whose numbers are right. One that fails to open, or that gives other numbers than the processor
 * does with the same weights, is rejected with its reason.
 * @param former SHA-256 of the weights that filled the indexes: they stay in use unless others are clearly faster
 */
export async function chooseCandidate(
  candidates: readonly Candidate[],
  open: Try,
  former?: string,
): Promise<TowerChoice> {
  const only = candidates.length === 1 ? candidates[0] : undefined;
  if (only?.provider === 'cpu') return { candidate: only, rejected: [], slower: [] };
  const rejected: { provider: string; reason: string }[] = [];
  const contenders: Contender[] = [];
  for (const candidate of candidates) {
    try {
      const { vector, warmupMs, rowMs = warmupMs } = await open(candidate, true);
      if (candidate.provider !== 'cpu') {
        const reference = await open({ ...candidate, provider: 'cpu', providerOptions: undefined }, false);
        const likeness = cosine(vector, reference.vector);
        if (!(likeness >= PARITY_MIN))
          throw new Error(`its numbers differ from the processor's: cosine ${likeness.toFixed(5)}`);
      }
      contenders.push({ candidate, warmupMs, rowMs });
    } catch (error) {
      rejected.push({
        provider: candidate.provider,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }
  const chosen = stayingOrFastest(contenders, former);
  const slower = contenders
    .filter((one) => one !== chosen)
    .map((one) => ({
      provider: one.candidate.provider,
      reason: `${told(one)}; chosen was ${told(chosen!)}`,
    }));
  return { ...(chosen ? { candidate: chosen.candidate } : {}), rejected, slower };
}

/** Queries count; where they are near each other, the throughput of an ingest decides. */
function fastest(contenders: readonly Contender[]): Contender | undefined {
  const least = Math.min(...contenders.map(({ warmupMs }) => warmupMs));
  return contenders
    .filter(({ warmupMs }) => isNear(warmupMs, least))
    .reduce<Contender | undefined>((best, one) => (best && best.rowMs <= one.rowMs ? best : one), undefined);
}

function isNear(warmupMs: number, least: number): boolean {
  return warmupMs <= Math.max(LATENCY_NEAR * least, least + LATENCY_NEAR_MS);
}

function stayingOrFastest(
  contenders: readonly Contender[],
  former: string | undefined,
): Contender | undefined {
  const best = fastest(contenders);
  const staying = fastest(contenders.filter(({ candidate }) => candidate.sha256 === former));
  if (!best || !staying || !isNear(staying.warmupMs, best.warmupMs)) return best;
  return CLEARLY_FASTER * best.rowMs <= staying.rowMs ? best : staying;
}

function told({ candidate, warmupMs, rowMs }: Contender): string {
  return `${basename(candidate.path)} on ${candidate.provider}: ${warmupMs.toFixed(2)} ms a query, ${rowMs.toFixed(2)} ms a row of an ingest`;
}

export async function tryText(tower: TextTower, candidate: Candidate, measured: boolean): Promise<Trial> {
  const { runner, session, report } = await openText(tower, candidate);
  try {
    const rowMs = measured ? await ingestTextMs(runner, candidate.ingestRows) : undefined;
    return { warmupMs: report.warmupMs, rowMs, vector: still(session, await probeText(runner)) };
  } finally {
    await runner.session.close();
  }
}

export async function tryPicture(
  tower: PictureTower,
  candidate: Candidate,
  measured: boolean,
): Promise<Trial> {
  const { runner, session, report } = await openPicture(tower, candidate, new Float32Array(0));
  try {
    const rowMs = measured ? await ingestPictureMs(runner, tower, candidate.ingestRows) : undefined;
    return { warmupMs: report.warmupMs, rowMs, vector: still(session, await probePicture(runner, tower)) };
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
