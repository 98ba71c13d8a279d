import type { ItemId, JobId, TenantId } from './id.ts';
import type { Address } from './payment.ts';

/** accepted → extracting → encoding → committing → searchable; any of the first four may end as failed or cancelled. */
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

/** Whether a payer is still to have a credit for it: it was paid for and has come to nothing. While it is held, the payment may yet fail. */
export function owesCredit(job: Job): job is Job & Required<Pick<Job, 'creditTo'>> {
  const { state, creditTo, held } = job;
  return (state === 'failed' || state === 'cancelled') && creditTo !== undefined && !held;
}

/** One ingest, from accepted to searchable. Holds no content and no file name: it lies in the shared state. */
export interface Job {
  readonly id: JobId;
  readonly tenant: TenantId;
  readonly item: ItemId;
  readonly state: JobState;
  /** Done share of the work, 0..1. */
  readonly progress: number;
  readonly segments: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Present on a failed job: the same codes as an immediate refusal has. */
  readonly error?: { readonly code: string; readonly detail: string };
  /** A job that a payment still has to release: it does not run, and vanishes if the payment fails. */
  readonly held?: boolean;
  /** The payer for whom the job becomes a credit if it fails or is cancelled; absent for workspaces and for jobs that were not charged. */
  readonly creditTo?: Address;
  /** Seconds until it ends at the pace so far; of a running job, and never stored. */
  readonly time_left_s?: number;
  /** How often the job was begun: one that ends the server each time is given up. */
  readonly attempts?: number;
}
