/** How long things last around a workspace; all counted in rented time. */
export interface WorkspaceSettings {
  /** Hours in which the same DELETE with the same token is answered again. */
  readonly repeatedDeleteHours: number;
  /** Days that the record of an ended workspace (identity, amounts, counts, receipt) stays for the books. */
  readonly recordRetentionDays: number;
  /** Hours that an extension with an unknown outcome counts against the limits: longer than a payment can stay undecided. */
  readonly pendingHoursMax: number;
  /** Minutes that a workspace outlives its time while an extension bought in time is being settled. */
  readonly extensionHoldMinutes: number;
  /** Seconds that a disposal waits for requests that began before it. */
  readonly drainSecondsMax: number;
  readonly disposalsAtOnce: number;
  /** Seconds until a failed disposal is tried again. */
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

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
