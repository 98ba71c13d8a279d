import { basename } from 'node:path';
import { type Candidate, onProcessor, type Tower } from '../models/tower.ts';
import type { TowerChoice } from './protocol.ts';
import { openTower, processorTimesOf, wallTimesOf } from './warm-up.ts';

/** The same for the native encoder, whose arithmetic is its own: it is nearer to f32 than ONNX Runtime's int8. */
export const NATIVE_PARITY_MIN = 0.98;
/** The native encoder and ONNX Runtime replace each other where this factor is gained in queries and in passages. */
const PROCESSOR_FASTER = 1.3;

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
  /** Of one query alone; on the processor in its own time. */
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
  if (only && onProcessor(only)) return { candidate: only, rejected: [], slower: [] };
  const rejected: { provider: string; reason: string }[] = [];
  const contenders: Contender[] = [];
  for (const candidate of candidates) {
    try {
      const { vector, warmupMs, rowMs = warmupMs } = await open(candidate, true);
      if (candidate.provider !== 'cpu') {
        const reference = await open({ ...candidate, provider: 'cpu', providerOptions: undefined }, false);
        const likeness = cosine(vector, reference.vector);
        const least = candidate.provider === 'native' ? NATIVE_PARITY_MIN : PARITY_MIN;
        if (!(likeness >= least))
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
  const { left, filled } = oneOnProcessor(contenders, previous);
  const chosen = stayingOrFastest(left, filled);
  const slower = contenders
    .filter((contender) => contender !== chosen)
    .map((contender) => ({
      provider: contender.candidate.provider,
      reason: `${timesOf(contender)}; chosen was ${timesOf(chosen!)}`,
    }));
  return { ...(chosen ? { candidate: chosen.candidate } : {}), rejected, slower };
}

/**
 * The contenders with one of the native encoder and ONNX Runtime on the processor: the one that filled the indexes, ONNX
 * Runtime if neither did, unless the other is clearly faster at queries and at passages. `filled`: the weights that filled the
 * indexes, or those that replace them.
 */
function oneOnProcessor(
  contenders: readonly Contender[],
  previous: string | undefined,
): { readonly left: readonly Contender[]; readonly filled: string | undefined } {
  const own = contenders.find(({ candidate }) => candidate.provider === 'native');
  const runtime = contenders.find(({ candidate }) => candidate.provider === 'cpu');
  if (!own || !runtime) return { left: contenders, filled: previous };
  const [staying, other] = own.candidate.sha256 === previous ? [own, runtime] : [runtime, own];
  const faster =
    PROCESSOR_FASTER * other.warmupMs <= staying.warmupMs && PROCESSOR_FASTER * other.rowMs <= staying.rowMs;
  const [serving, passed] = faster ? [other, staying] : [staying, other];
  return {
    left: contenders.filter((contender) => contender !== passed),
    filled: previous === passed.candidate.sha256 ? serving.candidate.sha256 : previous,
  };
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
    const vector = unlessLost(opened.session?.loss, await opened.runner.probe());
    const { warmupMs } = opened.report;
    if (!measured) return { warmupMs, vector };
    const rows = candidate.ingestRows;
    const processor = onProcessor(candidate) ? await processorTimesOf(opened, rows) : undefined;
    const { queryMs, rowMs } = processor ?? (await wallTimesOf(opened, rows));
    return { warmupMs: queryMs, rowMs, vector };
  } finally {
    await opened.session?.close();
  }
}

/** The vector, if the tried provider made it. @throws the provider's failure otherwise */
function unlessLost(loss: string | undefined, vector: Float32Array): Float32Array {
  if (loss !== undefined) throw new Error(loss);
  return vector;
}

/** Cosine of two vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
