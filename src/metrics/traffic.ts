import type { TrafficReport } from '../api/operator.ts';
import { edgeOfBucket, LatencyHistogram } from '../workspace/activity/latency-histogram.ts';

/** An answered request. */
export interface Answered {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly milliseconds: number;
}

const ROUTES_SHOWN = 12;

/** Counts answers since the start. Its size is bounded by the number of routes. */
export class Traffic {
  #requests = 0;
  readonly #byStatus = new Map<string, number>();
  readonly #byRoute = new Map<string, number>();
  readonly #searches = new LatencyHistogram();

  count({ route, method, status, milliseconds }: Answered): void {
    this.#requests += 1;
    add(this.#byStatus, `${Math.floor(status / 100)}xx`);
    add(this.#byRoute, `${KNOWN_METHODS.has(method) ? method : 'other'} ${route}`);
    if (route.endsWith('/search') && status === 200) this.#searches.add(milliseconds);
  }

  report(): TrafficReport {
    const routes = [...this.#byRoute].sort(([, a], [, b]) => b - a).slice(0, ROUTES_SHOWN);
    return {
      requests: this.#requests,
      by_status: Object.fromEntries(this.#byStatus),
      by_route: routes.map(([route, count]) => ({ route, count })),
      search_latency: this.#searches.buckets().map(([bucket, count]) => [edgeOfBucket(bucket), count]),
    };
  }
}

/** A client may send any word as its method. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE']);

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
