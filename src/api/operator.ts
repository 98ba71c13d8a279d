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
  readonly uptime_s: number;
  readonly traffic: TrafficReport;
  /** Samples of the probe's metrics; empty where none runs. */
  readonly recall_probe: readonly ProbeSample[];
}

/** Counted since the start. */
export interface TrafficReport {
  readonly requests: number;
  /** Answers by class of status: `2xx`, `4xx`. */
  readonly by_status: Readonly<Record<string, number>>;
  /** Requests by method and route, most frequent first. */
  readonly by_route: readonly { readonly route: string; readonly count: number }[];
  /** Searches: upper edges of buckets in milliseconds, and the count of each. */
  readonly search_latency: readonly (readonly [edgeMs: number, count: number])[];
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
