import type { FileHandle } from 'node:fs/promises';
import type { SpaceSpec } from '@farthing/engine/space';
import type { ItemId, WorkspaceId } from '@farthing/protocol/id';
import {
  EXPORT_FORMAT,
  type ExportEnd,
  type ExportLine,
  type ExportPassages,
  type ExportPictures,
  type ExportSpace,
} from '@farthing/protocol/schema/export';
import type { Item } from '@farthing/protocol/schema/items';
import { shownItem } from '@farthing/protocol/schema/shown';
import { VERSION } from '@farthing/protocol/version';
import type { TenantItems } from './tenant-items.ts';

/** Items that are held in memory at once. */
const PAGE = 100;
/** Bytes of a file in one line: a multiple of three, so that the pieces' base64 can be joined. */
const PIECE_BYTES = 48 * 1024;

export interface ExportOptions {
  /** Whether the uploaded files are in it. */
  readonly content: boolean;
  /** Whether the vectors of passages and pictures are in it. */
  readonly vectors: boolean;
  readonly exportedAt: string;
  /** RFC 3339: when the Items will expire, as of now. */
  readonly expiry: () => string | null;
  /** Ends the lines early, without the last one. */
  readonly hasEnded: () => boolean;
}

type ExportedItems = Pick<TenantItems, 'page' | 'item' | 'text' | 'vectors' | 'weightsOf' | 'open'>;

/**
 * Everything in a workspace, a line at a time, with one page of items and one piece of a file in memory. Uploads during the export may
 * be missing, and each key comes once, with the first searchable version that the export meets. An item removed before its line is left out; one removed after it keeps its file but loses passages not yet written.
 */
export async function* exportLines(
  items: ExportedItems,
  workspace: WorkspaceId,
  { content, vectors, exportedAt, expiry, hasEnded }: ExportOptions,
): AsyncGenerator<ExportLine> {
  const counts = { items: 0, passages: 0, bytes: 0, ...(vectors && { vectors: 0 }) };
  yield {
    type: 'workspace',
    format: EXPORT_FORMAT,
    version: VERSION,
    workspace,
    exported_at: exportedAt,
    content,
    ...(vectors && { vectors }),
  };
  const announced = new Set<string>();
  const keys = new Set<string>();
  for await (const { id, parent_item_id } of itemsOf(items, workspace)) {
    if (hasEnded()) return;
    // An archive holds the files inside it. An open file can be read to its end.
    const opened = content && parent_item_id === undefined ? await items.open(workspace, id) : undefined;
    try {
      const item = opened?.item ?? (await items.item(workspace, id));
      if (!item || (item.key !== undefined && keys.has(item.key))) continue;
      if (item.key !== undefined && item.state === 'searchable') keys.add(item.key);
      counts.items += 1;
      yield { type: 'item', item: shownItem(item, expiry()) };
      const segments = vectors
        ? linesWithVectors(items, workspace, id, announced)
        : passagesOf(items, workspace, id);
      for await (const line of segments) {
        if (hasEnded()) return;
        count(counts, line);
        yield line;
      }
      for await (const piece of opened ? piecesOf(opened.file) : []) {
        if (hasEnded()) return;
        counts.bytes += piece.byteLength;
        yield { type: 'content', item: id, base64: piece.toString('base64') };
      }
    } finally {
      await opened?.file.close();
    }
  }
  if (!hasEnded()) yield { type: 'end', ...counts } satisfies ExportEnd;
}

type SegmentLine = ExportSpace | ExportPassages | ExportPictures;

function count(counts: { passages: number; vectors?: number }, line: SegmentLine): void {
  if (line.type === 'space') return;
  if (line.type === 'passages') counts.passages += line.passages.length;
  if (counts.vectors === undefined) return;
  for (const { vectors = {} } of line.type === 'passages' ? line.passages : line.pictures)
    counts.vectors += Object.keys(vectors).length;
}

/** All items in order, including those inside others. Reads up to an empty page, since a replaced item moves to the end. */
async function* itemsOf(items: ExportedItems, workspace: WorkspaceId): AsyncGenerator<Item> {
  for (let place = 0; ; ) {
    const page = await items.page(workspace, place, PAGE);
    if (page.items.length === 0) return;
    yield* page.items;
    place = page.next;
  }
}

async function* passagesOf(
  items: ExportedItems,
  workspace: WorkspaceId,
  item: ItemId,
): AsyncGenerator<ExportPassages> {
  for (let from: number | null = 0; from !== null; ) {
    const text = await items.text(workspace, item, { from });
    if (!text || text.passages.length === 0) return;
    yield { type: 'passages', item, passages: text.passages };
    from = text.next;
  }
}

/** Passages and pictures with their vectors. @param announced spaces that already have their line */
async function* linesWithVectors(
  items: ExportedItems,
  workspace: WorkspaceId,
  item: ItemId,
  announced: Set<string>,
): AsyncGenerator<SegmentLine> {
  for (let from = 0; ; ) {
    const part = await items.vectors(workspace, item, from);
    if (!part) return;
    const { spaces, next, ...segments } = part;
    for (const space of spaces)
      if (!announced.has(space.name)) yield spaceLine(space, items.weightsOf(space));
    for (const { name } of spaces) announced.add(name);
    if ('passages' in segments) yield { type: 'passages', item, passages: segments.passages };
    else yield { type: 'pictures', item, pictures: segments.pictures };
    from = next;
  }
}

function spaceLine({ name, modelSha256, dimensions }: SpaceSpec, weights: string | undefined): ExportSpace {
  return {
    type: 'space',
    space: name,
    model_sha256: modelSha256,
    ...(weights !== undefined && { weights }),
    dimensions,
    element: 'float32le',
  };
}

/** All pieces share one buffer: each is valid until the next is requested. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  for (let filled = 0; ; ) {
    const { bytesRead } = await file.read(piece, filled, PIECE_BYTES - filled);
    filled += bytesRead;
    if (bytesRead > 0 && filled < PIECE_BYTES) continue;
    if (filled > 0) yield piece.subarray(0, filled);
    if (bytesRead === 0) return;
    filled = 0;
  }
}
