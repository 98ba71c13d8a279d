import type { Extracted, FileInfo, UnpackedMember } from '../domain/document.ts';
import type { EncoderInput, InputKind } from '../domain/family.ts';
import type { Item } from '../domain/item.ts';
import type { Address } from '../domain/payment.ts';
import type { Locator, SegmentRecord } from '../domain/segment.ts';

/** What ingest needs of a Tenant's index. */
export interface IngestShard {
  append(item: Item, segments: readonly IngestSegment[]): Promise<void>;
  putItem(item: Item): Promise<void>;
  removeItem(id: string): Promise<boolean>;
  item(id: string): Item | undefined;
  itemByDigest(sha256Hex: string): Item | undefined;
  snapshot(): { counts(): { items: number; segments: number; bytes: number }; close(): void };
}

export interface IngestSegment {
  readonly record: SegmentRecord;
  readonly words?: string;
  readonly fingerprint?: Uint8Array;
  readonly digest?: Uint8Array;
  readonly vectors: Readonly<Record<string, Float32Array>>;
}

export interface IngestTenants<Shard = IngestShard> {
  folder(tenant: string): string;
  exists(tenant: string): boolean;
  use<T>(tenant: string, options: { create?: boolean }, work: (shard: Shard) => Promise<T> | T): Promise<T>;
  /** As `use`; undefined where the Tenant has no index, or no longer. */
  useIfThere<T>(tenant: string, work: (shard: Shard) => Promise<T> | T): Promise<T | undefined>;
}

export interface IngestExtractor {
  open(path: string, hint: { name?: string; tenant?: string }): Promise<FileInfo>;
  extract(
    path: string,
    opened: FileInfo,
    options?: {
      signal?: AbortSignal;
      onProgress?: (fraction: number) => void;
      onSound?: (samples: Int16Array) => Promise<void>;
    },
  ): Promise<Extracted>;
  unpack(
    path: string,
    opened: FileInfo,
    options: {
      target: (index: number) => string;
      signal?: AbortSignal;
      onMember?: (count: number) => void;
    },
  ): Promise<readonly UnpackedMember[]>;
}

export interface IngestPassage {
  readonly text: string;
  readonly locator: Locator;
  readonly place: number;
  /** Title and text: what is encoded and indexed. */
  readonly words: string;
}

interface EncodeOptions {
  readonly tenant: string;
  readonly signal?: AbortSignal;
}

/** Vectors by the name of their space; spaces whose model is not installed are absent. */
export type VectorsBySpace = Record<string, Float32Array[]>;

export interface IngestEncoder {
  readonly pictureSpec: object | undefined;
  cutPassages(
    document: Pick<Extracted, 'title' | 'blocks'>,
    options: EncodeOptions,
  ): Promise<IngestPassage[]>;
  encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: EncodeOptions,
  ): Promise<VectorsBySpace>;
  admitIngest(): void;
}

export interface Stretch {
  readonly time_s: number;
  readonly time_end_s: number;
}

/** Finds where somebody speaks in a recording and, where it can, what is said. */
export interface IngestListening {
  readonly writes: boolean;
  listen(): {
    hear(samples: Int16Array): Promise<void>;
    finish(): Promise<{
      readonly speech: readonly Stretch[];
      readonly said: readonly (Stretch & { readonly text: string })[];
    }>;
  };
}

export interface IngestLimits {
  /** Jobs that may wait or run. */
  readonly jobsMax: number;
  /** Jobs of one Tenant that may wait or run: a quarter of all, so that the others find room. */
  readonly jobsPerTenantMax: number;
  readonly jobsAtOnce: number;
  readonly itemsPerTenantMax: number;
  readonly bytesPerTenantMax: number;
  /** Reached, no further file is taken; about 2 kB each. */
  readonly segmentsPerTenantMax: number;
  readonly segmentsPerItemMax: number;
  /** Archives in archives: 2 is an archive in what was sent. */
  readonly archiveDepthMax: number;
  /** Files, and bytes of them, that come out of one upload, from all archives in it. */
  readonly membersPerUploadMax: number;
  readonly memberBytesPerUploadMax: number;
  /** Begun so often without an end (the server stopped each time), a job is given up. */
  readonly attemptsMax: number;
  /** How long the state of an ended job can be asked for. */
  readonly jobKeepHours: number;
  /** How long the same bytes wait for the payment of those that came first. */
  readonly heldWaitSecondsMax: number;
}

export const INGEST_LIMITS: IngestLimits = {
  jobsMax: 1_000,
  jobsPerTenantMax: 250,
  // One is read while another is encoded: they use different processes.
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

/** A file that HTTP has received into the Tenant's folder. */
export interface StagedUpload {
  readonly path: string;
  /** As the client named it; shown, never used as a path. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Gives a payer the credit for a failed job, once for each job: a crash may make it be called again with the same job.
 */
export type NewCredit = (payer: Address, jobId: string) => Promise<void>;
