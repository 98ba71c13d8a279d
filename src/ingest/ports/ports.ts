import type { Item } from '../../api/items.ts';
import type { Locator, SegmentRecord } from '../../api/search.ts';
import type { Address } from '../../domain/address.ts';
import type { Extracted, FileInfo, PictureSpec, UnpackedMember } from '../../domain/document.ts';
import type { EncoderInput, InputKind } from '../../domain/family.ts';
import type { ItemId, JobId, TenantId } from '../../domain/id.ts';
import type { Metadata } from '../../domain/labels/metadata.ts';

/** A Tenant's index, as far as ingest uses it. */
export interface IngestShard {
  append(item: Item, segments: readonly IngestSegment[], replaces?: readonly string[]): Promise<void>;
  putItem(item: Item): Promise<void>;
  addAlias(id: ItemId, name: string): Promise<boolean>;
  removeItem(id: ItemId): Promise<boolean>;
  item(id: ItemId): Item | undefined;
  itemsByDigest(sha256Hex: string): Item[];
  itemsByKey(key: string): Item[];
  snapshot(): TextSnapshot & { counts(): { items: number; segments: number; bytes: number }; close(): void };
}

/** What is read of an Item's text. */
export interface TextSnapshot {
  segmentsOf(item: string): { readonly first: number; readonly count: number } | undefined;
  records(segments: Uint32Array): (SegmentRecord | undefined)[];
}

export interface VectorSnapshot extends TextSnapshot {
  /** The vectors of Segments, ascending, in a space: little-endian f32. */
  vectors(space: string, segments: Uint32Array): Promise<(Buffer | undefined)[]>;
}

export interface IngestSegment {
  readonly record: SegmentRecord;
  readonly words?: string;
  readonly fingerprint?: Uint8Array;
  readonly digest?: Uint8Array;
  readonly vectors: Readonly<Record<string, Float32Array>>;
}

export interface IngestTenants<Shard = IngestShard> {
  folder(tenant: TenantId): string;
  exists(tenant: TenantId): boolean;
  use<T>(tenant: TenantId, options: { create?: boolean }, work: (shard: Shard) => Promise<T> | T): Promise<T>;
  /** As `use`, but undefined for a Tenant without an index. */
  useIfThere<T>(tenant: TenantId, work: (shard: Shard) => Promise<T> | T): Promise<T | undefined>;
}

/** The Items' stored files. */
export interface StoredFiles {
  /**
   * Moves a received file to its place. It is durable once the next write of its Item is. @throws storage_full, and what `after` throws
   * @param after nothing is moved before it resolves
   */
  keep(tenant: TenantId, item: ItemId, from: string, after: Promise<unknown>): Promise<void>;
  /** Keeps a file that was written to its place, as `keep` does. */
  keepPlaced(tenant: TenantId, item: ItemId): Promise<void>;
  /** Path of a file on this disk; nothing may be there, if the Item has no file. */
  path(tenant: TenantId, item: ItemId): Promise<string>;
  /** Path at which a file lies, or is to lie. */
  place(tenant: TenantId, item: ItemId): string;
  remove(tenant: TenantId, item: ItemId): Promise<void>;
}

export interface IngestExtractor {
  /** Resolves once a process that opens files runs, or could not start; absent: one always runs. */
  canOpen?(): Promise<void>;
  open(path: string, hint: { name?: string; tenant?: string; signal?: AbortSignal }): Promise<FileInfo>;
  extract(
    path: string,
    info: FileInfo,
    options?: {
      tenant?: string;
      /** What pictures must look like; absent: as the models in use want them. */
      spec?: PictureSpec;
      signal?: AbortSignal;
      onProgress?: (fraction: number) => void;
      onSound?: (samples: Int16Array) => Promise<void>;
    },
  ): Promise<Extracted>;
  unpack(
    path: string,
    info: FileInfo,
    options: {
      tenant?: string;
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
  /** Title and text, as they are encoded and indexed. */
  readonly words: string;
}

interface EncodeOptions {
  /** The encoder's queue is fair among these. */
  readonly tenant: string;
  readonly signal?: AbortSignal;
}

/** Vectors by name of space. Spaces without an installed model are absent. */
export type VectorsBySpace = Record<string, Float32Array[]>;

export interface IngestEncoder {
  /** What the pictures of a Tenant's index must look like; undefined without a picture model. */
  pictureSpec(tenant: TenantId): Promise<PictureSpec | undefined>;
  cutPassages(
    document: Pick<Extracted, 'title' | 'blocks'>,
    options: EncodeOptions,
  ): Promise<IngestPassage[]>;
  encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: EncodeOptions,
  ): Promise<VectorsBySpace>;
  /** @throws overloaded while the Tenant's owner has as much waiting as there is room for */
  admitIngest(tenant: TenantId): void;
}

export interface Stretch {
  readonly time_s: number;
  readonly time_end_s: number;
}

/** What was heard between two seconds, and how sure the model was of it, 0..1. */
export interface SaidPhrase extends Stretch {
  readonly text: string;
  readonly certainty: number;
}

/** Finds the stretches of a recording in which somebody speaks and, with a suitable model, transcribes them. */
export interface IngestListening {
  /** Whether speech is transcribed. */
  readonly writes: boolean;
  listen(tenant?: TenantId): {
    hear(samples: Int16Array): Promise<void>;
    finish(): Promise<{
      readonly speech: readonly Stretch[];
      readonly said: readonly SaidPhrase[];
    }>;
  };
}

/** A received file, in the folder for uploads. */
export interface StagedUpload {
  readonly path: string;
  /** The client's name for it. Shown, never used as a path. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  /** What its uploader says of it. */
  readonly metadata?: Metadata;
  /** The Item with the same key is replaced. */
  readonly key?: string;
  /** With a key: the Item that must have it, or null for none. */
  readonly onlyIf?: { readonly item: string | null };
}

/** Gives a payer the credit for a failed job. Idempotent by job, since a crash may repeat the call. */
export type NewCredit = (payer: Address, jobId: JobId) => Promise<void>;
