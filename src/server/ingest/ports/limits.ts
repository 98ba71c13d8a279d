export interface IngestLimits {
  /** Jobs that may wait or run, in all stores of a process. */
  readonly jobsMax: number;
  /** Jobs of one Tenant that may wait or run: a quarter of all, so that others get in. */
  readonly jobsPerTenantMax: number;
  readonly jobsAtOnce: number;
  readonly itemsPerTenantMax: number;
  readonly bytesPerTenantMax: number;
  /** At this number no further file is taken. A segment takes about 2 kB. */
  readonly segmentsPerTenantMax: number;
  readonly segmentsPerItemMax: number;
  /** Nesting of archives: 2 is an archive inside an uploaded archive. */
  readonly archiveDepthMax: number;
  /** Files, and their bytes, unpacked from all archives of one upload. */
  readonly membersPerUploadMax: number;
  readonly memberBytesPerUploadMax: number;
  /** Starts of one job. A job that the server never finished is given up after these. */
  readonly attemptsMax: number;
  /** Retention of an ended job's state, in hours. */
  readonly jobKeepHours: number;
  /** Seconds that an upload waits while the payment for the same bytes is open. */
  readonly heldWaitSecondsMax: number;
}

export const INGEST_LIMITS: IngestLimits = {
  jobsMax: 1_000,
  jobsPerTenantMax: 250,
  // One is read while another is encoded: reading and encoding run in different processes.
  jobsAtOnce: 2,
  itemsPerTenantMax: 100_000,
  bytesPerTenantMax: 10 * 2 ** 30,
  segmentsPerTenantMax: 1_000_000,
  segmentsPerItemMax: 100_000,
  archiveDepthMax: 2,
  membersPerUploadMax: 1_000,
  memberBytesPerUploadMax: 512 * 2 ** 20,
  attemptsMax: 3,
  jobKeepHours: 24,
  heldWaitSecondsMax: 60,
};
