import type { AtomicAmount } from './money.ts';

/** active → disposing → disposed; an expired workspace passes the same way, with reason `expired`. */
export const WORKSPACE_STATES = ['active', 'disposing', 'disposed'] as const;
export type WorkspaceState = (typeof WORKSPACE_STATES)[number];

export type DisposalReason = 'deleted' | 'expired' | 'operator' | 'payment_failed';

/** A Workspace as the shared state holds it: no content, no token (only the token's SHA-256, in hexadecimal). */
export interface WorkspaceRecord {
  readonly id: string;
  readonly state: WorkspaceState;
  readonly tokenHash: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly ttlMinutesAsked: number | null;
  readonly ttlMinutes: number;
  readonly price: AtomicAmount;
  readonly spend: AtomicAmount;
  readonly spendLimit: AtomicAmount | null;
  readonly searches: number;
  readonly ingests: number;
}

/** Price of a time-limited Workspace: base once, and so much per minute. */
export interface WorkspacePricing {
  readonly base: AtomicAmount;
  readonly perMinute: AtomicAmount;
  readonly ttlMinutesMin: number;
  readonly ttlMinutesMax: number;
  readonly ttlTotalMinutesMax: number;
  readonly ttlMinutesDefault: number;
}

export function clampMinutes(pricing: WorkspacePricing, asked: number | null | undefined): number {
  return Math.min(pricing.ttlMinutesMax, Math.max(pricing.ttlMinutesMin, asked ?? pricing.ttlMinutesDefault));
}

export function creationPrice(pricing: WorkspacePricing, minutes: number): AtomicAmount {
  return pricing.base + pricing.perMinute * BigInt(minutes);
}

export function extensionPrice(pricing: WorkspacePricing, minutes: number): AtomicAmount {
  return pricing.perMinute * BigInt(minutes);
}
