import type { Metadata } from '@farthing/protocol/labels/metadata';
import type { IngestAnswer } from './answers/answers.ts';
import type { IngestOptions, IngestProgress } from './ingest.ts';
import type { Source } from './source.ts';

/** A source, or a source with a name. */
export type NamedSource =
  | Source
  | {
      readonly source: Source;
      readonly name?: string;
      /** By which the log knows it. */
      readonly key?: string;
      /** The item's own key: one with the same is replaced. */
      readonly itemKey?: string;
      readonly metadata?: Metadata;
    };

/** Remembers finished files, so that an interrupted run can resume. A Map or a file may back it. */
export interface IngestLog {
  has(key: string): boolean | Promise<boolean>;
  /** Called when the file is searchable, or refused for good. */
  add(key: string, outcome: IngestOutcome): void | Promise<void>;
}

export type IngestOutcome =
  | { readonly key: string; readonly answer: IngestAnswer }
  | { readonly key: string; readonly error: Error };

export interface IngestManyOptions extends Pick<IngestOptions, 'metadata' | 'signal' | 'wait' | 'waitMs'> {
  /** Uploads at once; default 4. */
  readonly concurrency?: number;
  readonly log?: IngestLog;
  readonly onProgress?: (key: string, progress: IngestProgress) => void;
  readonly onOutcome?: (outcome: IngestOutcome) => void;
  /** Whether an error ends the whole run (the budget is used up, the server is gone) instead of one file. */
  readonly isFatal?: (error: Error) => boolean;
}

export interface IngestSummary {
  readonly ingested: number;
  readonly duplicates: number;
  /** In the log from an earlier run. */
  readonly skipped: number;
  readonly failed: readonly { readonly key: string; readonly error: Error }[];
}

const CONCURRENCY = 4;
/** Errors that the next file would meet, too. */
const FATAL = new Set([
  'budget_exceeded',
  'price_over_limit',
  'payment_declined',
  'payment_refused',
  'payment_unsupported',
  'wallet_missing',
  'server_unreachable',
  'answer_lost',
  'workspace_unauthorized',
  'storage_full',
  'tenant_full',
]);

/**
 * Uploads many files, a few at once; sources are read lazily. A refused file is counted, and the run continues.
 * @throws the first error that ends the whole run, after the running uploads have ended
 */
export async function ingestMany(
  ingest: (source: Source, options: IngestOptions) => Promise<IngestAnswer>,
  sources: Iterable<NamedSource> | AsyncIterable<NamedSource>,
  options: IngestManyOptions = {},
): Promise<IngestSummary> {
  const { concurrency = CONCURRENCY, log, isFatal = isFatalByDefault } = options;
  const counts = { ingested: 0, duplicates: 0, skipped: 0 };
  const failed: { key: string; error: Error }[] = [];
  let fatal: Error | undefined;
  let position = 0;
  const queue = iterate(sources);

  const note = async (outcome: IngestOutcome) => {
    await log?.add(outcome.key, outcome);
    options.onOutcome?.(outcome);
  };
  const upload = async (entry: NamedSource, key: string) => {
    const { source, name, itemKey, metadata = options.metadata } = isBare(entry) ? { source: entry } : entry;
    const { signal, wait, waitMs, onProgress } = options;
    try {
      const answer = await ingest(source, {
        name,
        metadata,
        key: itemKey,
        signal,
        wait,
        waitMs,
        onProgress: onProgress && ((progress) => onProgress(key, progress)),
      });
      counts[answer.duplicate ? 'duplicates' : 'ingested'] += 1;
      await note({ key, answer });
    } catch (thrown) {
      const error = thrown as Error;
      if (signal?.aborted || isFatal(error)) fatal ??= error;
      else {
        failed.push({ key, error });
        await note({ key, error });
      }
    }
  };
  const work = async () => {
    while (!fatal) {
      const { done, value } = await queue.next();
      if (done) return;
      const key = keyOf(value, position++);
      if (await log?.has(key)) counts.skipped += 1;
      else await upload(value, key);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  if (fatal) throw fatal;
  return { ...counts, failed };
}

function isFatalByDefault(error: Error): boolean {
  return FATAL.has(String((error as { code?: unknown }).code));
}

/** Concurrent calls of an asynchronous generator's `next` are served in order. */
async function* iterate<T>(values: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* values;
}

function isBare(entry: NamedSource): entry is Source {
  return typeof entry === 'string' || !('source' in entry);
}

function keyOf(entry: NamedSource, position: number): string {
  if (typeof entry === 'string') return entry;
  if (isBare(entry)) return entry instanceof Blob && 'name' in entry ? String(entry.name) : `#${position}`;
  return entry.key ?? entry.name ?? (typeof entry.source === 'string' ? entry.source : `#${position}`);
}
