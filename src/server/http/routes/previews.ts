import { FarthingError } from '@farthing/protocol/error';
import { PREVIEW_TYPE } from '@farthing/protocol/file/preview';
import { parseId, type TenantId } from '@farthing/protocol/id';
import { idInResource, type PaidRoute, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { workspaceRoute } from '../access/workspace-access.ts';
import { previewDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { QueryNumber } from '../exchange/query-number.ts';
import type { BytesReply, JsonReply, Reply } from '../exchange/reply.ts';
import type { Operation, Route } from '../exchange/route.ts';

/** Untrusted content, decoded and encoded again by a confined process: it may be shown as a picture only. */
const HEADERS = {
  'Content-Type': PREVIEW_TYPE,
  'Content-Disposition': 'inline',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cache-Control': 'private, no-store',
};

const PAGE = new QueryNumber('page', 'Page of a paged document, from 1. Default: the first.', {
  min: 1,
  max: 9_999_999,
});
const TIME = new QueryNumber('time_s', 'Seconds from the start, for time-based media.', { isWhole: false });

const SHARED: Pick<Operation, 'parameters' | 'success' | 'errors'> = {
  parameters: [PAGE.parameter, TIME.parameter],
  success: {
    status: 200,
    description: 'A small picture of the item or of one of its pages.',
    file: PREVIEW_TYPE,
  },
  errors: [400, 404, 422, 429, 500, 503],
};

/** GET /agent/v1/workspaces/{id}/items/{item_id}/preview: for its token, free. */
export function workspacePreviewRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/items/{item_id}/preview'],
    {
      operationId: 'workspaceItemPreview',
      summary: 'A small picture of an item of a workspace, or of one of its pages (WebP)',
      ...SHARED,
    },
    async ({ id }, exchange, { item_id }) => {
      const webp = await preview(services, exchange, id, item_id!);
      return { status: 200, headers: HEADERS, raw: webp };
    },
  );
}

/** GET /agent/v1/items/{item_id}/preview: for one of the payer's items, at the price of its metadata. */
export function payerPreviewRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/items/{item_id}/preview',
    operation: {
      operationId: 'itemPreview',
      summary: 'A small picture of an item, or of one of its pages (WebP)',
      tag: 'Per request',
      security: 'payment',
      price: services.prices.shown.item,
      ...SHARED,
    },
    handle: async (exchange, params) =>
      unpacked(await paid(services, exchange, paidPreview(services, exchange, params.item_id!))),
  };
}

function paidPreview(services: Services, exchange: Exchange, item: string): PaidRoute {
  return {
    kind: 'other',
    mode: 'pure',
    priceFixed: true,
    quote: () => ({
      amount: services.prices.item,
      resource: `${services.baseUrl()}/agent/v1/items/${idInResource(item)}/preview`,
      description: 'A small picture of one of your items, or of one of its pages.',
      discovery: previewDiscovery,
    }),
    prepare: async (tenant) => ({
      identity: { kind: 'none' },
      warnings: [],
      run: async () => {
        const webp = await preview(services, exchange, tenant, item);
        const webp_b64 = Buffer.from(webp).toString('base64');
        return { charged: true, answer: () => ({ status: 200, headers: HEADERS, body: { webp_b64 } }) };
      },
    }),
  };
}

/** The gate stores answers as JSON; on the wire a preview is raw bytes. */
function unpacked(answer: JsonReply): Reply {
  const { status, headers, body, delivered } = answer;
  if (typeof body.webp_b64 !== 'string') return answer;
  const reply: BytesReply = { status, headers, raw: Buffer.from(body.webp_b64, 'base64') };
  return delivered ? { ...reply, delivered } : reply;
}

async function preview(
  { previews }: Services,
  exchange: Exchange,
  tenant: TenantId,
  itemId: string,
): Promise<Uint8Array> {
  const part = { page: PAGE.of(exchange), timeS: TIME.of(exchange) };
  const item = parseId('item', itemId);
  const webp = item && (await previews.of(tenant, item, part));
  if (webp) return webp;
  throw new FarthingError('item_not_found', 'No item of yours has this id, or its file is gone.');
}
