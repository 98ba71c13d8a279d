import type { Family } from '../../domain/family.ts';
import type { Item } from '../../domain/item.ts';
import type { JobState } from '../../domain/job.ts';
import type { Bound, Hit, Timing, UnansweredReason } from '../../domain/search.ts';

export type { Family } from '../../domain/family.ts';
export type { Box, Locator } from '../../domain/file/segment.ts';
export type { Item } from '../../domain/item.ts';
export type { Bound, Hit, Timing, UnansweredReason } from '../../domain/search.ts';

/** Answers as the server gives them; `/openapi.json` describes every field. */

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  /** Whether a hit is likely to answer, and if not, why. */
  readonly answered: boolean;
  readonly reason?: UnansweredReason;
  readonly latency_ms: number;
  readonly timing: Timing;
  /** True when every list is proved to have its best rows; `bounds` says it for each family. Nothing about relevance. */
  readonly exact: boolean;
  readonly bounds?: Readonly<Partial<Record<Family, Bound>>>;
  readonly charged: boolean;
  readonly warnings?: readonly string[];
}

export interface PublicJob {
  readonly id: string;
  readonly item: string;
  readonly state: JobState;
  /** Done share of the work, 0..1. */
  readonly progress: number;
  readonly segments: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly error?: { readonly code: string; readonly detail: string };
}

export interface IngestAnswer {
  readonly item: Item;
  readonly job_id: string;
  readonly job: PublicJob;
  readonly duplicate?: boolean;
  readonly credit_used?: boolean;
  readonly charged: boolean;
  readonly warnings?: readonly string[];
}

export interface WorkspaceAnswer {
  readonly id: string;
  readonly state: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly ttl_minutes_asked: number | null;
  readonly ttl_minutes: number;
  readonly ttl_seconds_left: number;
  readonly price_usd: string;
  readonly spend_usd: string;
  readonly spend_limit_usd: string | null;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly links?: Readonly<Record<string, string>>;
}

export interface UsageAnswer {
  readonly id: string;
  readonly state: string;
  readonly expires_at: string;
  readonly ttl_seconds_left: number;
  readonly spend_usd: string;
  readonly spend_limit_usd: string | null;
  readonly searches: number;
  readonly ingests: number;
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
}

export interface HistoryAnswer {
  readonly entries: readonly {
    readonly at: string;
    readonly query?: string;
    readonly image_sha256?: string;
    readonly families?: readonly Family[];
    readonly k: number;
    readonly hits: number;
    readonly latency_ms: number;
  }[];
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
}

export interface ItemsAnswer {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** What /readyz says of the server, as far as a client needs it. */
export interface ReadyAnswer {
  readonly ready: boolean;
  readonly families: readonly { readonly family: Family; readonly available: boolean }[];
  /** `local`: no money moves. */
  readonly payment: { readonly facilitator: { readonly kind: string } };
  /** By route, in decimals. */
  readonly prices_usd: Readonly<Record<string, string>>;
  readonly workspace_minutes: { readonly min: number; readonly max: number };
}

/** A disposal whose receipt was verified. */
export interface DisposalAnswer {
  readonly id: string;
  readonly state: 'disposed';
  /** Compact JWS (EdDSA). */
  readonly receipt: string;
  readonly claims: Readonly<Record<string, unknown>>;
}
