import { basename } from 'node:path';
import type { Candidate, Tower } from '../models/tower.ts';
import type { LastingSession } from '../session/lasting-session.ts';
import type { TowerChoice } from './protocol.ts';
import { ingestRowMs, openTower } from './warm-up.ts';

/** Smallest cosine between a provider's vector and the processor's, for the same weights and the same input. */
export const PARITY_MIN = 0.999;

/** A query counts as near the fastest if it takes at most twice as long, or this many milliseconds more, which no search notices. */
const LATENCY_NEAR = 2;
const LATENCY_NEAR_MS = 3;
/** A change of weights encodes every index again: it is worth this factor of speed. */
const CLEARLY_FASTER = 2;

/** A candidate that was opened and tried: its vector of the probe, and times in milliseconds. */
export interface Trial {
  readonly vector: Float32Array;
  /** Of one query alone. */
  readonly warmupMs: number;
  /** Of one row in the largest run of an ingest; absent if not measured. */
  readonly rowMs?: number;
}

/** Opens a candidate and tries it; `measured`: with a run of an ingest as well. */
export type Try = (candidate: Candidate, measured: boolean) => Promise<Trial>;

interface Contender {
  readonly candidate: Candidate;
  readonly warmupMs: number;
  readonly rowMs: number;
}

/**
 * The fastest candidate with the right numbers. A candidate that fails to open, or whose numbers differ from the processor's
 * with the same weights, is rejected with the reason.
 * @param previous SHA-256 of the weights that filled the indexes: they stay in use unless others are clearly faster
 */
export async function chooseCandidate(
  candidates: readonly Candidate[],
  open: Try,
  previous?: string,
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
  const chosen = stayingOrFastest(contenders, previous);
  const slower = contenders
    .filter((contender) => contender !== chosen)
    .map((contender) => ({
      provider: contender.candidate.provider,
      reason: `${timesOf(contender)}; chosen was ${timesOf(chosen!)}`,
    }));
  return { ...(chosen ? { candidate: chosen.candidate } : {}), rejected, slower };
}

/** Latency of queries decides; among candidates near the fastest, the throughput of an ingest. */
function fastest(contenders: readonly Contender[]): Contender | undefined {
  const least = Math.min(...contenders.map(({ warmupMs }) => warmupMs));
  return contenders
    .filter(({ warmupMs }) => isNear(warmupMs, least))
    .reduce<Contender | undefined>(
      (best, next) => (best && best.rowMs <= next.rowMs ? best : next),
      undefined,
    );
}

function isNear(warmupMs: number, least: number): boolean {
  return warmupMs <= Math.max(LATENCY_NEAR * least, least + LATENCY_NEAR_MS);
}

function stayingOrFastest(
  contenders: readonly Contender[],
  previous: string | undefined,
): Contender | undefined {
  const best = fastest(contenders);
  const staying = fastest(contenders.filter(({ candidate }) => candidate.sha256 === previous));
  if (!best || !staying || !isNear(staying.warmupMs, best.warmupMs)) return best;
  return CLEARLY_FASTER * best.rowMs <= staying.rowMs ? best : staying;
}

function timesOf({ candidate, warmupMs, rowMs }: Contender): string {
  return `${basename(candidate.path)} on ${candidate.provider}: ${warmupMs.toFixed(2)} ms a query, ${rowMs.toFixed(2)} ms a row of an ingest`;
}

/** Opens a candidate of a tower and tries it. */
export async function tryTower(tower: Tower, candidate: Candidate, measured: boolean): Promise<Trial> {
  const opened = await openTower(tower, candidate);
  try {
    const rowMs = measured ? await ingestRowMs(opened, candidate.ingestRows) : undefined;
    const { warmupMs } = opened.report;
    return { warmupMs, rowMs, vector: unlessLost(opened.session, await opened.runner.probe()) };
  } finally {
    await opened.session.close();
  }
}

/** The vector, if the tried provider made it. @throws the provider's failure otherwise */
function unlessLost({ loss }: LastingSession, vector: Float32Array): Float32Array {
  if (loss !== undefined) throw new Error(loss);
  return vector;
}

/** Cosine of two vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
