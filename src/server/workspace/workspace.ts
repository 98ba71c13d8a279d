import type { Address } from '@farthing/protocol/address';
import type { StepId, WorkspaceId } from '@farthing/protocol/id';
import type { AtomicAmount } from '@farthing/protocol/money';

/**
 * pending → active → disposing → disposed. `pending` is a creation whose payment is not settled yet: it is never shown,
 * and its minutes have not begun. DELETE, expiry, the operator and a failed payment all lead through `disposing`.
 */
export const WORKSPACE_STATES = ['pending', 'active', 'disposing', 'disposed'] as const;
export type WorkspaceState = (typeof WORKSPACE_STATES)[number];

const NEXT: Record<WorkspaceState, readonly WorkspaceState[]> = {
  pending: ['active', 'disposing'],
  active: ['disposing'],
  disposing: ['disposed'],
  disposed: [],
};

/** Whether a workspace may pass from one state to another. A disposed one never returns. */
export function workspaceMayPass(from: WorkspaceState, to: WorkspaceState): boolean {
  return NEXT[from].includes(to);
}

/** Whether a workspace in this state may hold data: it has begun, and is not disposed of yet. */
export function mayHoldData(state: WorkspaceState): boolean {
  switch (state) {
    case 'active':
    case 'disposing':
      return true;
    case 'pending':
    case 'disposed':
      return false;
  }
}

export const DISPOSAL_REASONS = ['deleted', 'expired', 'operator', 'payment_failed'] as const;
export type DisposalReason = (typeof DISPOSAL_REASONS)[number];

/** An extension whose payment is not settled yet. It counts against both limits as if it were. */
export interface PendingStep {
  readonly step: StepId;
  readonly minutes: number;
  readonly minutesAsked: number | null;
  readonly price: AtomicAmount;
  /** Rented time, in milliseconds, of the request. */
  readonly since: number;
}

/** Minutes that were paid in advance: the last of a workspace's time. Unused ones are refunded to the payer. */
export interface Reserve {
  readonly step: StepId;
  readonly payer: Address;
  /** The prepaid money's id in the payer's store. */
  readonly money: string;
  readonly minutes: number;
  readonly perMinute: AtomicAmount;
}

/** A refund to a wallet for unused minutes. */
export interface ReserveReturn extends Pick<Reserve, 'step' | 'payer' | 'money'> {
  readonly amount: AtomicAmount;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** A workspace's content at its end, counted before anything was unlinked. */
export interface WorkspaceInventory {
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
  /** Digest over the digests of the items: see `digestOfItems`. */
  readonly itemsDigest: string;
}

/** The end of a workspace, complete or under way. */
export interface WorkspaceEnd {
  readonly reason: DisposalReason;
  /** The token's hash is still stored, so that it gets the receipt. */
  readonly tokenKept: boolean;
  /** Wall clock, in milliseconds: the end of the paid time, as it looked when the end began. */
  readonly expiresAt: number;
  /** Present once all work has stopped. Null: the index could not be read. */
  readonly inventory?: WorkspaceInventory | null;
  /** Wall clock, in milliseconds. Present once disposed, like the fields below. */
  readonly disposedAt?: number;
  /** Rented time, in milliseconds, of the disposal: retention counts from here. */
  readonly disposedRented?: number;
  /** Compact JWS. */
  readonly receipt?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** End of a workspace that has none: the latest moment that due times sort, some 30,000 years on. */
export const NO_END = 10 ** 15 - 1;

/** A Workspace in the shared state: no content and no token. */
export interface WorkspaceRecord {
  readonly id: WorkspaceId;
  readonly state: WorkspaceState;
  /** The wallet that paid for it, until it is disposed of: its owner in every share. */
  readonly payer?: Address;
  /** Present in a workspace of the house: nobody paid for it, keys open it instead of a token, and it ends when it is disposed of. */
  readonly house?: { readonly name?: string };
  /** Wall clock, in milliseconds, of the payment; while pending, of the request. */
  readonly createdAt: number;
  /** Rented time, in milliseconds, at the end of the paid time, or `NO_END`; while pending, of the request. */
  readonly endsAt: number;
  readonly ttlMinutesAsked: number | null;
  readonly ttlMinutes: number;
  /** Price of the creation. */
  readonly price: AtomicAmount;
  /** Sum of the creation and every settled extension, reserves included. */
  readonly spend: AtomicAmount;
  readonly spendLimit: AtomicAmount | null;
  /** ISO 639-3: the texts that it was made for. Absent: the first text tells. */
  readonly language?: string;
  readonly pendingSteps: readonly PendingStep[];
  /** In the order of their use. */
  readonly reserves?: readonly Reserve[];
  readonly end?: WorkspaceEnd;
}

/** Minutes that can be bought at once: the unit of the price, and a day, after which a caller decides again. */
export const TTL_MINUTES = { min: 1, max: 1440, initial: 15 } as const;

/** Most minutes that can be bought at once. @param total most minutes that a Workspace may have left */
export function ttlMinutesMax(total: number): number {
  return Math.min(TTL_MINUTES.max, total);
}

/** Prices and bounds of a Workspace's minutes. */
export interface WorkspacePricing {
  readonly base: AtomicAmount;
  readonly perMinute: AtomicAmount;
  readonly ttlMinutesMin: number;
  readonly ttlMinutesMax: number;
  /** Upper bound of the minutes left after an extension. */
  readonly ttlTotalMinutesMax: number;
  readonly ttlMinutesDefault: number;
}

/** Minutes granted for the minutes requested (absent: the default), within the bounds. */
export function clampMinutes(pricing: WorkspacePricing, requested: number | null | undefined): number {
  return Math.min(
    pricing.ttlMinutesMax,
    Math.max(pricing.ttlMinutesMin, requested ?? pricing.ttlMinutesDefault),
  );
}

export function creationPrice(pricing: WorkspacePricing, minutes: number): AtomicAmount {
  return pricing.base + pricing.perMinute * BigInt(minutes);
}

export function extensionPrice(pricing: WorkspacePricing, minutes: number): AtomicAmount {
  return pricing.perMinute * BigInt(minutes);
}
