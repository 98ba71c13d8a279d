import type { StepId, WorkspaceId } from './id.ts';
import type { AtomicAmount } from './money.ts';

/**
 * pending → active → disposing → disposed. `pending` is a creation whose payment is not settled yet: it is never shown
 * and its minutes have not begun. DELETE, expiry, the operator and a failed payment all pass through `disposing`.
 */
export const WORKSPACE_STATES = ['pending', 'active', 'disposing', 'disposed'] as const;
export type WorkspaceState = (typeof WORKSPACE_STATES)[number];

const NEXT: Record<WorkspaceState, readonly WorkspaceState[]> = {
  pending: ['active', 'disposing'],
  active: ['disposing'],
  disposing: ['disposed'],
  disposed: [],
};

/** Whether a workspace may pass from one state to another; a disposed one never lives again. */
export function workspaceMayPass(from: WorkspaceState, to: WorkspaceState): boolean {
  return NEXT[from].includes(to);
}

export const DISPOSAL_REASONS = ['deleted', 'expired', 'operator', 'payment_failed'] as const;
export type DisposalReason = (typeof DISPOSAL_REASONS)[number];

/** An extension whose payment is not settled yet: it counts against both limits as if it were. */
export interface PendingStep {
  readonly step: StepId;
  readonly minutes: number;
  readonly minutesAsked: number | null;
  readonly price: AtomicAmount;
  /** Rented time, in milliseconds, when it was asked for. */
  readonly since: number;
}

/** What a workspace held when it ended, counted before anything was unlinked. */
export interface WorkspaceInventory {
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
  /** Digest over the digests of the items: see `digestOfItems`. */
  readonly itemsDigest: string;
}

/** How a workspace ended, or is ending. */
export interface WorkspaceEnd {
  readonly reason: DisposalReason;
  /** The token's hash is still kept: the same DELETE is answered again. */
  readonly tokenKept: boolean;
  /** Wall clock, in milliseconds: when its paid time would have been over, as seen when it ended. */
  readonly expiresAt: number;
  /** Known once all work has stopped; a crash after that reads it from here. Null: the index could not be read. */
  readonly inventory?: WorkspaceInventory | null;
  /** Wall clock, in milliseconds. Present once disposed, as the rest below. */
  readonly disposedAt?: number;
  /** Rented time, in milliseconds, when it was disposed: retention counts from here. */
  readonly disposedRented?: number;
  /** Compact JWS. */
  readonly receipt?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A Workspace as the shared state holds it: no content and no token. */
export interface WorkspaceRecord {
  readonly id: WorkspaceId;
  readonly state: WorkspaceState;
  /** Wall clock, in milliseconds: when it was paid for (while pending: asked for). */
  readonly createdAt: number;
  /** Rented time, in milliseconds, at which the paid time is over; while pending, when it was asked for. */
  readonly endsAt: number;
  readonly ttlMinutesAsked: number | null;
  readonly ttlMinutes: number;
  /** Price of the creation. */
  readonly price: AtomicAmount;
  /** Creation and every settled extension. */
  readonly spend: AtomicAmount;
  readonly spendLimit: AtomicAmount | null;
  readonly pendingSteps: readonly PendingStep[];
  readonly end?: WorkspaceEnd;
}

/** Price of a time-limited Workspace: base once, and so much per minute. */
export interface WorkspacePricing {
  readonly base: AtomicAmount;
  readonly perMinute: AtomicAmount;
  readonly ttlMinutesMin: number;
  readonly ttlMinutesMax: number;
  /** Most minutes that may be left after an extension. */
  readonly ttlTotalMinutesMax: number;
  readonly ttlMinutesDefault: number;
}

/** Minutes given for minutes asked (absent: the default), within the bounds. */
export function clampMinutes(pricing: WorkspacePricing, asked: number | null | undefined): number {
  return Math.min(pricing.ttlMinutesMax, Math.max(pricing.ttlMinutesMin, asked ?? pricing.ttlMinutesDefault));
}

export function creationPrice(pricing: WorkspacePricing, minutes: number): AtomicAmount {
  return pricing.base + pricing.perMinute * BigInt(minutes);
}

export function extensionPrice(pricing: WorkspacePricing, minutes: number): AtomicAmount {
  return pricing.perMinute * BigInt(minutes);
}
