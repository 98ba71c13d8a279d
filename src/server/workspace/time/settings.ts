/** Durations and limits of a workspace's life. Durations count in rented time. */
export interface WorkspaceSettings {
  /** Hours in which a repeated DELETE with the same token gets the same answer. */
  readonly repeatedDeleteHours: number;
  /** Retention of an ended workspace's record, in days: identity, amounts, counts, receipt. */
  readonly recordRetentionDays: number;
  /** Hours that an unpaid extension counts against the limits. Longer than a payment can stay open. */
  readonly pendingHoursMax: number;
  /** Minutes that a workspace outlives its time while the payment for an extension settles. */
  readonly extensionHoldMinutes: number;
  /** Seconds that a disposal waits for requests that began before it. */
  readonly drainSecondsMax: number;
  readonly disposalsAtOnce: number;
  /** Seconds before a failed disposal is tried again. */
  readonly disposalRetrySeconds: number;
}

export const WORKSPACE_SETTINGS: WorkspaceSettings = {
  repeatedDeleteHours: 24,
  recordRetentionDays: 90,
  pendingHoursMax: 24,
  extensionHoldMinutes: 15,
  drainSecondsMax: 30,
  disposalsAtOnce: 16,
  disposalRetrySeconds: 30,
};
