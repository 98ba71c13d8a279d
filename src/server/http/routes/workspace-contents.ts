import type { FileHandle } from 'node:fs/promises';
import { FarthingError } from '@farthing/protocol/error';
import { type ItemId, parseId, type WorkspaceId } from '@farthing/protocol/id';
import {
  type ItemDeletedAnswer,
  ItemDeletedSchema,
  ItemListSchema,
  ItemSchema,
  type ItemsAnswer,
} from '@farthing/protocol/schema/items';
import { shownItem } from '@farthing/protocol/schema/shown';
import { HistorySchema } from '@farthing/protocol/schema/workspaces';
import { Type } from '@sinclair/typebox';
import type { Services } from '../access/services.ts';
import { found, workspaceRoute } from '../access/workspace-access.ts';
import { attachmentHeaders } from '../exchange/attachment.ts';
import { QueryNumber } from '../exchange/query-number.ts';
import type { Operation, Route } from '../exchange/route.ts';
import { isKnown } from '../pages/asset.ts';
import { rangeOf } from '../pages/range.ts';

const PAGE_DEFAULT = 50;
/** Buffer of a file that is sent. */
const PIECE_BYTES = 64 * 1024;

const LIMIT = new QueryNumber('limit', `Entries of a page. Default: ${PAGE_DEFAULT}.`, { min: 1, max: 200 });

/** Contents and history of a workspace. Free, with its token. */
export function workspaceContentRoutes(services: Services): Route[] {
  return [
    historyRoute(services),
    itemsRoute(services),
    itemRoute(services),
    contentRoute(services),
    deleteItemRoute(services),
  ];
}

/** GET /agent/v1/workspaces/{id}/history: past searches, newest first. */
function historyRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/history'],
    operation('workspaceHistory', 'Past searches, newest first', HistorySchema, [
      LIMIT.parameter,
      { name: 'before', in: 'query', description: 'The former page’s `next`.', schema: Type.String() },
    ]),
    async ({ id }, exchange) => {
      const query = new URLSearchParams(exchange.head.query);
      const before = query.get('before') ?? undefined;
      const page = await services.workspaces.activity.history(id, {
        before,
        limit: LIMIT.of(exchange) ?? PAGE_DEFAULT,
      });
      return found(page);
    },
  );
}

/** GET /agent/v1/workspaces/{id}/items: in order of upload. */
function itemsRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/items'],
    operation('workspaceItems', 'Items of a workspace, in order of upload', ItemListSchema, [
      LIMIT.parameter,
      {
        name: 'after',
        in: 'query',
        description: 'The former page’s `next`.',
        schema: Type.String({ minLength: 1 }),
      },
      {
        name: 'parent',
        in: 'query',
        description: 'Id of an archive or mail: the files that came in it.',
        schema: Type.String(),
      },
    ]),
    async ({ id }, exchange) => {
      const limit = LIMIT.of(exchange) ?? PAGE_DEFAULT;
      const query = new URLSearchParams(exchange.head.query);
      const after = cursorOf(query);
      const parent = query.get('parent');
      const parentId = parent === null ? undefined : parseId('item', parent);
      if (parent !== null && !parentId) return found({ items: [], next: null } satisfies ItemsAnswer);
      // One more shows whether there is a next page.
      const items = await services.items.list(id, { after, limit: limit + 1, parent: parentId });
      // Checked after the page was read: a list after a removed Item would silently start from the beginning. Files in an Item
      // are numbered, so a removed one is no problem.
      if (after && !parentId && !(await services.items.item(id, after))) throw unknownCursor();
      const page = items.slice(0, limit);
      const next = items.length > limit ? page.at(-1)!.id : null;
      const shown = page.map((item) => shownItem(item, services.expiry(id)));
      return found({ items: shown, next } satisfies ItemsAnswer);
    },
  );
}

/** GET /agent/v1/workspaces/{id}/items/{item_id} */
function itemRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/items/{item_id}'],
    operation('workspaceItem', 'Metadata of an item of a workspace', ItemSchema, [], [404]),
    async ({ id }, _exchange, params) => {
      const itemId = parseId('item', params.item_id!);
      const item = itemId && (await services.items.item(id, itemId));
      if (!item) throw unknownItem();
      return found(shownItem(item, services.expiry(id)));
    },
  );
}

