import type { TrafficReport } from '@farthing/protocol/schema/operator';
import type { AnsweredEvent } from '../http/exchange/server.ts';
import { edgeOfBucket, LatencyHistogram } from '../workspace/activity/latency-histogram.ts';

/** An answered request. */
type Answered = Pick<AnsweredEvent, 'route' | 'method' | 'status' | 'code' | 'milliseconds'>;

const SHOWN_MAX = 12;
/** Codes are ours, but a 402's reason is a facilitator's word: later ones count as another. */
const CODES_MAX = 200;

/** Counts answers since the start. Its size is bounded by the number of routes. */
export class Traffic {
  #requests = 0;
  readonly #byStatus = new Map<string, number>();
  readonly #byCode = new Map<string, number>();
  readonly #byRoute = new Map<string, { count: number; readonly latencies: LatencyHistogram }>();
  readonly #searches = new LatencyHistogram();

  count({ route, method, status, code, milliseconds }: Answered): void {
    this.#requests += 1;
    add(this.#byStatus, `${Math.floor(status / 100)}xx`);
    if (code !== undefined) {
      const name = `${status} ${code}`;
      add(this.#byCode, this.#byCode.has(name) || this.#byCode.size < CODES_MAX ? name : `${status} other`);
    }
    this.#countRoute(`${KNOWN_METHODS.has(method) ? method : 'other'} ${route}`, milliseconds);
    if (route.endsWith('/search') && status === 200) this.#searches.add(milliseconds);
  }

  #countRoute(name: string, milliseconds: number): void {
    const route = this.#byRoute.get(name) ?? { count: 0, latencies: new LatencyHistogram() };
    this.#byRoute.set(name, route);
    route.count += 1;
    route.latencies.add(milliseconds);
  }

  report(): TrafficReport {
    const codes = [...this.#byCode].sort(([, a], [, b]) => b - a).slice(0, SHOWN_MAX);
    const routes = [...this.#byRoute]
      .map(([route, { count, latencies }]) => {
        const { p50, p99 } = latencies.percentiles();
        return { route, count, p50_ms: p50, p99_ms: p99 };
      })
      .sort((a, b) => (b.p99_ms ?? 0) - (a.p99_ms ?? 0));
    return {
      requests: this.#requests,
      by_status: Object.fromEntries(this.#byStatus),
      by_code: codes.map(([name, count]) => {
        const [status, code = ''] = name.split(' ');
        return { status: Number(status), code, count };
      }),
      by_route: routes.slice(0, SHOWN_MAX),
      search_latency: this.#searches.buckets().map(([bucket, count]) => [edgeOfBucket(bucket), count]),
    };
  }
}

/** A client may send any word as its method. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE']);

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
