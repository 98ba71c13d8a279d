import type { Candidate, Towers } from '../models/tower.ts';
import type { CutSettings, PlacedBlock } from '../text/passage.ts';
import type { TextUse } from '../text/text-runner.ts';

/** What a worker is started with. The memory is shared: it outlives a worker, and a new one finds it as it was. */
export interface WorkerSettings {
  readonly role: 'query' | 'ingest';
  readonly towers: Towers;
  /** Pixels of a task's pictures, one after the other. Written by the main thread while the worker is idle. */
  readonly input: SharedArrayBuffer;
  /** Vectors of a task, row by row. Written by the worker, read by the main thread once the task has ended. */
  readonly output: SharedArrayBuffer;
  /** Embeddings of the label bridge. */
  readonly labels: SharedArrayBuffer;
  readonly cutting: CutSettings;
}

/** A worker that only tries candidates is started with the weights that each tower had before, the texts first. */
export interface ChoosingSettings extends WorkerSettings {
  readonly choosing?: readonly (string | undefined)[];
}

export type Task =
  /** What was opened, and how fast it is. */
  | { readonly kind: 'report' }
  /** Tries every candidate of every tower: which provider serves. */
  | { readonly kind: 'choose' }
  /** Vectors of texts by each of the given towers, side by side in a row. */
  | {
      readonly kind: 'texts';
      readonly towers: readonly number[];
      readonly use: TextUse;
      readonly texts: readonly string[];
    }
  /** `words`: each picture's vector is followed by its vector among words. */
  | {
      readonly kind: 'pictures';
      readonly use: 'query' | 'ingest';
      readonly count: number;
      readonly words: boolean;
    }
  | { readonly kind: 'cut'; readonly title?: string; readonly blocks: readonly PlacedBlock[] };

/** Tower by tower, the texts first: what a worker found when it opened them. */
export interface TowerReport {
  readonly model: string;
  readonly provider: string;
  /** Median of some runs of one row, in milliseconds. */
  readonly warmupMs: number;
  /** Present when it could not be opened. */
  readonly failure?: string;
}

export interface TowerChoice {
  /** Absent when no candidate serves. */
  readonly candidate?: Candidate;
  readonly rejected: readonly { readonly provider: string; readonly reason: string }[];
  /** Candidates with the right numbers that were not chosen. */
  readonly slower: readonly { readonly provider: string; readonly reason: string }[];
}

/** A provider that failed at run time; the processor serves in its place. */
export interface ProviderLoss {
  readonly model: string;
  readonly provider: string;
  readonly reason: string;
}

export interface WorkTotals {
  readonly runs: number;
  readonly tokens: number;
  readonly padding: number;
  /** Present once a provider of this worker is lost. */
  readonly losses?: readonly ProviderLoss[];
}

/** Most rows of one task: the size of the shared memory. */
export const TASK_ROWS_MAX = 64;
