import type { Candidate, Failure, Towers } from '../models/tower.ts';
import type { Use } from '../session/runner.ts';
import type { PlacedBlock } from '../text/passage.ts';

/** A worker's start parameters. The memory is shared: it outlives a worker, and the next one takes it over. */
export interface WorkerSettings {
  readonly role: Use;
  readonly towers: Towers;
  /** Inputs of fixed size of one task, one after the other. The main thread writes them while the worker is idle. */
  readonly input: SharedArrayBuffer;
  /** Vectors of one task, row by row. The worker writes them; the main thread reads them once the task has ended. */
  readonly output: SharedArrayBuffer;
  /** Embeddings of the label bridge. */
  readonly labels: SharedArrayBuffer;
}

/** A worker that only tries candidates opens none. */
export interface ChoosingSettings extends WorkerSettings {
  readonly choosing?: true;
}

/** Vectors of texts by each of the towers, side by side in a row. */
export interface TextsTask {
  readonly kind: 'texts';
  readonly towers: readonly number[];
  readonly use: Use;
  readonly texts: readonly string[];
  /** A start waits for it: the native encoder takes it on its threads for queries, whatever it is for. */
  readonly urgent?: true;
}

/** Vectors of the inputs in the shared memory; `bridged`: each is followed by the vector that the tower's bridge gives. */
export interface RowsTask {
  readonly kind: 'rows';
  readonly tower: number;
  readonly use: Use;
  readonly count: number;
  readonly bridged: boolean;
}

/** A part of a document that no worker is needed for. */
export interface CutTask {
  readonly title?: string;
  readonly blocks: readonly PlacedBlock[];
}

export type EncodeTask = TextsTask | RowsTask;

export type Task =
  /** Reports the open towers and their speed. */
  | { readonly kind: 'report' }
  /** Tries the GPUs of every tower. */
  | { readonly kind: 'choose' }
  | EncodeTask;

/** Result of opening a tower. */
export interface TowerReport {
  readonly model: string;
  readonly provider: string;
  /** Median of some runs of one input, in milliseconds. */
  readonly warmupMs: number;
  /** Present when it could not be opened. */
  readonly failure?: string;
}

/** A tower's remaining candidates once its GPUs are tried: one of them, or those on the processor. */
export interface TowerChoice {
  readonly candidates: readonly Candidate[];
  readonly rejected: readonly { readonly provider: string; readonly reason: string }[];
}

export interface WorkTotals {
  readonly runs: number;
  readonly tokens: number;
  readonly padding: number;
  /** Milliseconds since then, where another thread reports later. */
  readonly sinceMs?: number;
  /** Providers of this worker that failed at run time; the processor replaces them. */
  readonly losses?: readonly Failure[];
}

/** Most rows of one task: the size of the shared memory. */
export const TASK_ROWS_MAX = 64;
