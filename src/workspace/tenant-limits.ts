import { FarthingError } from '../domain/error.ts';
import type { TenantId } from '../domain/id.ts';

/** What one Tenant may ask of the server at a time. */
export interface TenantLimitSettings {
  readonly requestsPerSecond: number;
  /** Requests that may come at once after a quiet time. */
  readonly burst: number;
  readonly searchesAtOnce: number;
  readonly ingestsAtOnce: number;
}

interface Usage {
  /** Milliseconds: when the requests let in so far would all have come at the even rate (GCRA's theoretical arrival time). */
  arrival: number;
  searches: number;
  ingests: number;
}

/** Tenants remembered before the idle ones are forgotten. */
const REMEMBERED_MAX = 4096;
const SLOT_RETRY_AFTER_S = 1;

/**
 * Limits of each Tenant, so that one that floods costs its neighbours little: requests per second (generic cell rate
 * algorithm: one number for each Tenant, no timers) and searches and ingests at once. Over a limit: `rate_limited` with
 * the seconds to wait; asked before any work and any payment.
 */
export class TenantLimits {
  readonly #settings: TenantLimitSettings;
  readonly #monotonic: () => number;
  readonly #usage = new Map<TenantId, Usage>();
  #pruneAbove = REMEMBERED_MAX;

  constructor(settings: TenantLimitSettings, monotonic: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#monotonic = monotonic;
  }

  /** Counts a request. @throws rate_limited; a refused request does not count. */
  request(tenant: TenantId): void {
    const { requestsPerSecond, burst } = this.#settings;
    const now = this.#monotonic();
    const usage = this.#usageOf(tenant, now);
    const interval = 1000 / requestsPerSecond;
    const arrival = Math.max(usage.arrival, now) + interval;
    const tooEarlyMs = arrival - now - burst * interval;
    if (tooEarlyMs > 0) {
      throw limited(
        `More than ${requestsPerSecond} requests a second.`,
        Math.max(1, Math.ceil(tooEarlyMs / 1000)),
      );
    }
    usage.arrival = arrival;
  }

  /** Takes one of the Tenant's places for searches. @returns what gives it back. @throws rate_limited */
  search(tenant: TenantId): () => void {
    return this.#take(tenant, 'searches', this.#settings.searchesAtOnce);
  }

  /** Takes one of the Tenant's places for ingests. @returns what gives it back. @throws rate_limited */
  ingest(tenant: TenantId): () => void {
    return this.#take(tenant, 'ingests', this.#settings.ingestsAtOnce);
  }

  #take(tenant: TenantId, kind: 'searches' | 'ingests', atOnceMax: number): () => void {
    const usage = this.#usageOf(tenant, this.#monotonic());
    if (usage[kind] >= atOnceMax)
      throw limited(`More than ${atOnceMax} ${kind} at once.`, SLOT_RETRY_AFTER_S);
    usage[kind] += 1;
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      usage[kind] -= 1;
    };
  }

  #usageOf(tenant: TenantId, now: number): Usage {
    const known = this.#usage.get(tenant);
    if (known) return known;
    if (this.#usage.size >= this.#pruneAbove) this.#forgetIdle(now);
    const usage: Usage = { arrival: now, searches: 0, ingests: 0 };
    this.#usage.set(tenant, usage);
    return usage;
  }

  /** Those at rest are as good as new ones. Looks again only when as many more have come: a constant cost for each. */
  #forgetIdle(now: number): void {
    for (const [tenant, { arrival, searches, ingests }] of this.#usage) {
      if (arrival <= now && searches === 0 && ingests === 0) this.#usage.delete(tenant);
    }
    this.#pruneAbove = Math.max(REMEMBERED_MAX, this.#usage.size * 2);
  }
}

function limited(what: string, retryAfterS: number): FarthingError {
  return new FarthingError(
    'rate_limited',
    `${what} Wait ${retryAfterS} s and try again. Nothing was charged.`,
    { retryAfterS },
  );
}
