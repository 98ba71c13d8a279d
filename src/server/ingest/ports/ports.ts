import type { EncodeOptions, Passage } from '@farthing/engine/encode/encoder';
import type { Listener } from '@farthing/engine/encode/speech/listener';
import type { Shard } from '@farthing/engine/shard/shard';
import type { Snapshot } from '@farthing/engine/shard/snapshot';
import type { Tenants } from '@farthing/engine/shard/tenants';
import type { Address } from '@farthing/protocol/address';
import type { Extracted, PictureSpec } from '@farthing/protocol/document';
import type { EncoderInput, InputKind } from '@farthing/protocol/family';
import type { ItemId, JobId, TenantId } from '@farthing/protocol/id';
import type { Metadata } from '@farthing/protocol/labels/metadata';
import type { Extractor } from '@farthing/readers/extractor';

export type { Passage as IngestPassage } from '@farthing/engine/encode/encoder';
export type { HeardRecording, Said as SaidPhrase } from '@farthing/engine/encode/speech/listener';
export type { SegmentInput as IngestSegment } from '@farthing/engine/shard/shard';

/** A Tenant's index, as far as ingest uses it. */
export interface IngestShard
  extends Pick<
    Shard,
    'append' | 'putItem' | 'addAlias' | 'removeItem' | 'item' | 'itemsByDigest' | 'itemsByKey'
  > {
  snapshot(): TextSnapshot & Pick<Snapshot, 'counts' | 'close'>;
}

/** The part of a snapshot that reads text. */
export type TextSnapshot = Pick<Snapshot, 'segmentsOf' | 'records'>;

export type VectorSnapshot = Pick<Snapshot, 'segmentsOf' | 'records' | 'vectors'>;

export interface IngestTenants<Opened = IngestShard> extends Pick<Tenants, 'folder' | 'exists'> {
  use<T>(
    tenant: TenantId,
    options: { create?: boolean },
    work: (shard: Opened) => Promise<T> | T,
  ): Promise<T>;
  /** Like `use`, but undefined for a Tenant without an index. */
  useIfThere<T>(tenant: TenantId, work: (shard: Opened) => Promise<T> | T): Promise<T | undefined>;
}

/** The Items' stored files. */
export interface StoredFiles {
  /**
   * Moves a received file to its final path. It is durable once the next write of its Item is. @throws storage_full, and what `after` throws
   * @param after nothing is moved before it resolves
   */
  keep(tenant: TenantId, item: ItemId, from: string, after: Promise<unknown>): Promise<void>;
  /** Stores a file that was written at its final path, as `keep` does. */
  keepPlaced(tenant: TenantId, item: ItemId): Promise<void>;
  /** Path of a file on this disk; nothing may be there, if the Item has no file. */
  path(tenant: TenantId, item: ItemId): Promise<string>;
  /** Path of a file, present or future. */
  place(tenant: TenantId, item: ItemId): string;
  remove(tenant: TenantId, item: ItemId): Promise<void>;
}

/** `canOpen` is absent where a process that opens files always runs. */
export type IngestExtractor = Pick<Extractor, 'open' | 'extract' | 'unpack'> &
  Partial<Pick<Extractor, 'canOpen'>>;

/** Vectors by name of space. Spaces without an installed model are absent. */
export type VectorsBySpace = Record<string, Float32Array[]>;

/** The encoder's queue is fair among Tenants. */
export interface IngestEncoder {
  /** Input format of the pictures of a Tenant's index; undefined without a picture model. */
  pictureSpec(tenant: TenantId): Promise<PictureSpec | undefined>;
  cutPassages(document: Pick<Extracted, 'title' | 'blocks'>, options: EncodeOptions): Promise<Passage[]>;
  encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: EncodeOptions,
  ): Promise<VectorsBySpace>;
  /** @throws overloaded while the queue has no room for more of the Tenant's owner */
  admitIngest(tenant: TenantId): void;
}

/** Finds the stretches of speech in a recording and, with a suitable model, transcribes them. */
export interface IngestListening {
  /** Whether speech is transcribed. */
  readonly writes: boolean;
  listen(tenant?: TenantId): Pick<Listener, 'hear' | 'finish'>;
}

/** A received file, in the folder for uploads: it is moved from there, or discarded. */
export interface StagedUpload {
  readonly path: string;
  /** The client's name for it. Shown, never used as a path. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  /** The uploader's metadata. */
  readonly metadata?: Metadata;
  /** The Item with the same key is replaced. */
  readonly key?: string;
  /** With a key: the Item that must have it, or null for none. */
  readonly onlyIf?: { readonly item: string | null };
}

/** Gives a payer the credit for a failed job. Idempotent by job, since a crash may repeat the call. */
export type NewCredit = (payer: Address, jobId: JobId) => Promise<void>;
