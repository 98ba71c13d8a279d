import type { FileHandle } from 'node:fs/promises';
import { EXPORT_FORMAT, type ExportEnd, type ExportLine } from '../api/export.ts';
import type { Item } from '../api/items.ts';
import { FarthingError } from '../domain/error.ts';
import type { ItemId, WorkspaceId } from '../domain/id.ts';
import { VERSION } from '../domain/version.ts';
import type { TenantItems } from './tenant-items.ts';

/** Items that are held in memory at once. */
const PAGE = 100;
/** Of a file in one line: a multiple of three, so that the pieces' base64 may be joined. */
const PIECE_BYTES = 48 * 1024;

export interface ExportOptions {
  /** Whether the uploaded files are in it. */
  readonly content: boolean;
  readonly exportedAt: string;
  /** Ends the lines early, without the last one. */
  readonly hasEnded: () => boolean;
}

/**
 * Everything in a workspace, a line at a time: one page of items and one piece of a file are in memory. What is added meanwhile may be
 * in it; what is removed before its line is not. @throws item_in_progress when the items around its place are removed meanwhile
 */
export async function* exportLines(
  items: Pick<TenantItems, 'item' | 'list' | 'text' | 'open'>,
  workspace: WorkspaceId,
  { content, exportedAt, hasEnded }: ExportOptions,
): AsyncGenerator<ExportLine> {
  const counts = { items: 0, passages: 0, bytes: 0 };
  yield {
    type: 'workspace',
    format: EXPORT_FORMAT,
    version: VERSION,
    workspace,
    exported_at: exportedAt,
    content,
  };
  for await (const item of itemsOf(items, workspace)) {
    if (hasEnded()) return;
    counts.items += 1;
    yield { type: 'item', item };
    for await (const passages of passagesOf(items, workspace, item.id)) {
      if (hasEnded()) return;
      counts.passages += passages.length;
      yield { type: 'passages', item: item.id, passages };
    }
    // An archive holds the files inside it.
    if (!content || item.parent_item_id !== undefined) continue;
    const opened = await items.open(workspace, item.id);
    if (!opened) continue;
    for await (const piece of piecesOf(opened.file)) {
      if (hasEnded()) return;
      counts.bytes += piece.byteLength;
      yield { type: 'content', item: item.id, base64: piece.toString('base64') };
    }
  }
  if (!hasEnded()) yield { type: 'end', ...counts } satisfies ExportEnd;
}

/** All items in their order, those inside others among them. */
async function* itemsOf(
  items: Pick<TenantItems, 'item' | 'list'>,
  workspace: WorkspaceId,
): AsyncGenerator<Item> {
  let page: Item[] = [];
  do {
    const seen = new Set(page.map(({ id }) => id));
    const after = await lastLeft(items, workspace, page);
    page = (await items.list(workspace, { after, limit: PAGE + seen.size })).filter(
      ({ id }) => !seen.has(id),
    );
    yield* page;
  } while (page.length >= PAGE);
}

/** The last item of a page that still exists: a list after a removed one would begin again. */
async function lastLeft(
  items: Pick<TenantItems, 'item'>,
  workspace: WorkspaceId,
  page: readonly Item[],
): Promise<ItemId | undefined> {
  for (const { id } of page.toReversed()) if (await items.item(workspace, id)) return id;
  if (page.length === 0) return undefined;
  throw new FarthingError('item_in_progress', 'Items were removed while they were exported. Begin again.');
}

async function* passagesOf(items: Pick<TenantItems, 'text'>, workspace: WorkspaceId, item: ItemId) {
  for (let from: number | null = 0; from !== null; ) {
    const text = await items.text(workspace, item, { from });
    if (!text || text.passages.length === 0) return;
    yield text.passages;
    from = text.next;
  }
}

/** Closes the file at its end. A piece is done with when the next is asked for. */
async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  try {
    for (let filled = 0; ; ) {
      const { bytesRead } = await file.read(piece, filled, PIECE_BYTES - filled);
      filled += bytesRead;
      if (bytesRead > 0 && filled < PIECE_BYTES) continue;
      if (filled > 0) yield piece.subarray(0, filled);
      if (bytesRead === 0) return;
      filled = 0;
    }
  } finally {
    await file.close();
  }
}