/** GET /agent/v1/workspaces/{id}/items/{item_id}/content: the file as it was sent, never executable in a browser. */
function contentRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/items/{item_id}/content'],
    {
      ...operation('workspaceItemContent', 'The file of an item, as it was sent', ItemSchema, [], [404]),
      success: {
        status: 200,
        description: 'The file, as an attachment of its media type.',
        file: true,
        ranged: true,
      },
    },
    async ({ id }, exchange, params) => {
      const itemId = parseId('item', params.item_id!);
      const giveBack = services.tenantLimits.stream(id);
      const ended = (file: FileHandle) => file.close().finally(giveBack);
      const { item, file } = await opened(services, id, itemId).catch((error: unknown) => {
        giveBack();
        throw error;
      });
      const etag = `"${item.sha256}"`;
      const known = { ETag: etag, 'Accept-Ranges': 'bytes', 'Cache-Control': 'private, no-store' };
      if (isKnown(exchange.header('if-none-match') ?? '', etag)) {
        await ended(file);
        return { status: 304, headers: known, raw: '' };
      }
      const { bytes } = item;
      const range = rangeOf(exchange.header('range'), exchange.header('if-range'), { bytes, etag });
      const { from, to } = range ?? { from: 0, to: bytes };
      const place = range && { 'Content-Range': `bytes ${from}-${to - 1}/${bytes}` };
      return {
        status: range ? 206 : 200,
        headers: { ...attachmentHeaders(item), ...known, ...place },
        content: { bytes: to - from, pieces: piecesOf(file, from, to), close: () => ended(file) },
      };
    },
  );
}

/** In one memory: each piece ends the former. A stream of Node's would read ahead, and costs more than a small file. */
async function* piecesOf(file: FileHandle, from: number, to: number): AsyncGenerator<Uint8Array> {
  const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, to - from));
  for (let at = from; at < to; ) {
    const { bytesRead } = await file.read(piece, 0, Math.min(piece.byteLength, to - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

async function opened({ items }: Services, workspace: WorkspaceId, item: ItemId | undefined) {
  const found = item && (await items.open(workspace, item));
  if (!found) throw unknownItem();
  return found;
}

/** DELETE /agent/v1/workspaces/{id}/items/{item_id}: removes it from every family at once, with its file and its job. */
function deleteItemRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['DELETE', '/items/{item_id}'],
    {
      ...operation(
        'deleteWorkspaceItem',
        'Remove an item: its segments from every family at once, its file, and its running job',
        ItemDeletedSchema,
        [],
        [404, 409],
      ),
      success: {
        status: 200,
        description:
          'It is gone from every answer, and its file is unlinked. Traces may stay in the index’s own file until they are overwritten or the workspace ends; a receipt attests the end of a whole workspace alone.',
        schema: ItemDeletedSchema,
      },
    },
    async ({ id }, _exchange, params) => {
      const itemId = parseId('item', params.item_id!);
      if (!itemId || !(await services.items.remove(id, itemId))) throw unknownItem();
      return found({ id: itemId, state: 'deleted' } satisfies ItemDeletedAnswer);
    },
  );
}

/** The last Item of the previous page. @throws field_invalid */
function cursorOf(query: URLSearchParams): ItemId | undefined {
  const text = query.get('after');
  if (text === null) return undefined;
  const after = parseId('item', text);
  if (!after) throw unknownCursor();
  return after;
}

function unknownCursor(): FarthingError {
  return new FarthingError(
    'field_invalid',
    'after: send the `next` of the former page. If its item was removed, begin again.',
    { facts: { field: 'after' } },
  );
}

function unknownItem(): FarthingError {
  return new FarthingError('item_not_found', 'No item of this workspace has this id, or its file is gone.');
}

function operation(
  operationId: string,
  summary: string,
  schema: NonNullable<Operation['success']['schema']>,
  parameters: NonNullable<Operation['parameters']>,
  errors: Operation['errors'] = [],
): Omit<Operation, 'tag' | 'security'> {
  return {
    operationId,
    summary,
    parameters,
    success: { status: 200, description: summary, schema },
    errors: [400, 429, 500, 503, ...errors],
  };
}
