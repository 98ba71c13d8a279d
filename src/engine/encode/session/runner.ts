/** Purpose of vectors. Queries and ingests differ in workers, prefixes and batch sizes. */
export type Use = 'query' | 'ingest';

export interface RunTotals {
  runs: number;
  tokens: number;
  padding: number;
  /** Milliseconds since then, where another thread reports later. */
  sinceMs?: number;
}

/** A tower in one worker. Each kind of input has its own way to be encoded. */
export interface Runner {
  /** Length of its vector. */
  readonly dimensions: number;
  /** The vector, of unit length, of an input that is always the same, encoded as a query. */
  probe(): Promise<Float32Array>;
}
