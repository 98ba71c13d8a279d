import { FarthingError } from '@farthing/protocol/error';
import type { TenantId } from '@farthing/protocol/id';
import { Limit } from '@farthing/queues/limit';

/** Limits of one Tenant's requests. */
export interface TenantLimitSettings {
  readonly requestsPerSecond: number;
  /** Requests that may come at the same moment after a pause. */
  readonly burst: number;
  readonly searchesAtOnce: number;
  readonly ingestsAtOnce: number;
  /** Downloads and event streams. */
  readonly streamsAtOnce: number;
}

/** Requests and searches of one Tenant that several threads count together. */
export interface SharedUsage {
  /** Counts a request, unless it is too early. @returns milliseconds that it is; 0: it is counted */
  request(): number;
  /** Counts a search that runs, unless as many do as may. */
  beginSearch(): boolean;
  endSearch(): void;
}

interface Usage {
  /** Requests and searches are counted there. */
  shared?: SharedUsage;
  /** GCRA's theoretical arrival time, in milliseconds: when the admitted requests would have ended at the even rate. */
  arrival: number;
  searches: number;
  ingests: number;
  streams: number;
  exports: number;
}

type Slots = 'searches' | 'ingests' | 'streams' | 'exports';

/** Tenants that are remembered before idle ones are forgotten. */
const REMEMBERED_MAX = 4096;
const PLACE_RETRY_AFTER_S = 1;
/** An export reads the whole index. */
const EXPORTS_AT_ONCE = 1;
/** Paid searches that wait for a place; nothing of their bodies is read yet. Owners share the places. */
const TURNS_WAITING_MAX = 1024;
/** As long as payments wait to be verified. */
const TURN_WAIT_MS_MAX = 5000;

/**
 * Limits for each Tenant, so that one Tenant's flood costs its neighbours little: requests per second (generic cell rate
 * algorithm: one number a Tenant, no timers), and concurrent searches and ingests. They are checked before any work and any
 * payment; the refusal is `rate_limited` with the seconds to wait.
 */
export class TenantLimits {
  readonly #settings: TenantLimitSettings;
  readonly #monotonic: () => number;
  readonly #usage = new Map<TenantId, Usage>();
  readonly #turns: Limit;
  #pruneAbove = REMEMBERED_MAX;

