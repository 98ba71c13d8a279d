import type { Finding, Snapshot } from '../../../api/operator.ts';
import { Store } from '../store.ts';

/** One point of every curve. Null where nothing happened. */
export interface Point {
  /** Seconds since 1970. */
  readonly at: number;
  readonly requestsPerSecond: number | null;
  readonly faultsPerSecond: number | null;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly encoding: number;
  readonly reading: number;
  readonly usd: number;
  /** The lowest recall of the probe. */
  readonly recall: number | null;
}

export interface Watch {
  readonly snapshot?: Snapshot;
  readonly findings?: readonly Finding[];
  readonly points: readonly Point[];
  readonly fault?: string;
}

const POLL_MS = 2_000;
/** Every five minutes: the doctor examines the host, which seldom changes. */
const DOCTOR_ROUNDS = 150;
/** Ten minutes. */
const POINTS_MAX = 300;

export const watch = new Store<Watch>({ points: [] });

/** Polls while the page is visible. */
export async function keepWatching(): Promise<void> {
  for (let round = 0; ; round++) {
    if (document.visibilityState === 'visible') await look();
    if (round % DOCTOR_ROUNDS === 0) void askDoctor();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(path, { cache: 'no-store', credentials: 'omit' });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return (await response.json()) as T;
}

async function askDoctor(): Promise<void> {
  const answer = await ask<{ findings: readonly Finding[] }>('/doctor.json').catch(() => undefined);
  if (answer) watch.set({ findings: answer.findings });
}

async function look(): Promise<void> {
  try {
    const snapshot = await ask<Snapshot>('/snapshot.json');
    const { snapshot: before, points } = watch.value;
    const at = Date.now() / 1000;
    const point = pointOf(at, snapshot, before, at - (points.at(-1)?.at ?? at));
    watch.set({ snapshot, points: [...points, point].slice(-POINTS_MAX), fault: undefined });
  } catch (error) {
    watch.set({ fault: error instanceof Error ? error.message : String(error) });
  }
}

function pointOf(at: number, now: Snapshot, before: Snapshot | undefined, seconds: number): Point {
  const { traffic, queues, revenue } = now;
  // A restarted server counts from zero.
  const then = before && before.traffic.requests <= traffic.requests ? before.traffic : undefined;
  const faults = (of: Snapshot['traffic']) => of.by_status['5xx'] ?? 0;
  const rate = (now: number, then: number) => (seconds > 0 ? (now - then) / seconds : null);
  const latencies = then ? difference(traffic.search_latency, then.search_latency) : [];
  return {
    at,
    requestsPerSecond: then ? rate(traffic.requests, then.requests) : null,
    faultsPerSecond: then ? rate(faults(traffic), faults(then)) : null,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    encoding: queues.encoding.queries + queues.encoding.ingest,
    reading: queues.reading.queries + queues.reading.opening + queues.reading.extracting,
    usd: Number(revenue.settled?.usd ?? 0),
    recall: recallOf(now),
  };
}

function recallOf({ recall_probe }: Snapshot): number | null {
  const shares = recall_probe.filter(({ type, value }) => type === 'gauge' && value >= 0 && value <= 1);
  return shares.length === 0 ? null : Math.min(...shares.map(({ value }) => value));
}

type Buckets = Snapshot['traffic']['search_latency'];

function difference(now: Buckets, then: Buckets): Buckets {
  const former = new Map(then);
  return now
    .map(([edge, count]) => [edge, count - (former.get(edge) ?? 0)] as const)
    .filter(([, count]) => count > 0);
}

function percentile(buckets: Buckets, share: number): number | null {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(share * total));
  for (const [edge, count] of buckets) {
    left -= count;
    if (left <= 0) return edge;
  }
  return null;
}
