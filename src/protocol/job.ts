import type { Address } from './address.ts';
import type { NotRead } from './file/not-read.ts';
import type { ItemId, JobId, TenantId } from './id.ts';

/** accepted → extracting → encoding → committing → searchable. Each of the first four may end as failed or cancelled. */
export const JOB_STATES = [
  'accepted',
  'extracting',
  'encoding',
  'committing',
  'searchable',
  'failed',
  'cancelled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

const NEXT: Record<JobState, readonly JobState[]> = {
  accepted: ['extracting', 'failed', 'cancelled'],
  extracting: ['encoding', 'failed', 'cancelled'],
  encoding: ['committing', 'failed', 'cancelled'],
  committing: ['searchable', 'failed', 'cancelled'],
  searchable: [],
  failed: [],
  cancelled: [],
};

export function jobMayPass(from: JobState, to: JobState): boolean {
  return NEXT[from].includes(to);
}

export function isEnded(state: JobState): boolean {
  return NEXT[state].length === 0;
}

/** Whether the payer is owed a credit: the job was paid for, and made nothing searchable. A held job is not paid for yet. */
export function owesCredit(job: Job): job is Job & Required<Pick<Job, 'creditTo'>> {
  const { state, creditTo, held } = job;
  return (state === 'failed' || state === 'cancelled') && creditTo !== undefined && !held;
}

/** One ingest, from accepted to searchable. It is in the shared state, so it holds no content and no file name. */
export interface Job {
  readonly id: JobId;
  readonly tenant: TenantId;
  readonly item: ItemId;
  readonly state: JobState;
  /** Share of the work that is done, 0..1. */
  readonly progress: number;
  readonly segments: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Only on a searchable Item. */
  readonly not_read?: readonly NotRead[];
  /** Present on a failed job, with the codes of an immediate refusal. */
  readonly error?: { readonly code: string; readonly detail: string };
  /** The payment is still open: the job does not run, and vanishes if the payment fails. */
  readonly held?: boolean;
  /** The payer who gets a credit if the job fails or is cancelled; absent for jobs of workspaces and jobs without charge. */
  readonly creditTo?: Address;
  /** Seconds left at the pace so far, of a running job. Never stored. */
  readonly time_left_s?: number;
  /** How often its work began again after the end of the server. A job that ends the server every time is given up. */
  readonly attempts?: number;
}