  constructor(settings: TenantLimitSettings, monotonic: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#monotonic = monotonic;
    const { searchesAtOnce } = settings;
    this.#turns = new Limit(
      {
        insideMax: Number.MAX_SAFE_INTEGER,
        ownerInsideMax: searchesAtOnce,
        waitingMax: TURNS_WAITING_MAX,
        waitMsMax: TURN_WAIT_MS_MAX,
      },
      () => limited(`More than ${searchesAtOnce} searches at once, and others wait.`, PLACE_RETRY_AFTER_S),
    );
  }

  /** Counts a request. @throws rate_limited; refused requests do not count. */
  request(tenant: TenantId): void {
    refuseEarly(this.#count(tenant), this.#settings.requestsPerSecond);
  }

  /** `request` and `search` at once. @returns as that; undefined where either would refuse, and nothing is counted */
  searchNow(tenant: TenantId): (() => void) | undefined {
    const leave = this.#slot(tenant, 'searches', this.#settings.searchesAtOnce);
    if (!leave || this.#count(tenant) <= 0) return leave;
    leave();
    return undefined;
  }

  /** Counts a request, unless it is too early. @returns milliseconds that it is */
  #count(tenant: TenantId): number {
    const { requestsPerSecond, burst } = this.#settings;
    const now = this.#monotonic();
    const usage = this.#usageOf(tenant, now);
    if (usage.shared) return usage.shared.request();
    const interval = 1000 / requestsPerSecond;
    const arrival = Math.max(usage.arrival, now) + interval;
    const tooEarlyMs = arrival - now - burst * interval;
    if (tooEarlyMs <= 0) usage.arrival = arrival;
    return tooEarlyMs;
  }

  /**
   * Other threads serve the Tenant, too: from now on its requests and searches are counted with theirs.
   * @returns what has been counted so far: by how many milliseconds requests are ahead of the even rate, and searches that run
   */
  share(tenant: TenantId, shared: SharedUsage): { readonly aheadMs: number; readonly searches: number } {
    const now = this.#monotonic();
    const usage = this.#usageOf(tenant, now);
    usage.shared = shared;
    return { aheadMs: usage.arrival - now, searches: usage.searches };
  }

  /** They serve it no more, and none of their searches runs. @param aheadMs as `share` returned it */
  unshare(tenant: TenantId, { aheadMs, searches }: { readonly aheadMs: number; readonly searches: number }) {
    const usage = this.#usage.get(tenant);
    if (!usage) return;
    delete usage.shared;
    usage.arrival = this.#monotonic() + aheadMs;
    usage.searches = searches;
  }

  /** Takes one of the Tenant's slots for searches. @returns a function that releases it. @throws rate_limited */
  search(tenant: TenantId): () => void {
    return this.#take(tenant, 'searches', this.#settings.searchesAtOnce);
  }

  /**
   * As `search`, for who pays by the request: waits for a slot, up to 5 s.
   * @throws rate_limited when it takes longer or too many wait; what `left` returns when the signal is aborted
   */
  searchInTurn(tenant: TenantId, signal: AbortSignal, left: () => unknown): Promise<() => void> {
    return new Promise((enter, refuse) => {
      const inside = () => new Promise<void>((leave) => enter(leave));
      this.#turns.run(tenant, inside, { signal, left }).catch(refuse);
    });
  }

  /** Takes one of the Tenant's slots for ingests. @returns a function that releases it. @throws rate_limited */
  ingest(tenant: TenantId): () => void {
    return this.#take(tenant, 'ingests', this.#settings.ingestsAtOnce);
  }

  /** Takes one of the Tenant's slots for answers that take long to send. @returns a function that releases it. @throws rate_limited */
  stream(tenant: TenantId): () => void {
    return this.#take(tenant, 'streams', this.#settings.streamsAtOnce);
  }

  /** Takes the Tenant's slot for an export. @returns a function that releases it. @throws rate_limited */
  export(tenant: TenantId): () => void {
    return this.#take(tenant, 'exports', EXPORTS_AT_ONCE);
  }

  #take(tenant: TenantId, kind: Slots, atOnceMax: number): () => void {
    const leave = this.#slot(tenant, kind, atOnceMax);
    if (!leave) throw tooMany(kind, atOnceMax);
    return leave;
  }

  #slot(tenant: TenantId, kind: Slots, atOnceMax: number): (() => void) | undefined {
    const usage = this.#usageOf(tenant, this.#monotonic());
    // A slot may be given back after others have begun to count, or have ended.
    const shared = () => (kind === 'searches' ? usage.shared : undefined);
    const hasRoom = shared()?.beginSearch() ?? usage[kind] < atOnceMax;
    if (!hasRoom) return undefined;
    if (!shared()) usage[kind] += 1;
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      const counts = shared();
      if (counts) counts.endSearch();
      else usage[kind] -= 1;
    };
  }

  #usageOf(tenant: TenantId, now: number): Usage {
    const known = this.#usage.get(tenant);
    if (known) return known;
    if (this.#usage.size >= this.#pruneAbove) this.#forgetIdle(now);
    const usage: Usage = { arrival: now, searches: 0, ingests: 0, streams: 0, exports: 0 };
    this.#usage.set(tenant, usage);
    return usage;
  }

  /** An idle Tenant is as good as a new one. The next pass waits until the number has doubled: constant cost per Tenant. */
  #forgetIdle(now: number): void {
    for (const [tenant, { shared, arrival, searches, ingests, streams, exports }] of this.#usage) {
      if (!shared && arrival <= now && searches + ingests + streams + exports === 0)
        this.#usage.delete(tenant);
    }
    this.#pruneAbove = Math.max(REMEMBERED_MAX, this.#usage.size * 2);
  }
}

/** @throws rate_limited */
export function refuseEarly(tooEarlyMs: number, requestsPerSecond: number): void {
  if (tooEarlyMs <= 0) return;
  const retryAfterS = Math.max(1, Math.ceil(tooEarlyMs / 1000));
  throw limited(`More than ${requestsPerSecond} requests a second.`, retryAfterS);
}

export function tooMany(kind: string, atOnceMax: number): FarthingError {
  return limited(`More than ${atOnceMax} ${kind} at once.`, PLACE_RETRY_AFTER_S);
}

function limited(what: string, retryAfterS: number): FarthingError {
  return new FarthingError(
    'rate_limited',
    `${what} Wait ${retryAfterS} s and try again. Nothing was charged.`,
    { retryAfterS },
  );
}
