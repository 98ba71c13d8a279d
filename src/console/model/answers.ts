/** What the server answers, as far as the console reads it. /openapi.json is the whole of it. */

export type Family = 'visual' | 'text_semantic' | 'raw';
export const FAMILIES: readonly Family[] = ['text_semantic', 'visual', 'raw'];

export interface Item {
  readonly id: string;
  readonly name: string;
  readonly title?: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly state: string;
  readonly segments: number;
  readonly pages?: number;
  readonly duration_s?: number;
  readonly width?: number;
  readonly height?: number;
}

/** A part of a page, as shares of its width and height, from its upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Locator {
  readonly page?: number;
  readonly time_s?: number;
  readonly time_end_s?: number;
  readonly heading?: string;
  readonly box?: Box;
}

export interface Hit {
  readonly item: Item;
  readonly confidence: number;
  readonly family: Family;
  readonly locator: Locator;
  readonly score: number;
  readonly snippet?: string;
  readonly segments: number;
}

export interface Timing {
  readonly verify_ms?: number;
  readonly encode_ms?: number;
  readonly scan_ms?: number;
  readonly fuse_ms?: number;
  readonly settle_ms?: number;
  readonly total_ms?: number;
}

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  readonly latency_ms: number;
  readonly timing: Timing;
  readonly exact: boolean;
}

export interface Job {
  readonly id: string;
  readonly state: string;
  readonly progress: number;
  readonly segments: number;
  readonly error?: { readonly code: string; readonly detail: string };
}

export interface IngestAnswer {
  readonly item: Item;
  readonly job: Job;
  readonly duplicate?: boolean;
}

export interface Workspace {
  readonly id: string;
  readonly capability_token?: string;
  readonly ttl_seconds_left: number;
  readonly price_usd: string;
  readonly spend_usd: string;
  readonly spend_limit_usd: string | null;
}

export interface Usage {
  readonly ttl_seconds_left: number;
  readonly spend_usd: string;
  readonly spend_limit_usd: string | null;
  readonly searches: number;
  readonly ingests: number;
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
}

export interface Kept {
  readonly what: string;
  readonly why: string;
  readonly until: string | null;
}

export interface Disposal {
  readonly id: string;
  readonly receipt: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What /readyz says of the server. */
export interface ServerFacts {
  readonly families: readonly { readonly family: Family; readonly available: boolean }[];
  readonly payment: { readonly facilitator: { readonly kind: string; readonly movesMoney?: boolean } };
  readonly prices_usd: { readonly workspace: string; readonly workspace_minute: string };
  readonly workspace_minutes: { readonly min: number; readonly max: number };
}
