/** JSON of the operator's port. It serves this host alone, so /openapi.json does not describe it. */

/** The server's state now: figures only, no content and no ids. */
export interface Snapshot {
  readonly families: readonly {
    readonly family: string;
    readonly available: boolean;
    readonly reason?: string;
    readonly model?: string;
    readonly provider?: string;
    readonly warmup_ms?: number;
  }[];
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
  /** Settled payments by day (UTC), newest first; days without any are left out. */
  readonly revenue_by_day: readonly { readonly day: string; readonly count: number; readonly usd: string }[];
  readonly tenants: {
    readonly open_indexes: number;
    readonly active_workspaces: number;
    /** False: `active_workspaces` is a lower bound. */
    readonly counted_all: boolean;
  };
  /** How the readers of files are confined. */
  readonly confinement: object | string;
  readonly memory_bytes: number;
  /** The disk under the data folder. */
  readonly disk: { readonly free_bytes: number; readonly total_bytes: number };
  readonly uptime_s: number;
}

/** One finding of `farthing admin doctor`. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly found: string;
  readonly remedy?: string;
}
