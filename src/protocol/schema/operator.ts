/** JSON of the operator's port. It serves this host alone, so /openapi.json does not describe it. */

/** What the server does now: figures only, no content and no ids. */
export interface Snapshot {
  readonly families: readonly {
    readonly family: string;
    readonly available: boolean;
    readonly reason?: string;
    readonly model?: string;
    readonly provider?: string;
    readonly warmup_ms?: number;
  }[];
  readonly encoder: object;
  readonly queues: {
    readonly encoding: { readonly queries: number; readonly ingest: number };
    readonly reading: { readonly queries: number; readonly opening: number; readonly extracting: number };
  };
  readonly payment: {
    readonly facilitator: { readonly kind: string };
    readonly pending: number;
    readonly running: number;
  };
  /** By state of the payment. */
  readonly revenue: Readonly<Record<string, { readonly count: number; readonly usd: string }>>;
  readonly tenants: {
    readonly open_indexes: number;
    readonly active_workspaces: number;
    /** False: `active_workspaces` is a lower bound. */
    readonly counted_all: boolean;
  };
  /** How the readers of files are confined. */
  readonly confinement: object | string;
  readonly memory_bytes: number;
  /** Of the disk under the data folder. */
  readonly disk: { readonly free_bytes: number; readonly total_bytes: number };
  /** Settled payments of the last days with any (UTC), newest first. */
  readonly revenue_by_day: readonly DayRevenue[];
  readonly uptime_s: number;
  readonly traffic: TrafficReport;
  /** Samples of the probe's metrics; empty where none runs. */
  readonly recall_probe: readonly ProbeSample[];
  /** Searches by the confidence of their first hit: upper edges of ranges, and the count of each. */
  readonly confidence: readonly (readonly [edge: number, count: number])[];
}

export interface DayRevenue {
  /** `2026-11-22`. */
  readonly day: string;
  readonly count: number;
  readonly usd: string;
}

/** What happened between one moment and the one before. Null where nothing did. */
export interface HourPoint {
  /** Seconds since 1970. */
  readonly at: number;
  readonly requests_per_second: number;
  readonly faults_per_second: number;
  /** Of searches, in milliseconds. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly encoding: number;
  readonly reading: number;
  /** Settled since the books began. */
  readonly usd: number;
  /** The lowest of the probe's lists. */
  readonly recall: number | null;
}

/** Counted since the start. */
export interface TrafficReport {
  readonly requests: number;
  /** Answers by class of status: `2xx`, `4xx`. */
  readonly by_status: Readonly<Record<string, number>>;
  /** Refusals and faults by status and code, most frequent first. */
  readonly by_code: readonly { readonly status: number; readonly code: string; readonly count: number }[];
  /** Requests by method and route with their latencies, slowest first. */
  readonly by_route: readonly RouteReport[];
  /** Searches: upper edges of buckets in milliseconds, and the count of each. */
  readonly search_latency: readonly (readonly [edgeMs: number, count: number])[];
}

export interface RouteReport {
  readonly route: string;
  readonly count: number;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
}

export interface ProbeSample {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** What `farthing admin doctor` found. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly found: string;
  readonly remedy?: string;
}
