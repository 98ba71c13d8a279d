import type { HourPoint, Snapshot } from '@farthing/protocol/schema/operator';

const HOUR_SECONDS = 3600;
/** Between two points while the page is closed. */
const STEP_MS = 10_000;
/** Between two points while the page is open. */
const STEP_SECONDS_MIN = 2;

type Figures = Pick<Snapshot, 'traffic' | 'queues' | 'revenue' | 'recall_probe'>;

/** What happened in the last hour, at most a point every two seconds: a page that is opened shows it at once. */
export class LastHour {
  readonly #read: () => Promise<Figures>;
  readonly #timer: NodeJS.Timeout;
  #points: HourPoint[] = [];
  #before: { readonly at: number; readonly traffic: Snapshot['traffic'] } | undefined;
  #adding: Promise<void> | undefined;

  constructor(read: () => Promise<Figures>) {
    this.#read = read;
    // A figure that cannot be read costs its point.
    this.#timer = setInterval(() => void this.read().catch(() => undefined), STEP_MS).unref();
    void this.read().catch(() => undefined);
  }

  /** The points up to now, oldest first. */
  async read(): Promise<readonly HourPoint[]> {
    this.#adding ??= this.#add().finally(() => {
      this.#adding = undefined;
    });
    await this.#adding;
    return this.#points;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #add(): Promise<void> {
    const at = Date.now() / 1000;
    if (this.#before && at - this.#before.at < STEP_SECONDS_MIN) return;
    const { traffic, queues, revenue, recall_probe } = await this.#read();
    if (this.#before) {
      const { at: then, traffic: former } = this.#before;
      const seconds = at - then;
      const latencies = since(former.search_latency, traffic.search_latency);
      this.#points.push({
        at,
        requests_per_second: (traffic.requests - former.requests) / seconds,
        faults_per_second: (faultsOf(traffic) - faultsOf(former)) / seconds,
        p50_ms: percentile(latencies, 0.5),
        p99_ms: percentile(latencies, 0.99),
        encoding: queues.encoding.queries + queues.encoding.ingest,
        reading: queues.reading.queries + queues.reading.opening + queues.reading.extracting,
        usd: Number(revenue.settled?.usd ?? 0),
        recall: recallOf(recall_probe),
      });
    }
    this.#before = { at, traffic };
    const kept = this.#points.findIndex((point) => point.at > at - HOUR_SECONDS);
    if (kept > 0) this.#points = this.#points.slice(kept);
  }
}

function faultsOf({ by_status }: Snapshot['traffic']): number {
  return by_status['5xx'] ?? 0;
}

function recallOf(samples: Snapshot['recall_probe']): number | null {
  const shares = samples.filter(({ type, value }) => type === 'gauge' && value >= 0 && value <= 1);
  return shares.length === 0 ? null : Math.min(...shares.map(({ value }) => value));
}

type Buckets = Snapshot['traffic']['search_latency'];

function since(then: Buckets, now: Buckets): Buckets {
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
