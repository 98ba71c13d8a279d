import type { ErrorCode } from '@farthing/protocol/error';
import type { JobState } from '@farthing/protocol/job';
import type { Metadata } from '@farthing/protocol/labels/metadata';
import type { AcceptedIngest, IngestAnswer, Item, PublicJob } from './answers/answers.ts';
import { FarthingError } from './answers/error.ts';
import type { Calls } from './calls.ts';
import { countedBody, openSource, type Source } from './source.ts';

/** Progress of an upload: bytes sent, then the stages of its job. */
export type IngestProgress =
  | { readonly stage: 'sending'; readonly bytes: number; readonly bytesTotal: number }
  | { readonly stage: JobState; readonly progress: number };

export interface IngestOptions {
  /** File name that is shown in hits. */
  readonly name?: string;
  /** Your own name for the file: one with the same key is replaced. The same bytes again change nothing and cost nothing. */
  readonly key?: string;
  /** With a key: only if no item has it. @throws precondition_failed */
  readonly ifNew?: boolean;
  /** With a key: only if the item with this id has it. @throws precondition_failed */
  readonly ifItem?: string;
  /** Metadata for filters of searches: flat. */
  readonly metadata?: Metadata;
  readonly onProgress?: (progress: IngestProgress) => void;
  /** False: answered as soon as the file is accepted, not when it is searchable. */
  readonly wait?: boolean;
  /** How long to wait for it, in milliseconds. */
  readonly waitMs?: number;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Where uploads go: `paid` or into a workspace. */
export interface IngestTarget {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: 'fixed';
  /** Path of a job's state. */
  readonly job: (id: string) => string;
  /** Path of an item, where asking is free. */
  readonly item?: (id: string) => string;
}

const WAIT_SECONDS = 60;
const WAIT_MS = 10 * 60_000;
const POLL_FIRST_MS = 50;
/** Files up to this size are searchable before a stage could be seen: their answer is waited for, without polling. */
const SMALL_BYTES = 256 * 1024;
const SMALL_WAIT_SECONDS = 1;
const POLL_MAX_MS = 2_000;
/** The slowest upload that the server waits for, in bytes a millisecond. */
const SLOWEST_BYTES_PER_MS = 16;
const ATTEMPT_MS_MIN = 90_000;

/**
 * Uploads one file and waits until it is searchable. In a workspace the item is read again then. In a payer's own index that would
 * cost a payment: after polling, only `state` and `segments` are up to date.
 * @throws the server's code when the file is refused or its job fails (a paid one leaves a credit for the next), ingest_timeout
 */
export async function ingest(
  calls: Calls,
  target: IngestTarget,
  source: Source,
  options: IngestOptions = {},
): Promise<IngestAnswer> {
  const { onProgress, wait = true, signal, idempotencyKey } = options;
  const { blob, name } = await openSource(source, options.name);
  const onBytes =
    onProgress && ((bytes: number) => onProgress({ stage: 'sending', bytes, bytesTotal: blob.size }));
  // To report the stages the job is polled; otherwise the server answers when the job has ended.
  const waitSeconds = !onProgress ? WAIT_SECONDS : blob.size <= SMALL_BYTES ? SMALL_WAIT_SECONDS : undefined;
  const { body } = await calls.send<AcceptedIngest>({
    method: 'POST',
    path: target.path,
    headers: {
      ...target.headers,
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
      ...labelHeaders(options),
      ...(wait && waitSeconds !== undefined && { Prefer: `wait=${waitSeconds}` }),
    },
    body: countedBody(blob, onBytes),
    price: target.price,
    idempotencyKey,
    signal,
    attemptMs: ATTEMPT_MS_MIN + blob.size / SLOWEST_BYTES_PER_MS,
  });
  const { item } = body;
  if (!item) throw failure(body.job);
  const accepted = { ...body, item };
  return wait ? untilSearchable(calls, target, accepted, options) : accepted;
}

/** A file's labels, as headers. @throws field_invalid for a key that no header can hold */
export function labelHeaders({
  key,
  metadata,
  ifNew,
  ifItem,
}: Pick<IngestOptions, 'key' | 'metadata' | 'ifNew' | 'ifItem'>): Record<string, string> {
  return {
    ...(key !== undefined && { 'Item-Key': encodedKey(key) }),
    ...(metadata && { 'Item-Metadata': asciiJson(metadata) }),
    ...(ifNew && { 'If-None-Match': '*' }),
    ...(ifItem !== undefined && { 'If-Match': `"${ifItem}"` }),
  };
}

function encodedKey(key: string): string {
  if (key.isWellFormed()) return encodeURIComponent(key);
  throw new FarthingError('field_invalid', 'key: send whole characters. Half of a surrogate pair is none.', {
    facts: { field: 'key' },
  });
}

/** JSON that a header may hold. */
function asciiJson(value: unknown): string {
  const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}

async function untilSearchable(
  calls: Calls,
  { headers, job: pathOf, item: itemPath }: IngestTarget,
  first: IngestAnswer,
  { onProgress, waitMs = WAIT_MS, signal }: IngestOptions,
): Promise<IngestAnswer> {
  const until = Date.now() + waitMs;
  let job: PublicJob = first.job;
  for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 1.5, POLL_MAX_MS)) {
    onProgress?.({ stage: job.state, progress: job.progress });
    if (job.state === 'searchable') break;
    if (job.state === 'failed' || job.state === 'cancelled') throw failure(job);
    if (Date.now() > until) {
      throw new FarthingError(
        'ingest_timeout',
        `The file is still being read (${job.state}); its job is ${job.id}.`,
        {
          facts: { job_id: job.id },
        },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal?.throwIfAborted();
    job = (await calls.send<PublicJob>({ method: 'GET', path: pathOf(job.id), headers, signal })).body;
  }
  if (job === first.job) return first;
  if (itemPath) {
    const { body } = await calls.send<Item>({ method: 'GET', path: itemPath(job.item), headers, signal });
    return { ...first, item: body, job };
  }
  const item = { ...first.item, state: 'searchable' as const, segments: job.segments || first.item.segments };
  return { ...first, item, job };
}

function failure({ id, state, error }: PublicJob): FarthingError {
  if (state === 'cancelled')
    return new FarthingError('interrupted', 'The ingest was cancelled.', { facts: { job_id: id } });
  return new FarthingError(
    (error?.code ?? 'extraction_failed') as ErrorCode,
    error?.detail ?? 'The job failed.',
    {
      facts: { job_id: id },
    },
  );
}
