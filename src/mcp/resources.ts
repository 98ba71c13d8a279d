import type { Locator, PreviewPart } from '@farthing/client';
import { brief } from '@farthing/protocol/brief';
import type { ReadResourceResult, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { type ItemSource, PaymentNeeded } from './backend.ts';

/** Items and their thumbnails, as the links of a search's results name them. */

export const THUMBNAIL_TYPE = 'image/webp';

const URI_SHOWN_MAX = 200;
const PATH = /^\/agent\/v1\/(?:workspaces\/(ws_[\w-]{1,64})\/)?items\/(item_[\w-]{1,64})(\/preview)?$/;

/** Addresses that can be read. Items are not listed: the results of a search link to them. */
export function resourceTemplates(baseUrl: string): ResourceTemplate[] {
  const items = `${baseUrl}/agent/v1/workspaces/{workspace}/items/{item}`;
  return [
    { name: 'item', title: 'Metadata of an item', uriTemplate: items, mimeType: 'application/json' },
    {
      name: 'thumbnail',
      title: 'A small picture of an item, of one of its pages or of a moment',
      uriTemplate: `${items}/preview{?page,time_s}`,
      mimeType: THUMBNAIL_TYPE,
    },
  ];
}

/** Address of the thumbnail of a hit's page or moment. */
export function thumbnailAddress(
  itemAddress: string,
  { page, time_s }: Pick<Locator, 'page' | 'time_s'>,
): string {
  const query = new URLSearchParams();
  if (page !== undefined) query.set('page', String(page));
  if (time_s !== undefined) query.set('time_s', String(time_s));
  return `${itemAddress}/preview${query.size === 0 ? '' : `?${query}`}`;
}

/** @throws McpError for an address of another server, or one that must be paid for */
export async function readResource(source: ItemSource, uri: string): Promise<ReadResourceResult> {
  const url = URL.parse(uri);
  const shown = brief(uri, URI_SHOWN_MAX);
  // Relative to the public address, which may have a path.
  const path = uri.startsWith(source.baseUrl) ? uri.slice(source.baseUrl.length).split('?', 1)[0]! : '';
  const [, workspace, item, isPreview] = PATH.exec(path) ?? [];
  if (!url || item === undefined)
    throw new McpError(ErrorCode.InvalidParams, `There is no resource ${shown}.`);
  try {
    if (!isPreview) {
      const text = JSON.stringify(await source.item(item, { workspace }));
      return { contents: [{ uri, mimeType: 'application/json', text }] };
    }
    const blob = await base64Of(await source.preview(item, partOf(url.searchParams), { workspace }));
    return { contents: [{ uri, mimeType: THUMBNAIL_TYPE, blob }] };
  } catch (error) {
    const why =
      error instanceof PaymentNeeded
        ? 'it is paid for: GET it over HTTP, or use a workspace'
        : (error as Error).message;
    throw new McpError(ErrorCode.InvalidParams, `${shown} cannot be read: ${why}.`);
  }
}

function partOf(query: URLSearchParams): PreviewPart {
  const [page, time] = [query.get('page'), query.get('time_s')];
  return { ...(page !== null && { page: Number(page) }), ...(time !== null && { time_s: Number(time) }) };
}

export async function base64Of(blob: Blob): Promise<string> {
  return Buffer.from(await blob.arrayBuffer()).toString('base64');
}
