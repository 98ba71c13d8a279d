import type { Item } from '../../api/items.ts';
import type { SegmentRecord } from '../../api/search.ts';
import type { Extracted, FileInfo } from '../../domain/document.ts';
import type { PreviousSpace } from '../../domain/space.ts';
import type { IngestEncoder, StoredFiles } from '../ports/ports.ts';

/** What a change of model needs of an index. */
export interface ReencodeShard {
  snapshot(): {
    previousSpaces(): readonly PreviousSpace[];
    records(segments: Uint32Array): (SegmentRecord | undefined)[];
    item(id: string): Item | undefined;
    close(): void;
  };
  lacking(from: string, to: string, givenUp: Uint32Array, limit: number): Promise<Uint32Array>;
  putRows(space: string, segments: Uint32Array, values: Float32Array): Promise<void>;
  switchSpace(from: string, to: string, givenUp: Uint32Array): Promise<boolean>;
  removeStaleSpaces(): Promise<void>;
}

export interface ReencodeTenants {
  folder(tenant: string): string;
  list(): Promise<string[]>;
  use<T>(
    tenant: string,
    options: { create?: boolean },
    work: (shard: ReencodeShard) => Promise<T> | T,
  ): Promise<T>;
}

export interface ReencodeExtractor {
  open(path: string, hint: { name?: string; tenant?: string }): Promise<FileInfo>;
  extract(
    path: string,
    opened: FileInfo,
    options?: { tenant?: string; signal?: AbortSignal; recognise?: boolean },
  ): Promise<Extracted>;
}

export interface ReencodeDeps {
  readonly tenants: ReencodeTenants;
  readonly files: Pick<StoredFiles, 'path'>;
  readonly extractor: ReencodeExtractor;
  /** The models in use; each space has the name of its role. */
  readonly encoder: IngestEncoder & { readonly spaces: readonly { readonly name: string }[] };
}

/** One Tenant's change of model, under way. */
export interface ReencodeRun extends ReencodeDeps {
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Segments that were encoded again, and those whose source cannot be had. */
  readonly onDone: (segments: number) => void;
  readonly onGivenUp: (segments: number, reason: string) => void;
}

/** A Segment that is to get rows of another model, and what was known of it when it was read. */
export interface Known {
  readonly segment: number;
  readonly record: SegmentRecord;
}

/** Segments that are read at once: some megabytes of text at most. */
export const SEGMENTS_AT_ONCE = 256;
/** Segments that are looked for at once. */
export const LACKING_AT_ONCE = 16_384;

/** What is known of some Segments; those that have gone are left out. */
export function known(
  shard: ReencodeShard,
  segments: Uint32Array,
): { all: Known[]; items: Map<string, Item> } {
  const snapshot = shard.snapshot();
  try {
    const records = snapshot.records(segments);
    const all = records.flatMap((record, index) => (record ? [{ segment: segments[index]!, record }] : []));
    const items = new Map<string, Item>();
    for (const { record } of all) {
      const item = items.has(record.item) ? undefined : snapshot.item(record.item);
      if (item) items.set(item.id, item);
    }
    return { all, items };
  } finally {
    snapshot.close();
  }
}

/**
 * Puts rows of a space for Segments that still belong to the Items they were read from: a Tenant that ended and began anew
 * meanwhile has other Items.
 */
export async function putRows(
  { tenants, tenant }: Pick<ReencodeRun, 'tenants' | 'tenant'>,
  space: string,
  segments: readonly Known[],
  rows: readonly Float32Array[],
): Promise<void> {
  await tenants.use(tenant, {}, async (shard) => {
    const now = known(
      shard,
      Uint32Array.from(segments, ({ segment }) => segment),
    ).all;
    const itemOf = new Map(now.map(({ segment, record }) => [segment, record.item]));
    const kept = segments.flatMap(({ segment, record }, index) =>
      itemOf.get(segment) === record.item ? [{ segment, row: rows[index]! }] : [],
    );
    if (kept.length === 0) return;
    const width = kept[0]!.row.length;
    const values = new Float32Array(kept.length * width);
    for (const [index, { row }] of kept.entries()) values.set(row, index * width);
    await shard.putRows(
      space,
      Uint32Array.from(kept, ({ segment }) => segment),
      values,
    );
  });
}
