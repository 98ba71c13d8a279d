import { FarthingError } from '@farthing/protocol/error';
import { PREVIEW_TYPE, type PreviewOf } from '@farthing/protocol/file/preview';
import { parseId, type TenantId } from '@farthing/protocol/id';
import { Type } from '@sinclair/typebox';
import { idInResource, type PaidRoute, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { withWorkspace } from '../access/workspace-access.ts';
import { previewDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
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

const PAGE_MAX = 9_999_999;
const TIME_S_MAX = 999_999_999;

const SHARED: Pick<Operation, 'parameters' | 'success' | 'errors'> = {
  parameters: [
    {
      name: 'page',
      in: 'query',
      description: 'Page of a paged document, from 1. Default: the first.',
      schema: Type.Integer({ minimum: 1, maximum: PAGE_MAX }),
    },
    {
      name: 'time_s',
      in: 'query',
      description: 'Seconds from the start, for time-based media.',
      schema: Type.Number({ minimum: 0, maximum: TIME_S_MAX }),
    },
  ],
  success: {
    status: 200,
    description: 'A small picture of the item or of one of its pages.',
    file: PREVIEW_TYPE,
  },
  errors: [400, 404, 422, 429, 500, 503],
};

/** GET /agent/v1/workspaces/{id}/items/{item_id}/preview: for its token, free. */
export function workspacePreviewRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/workspaces/{id}/items/{item_id}/preview',
    operation: {
      operationId: 'workspaceItemPreview',
      summary: 'A small picture of an item of a workspace, or of one of its pages (WebP)',
      tag: 'Workspaces',
      security: 'token',
      ...SHARED,
    },
    handle: (exchange, params) =>
      withWorkspace(services, exchange, params.id!, async ({ id }) => {
        const webp = await preview(services, exchange, id, params.item_id!);
        return { status: 200, headers: HEADERS, raw: webp };
      }),
  };
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
  const part = readQuery(exchange);
  const item = parseId('item', itemId);
  const webp = item && (await previews.of(tenant, item, part));
  if (webp) return webp;
  throw new FarthingError('item_not_found', 'No item of yours has this id, or its file is gone.');
}

/** @throws field_invalid */
function readQuery({ head }: Exchange): PreviewOf {
  const query = new URLSearchParams(head.query);
  const page = query.get('page') ?? undefined;
  const time = query.get('time_s') ?? undefined;
  if (page !== undefined && !isNumber(page, 1, PAGE_MAX, Number.isInteger))
    throw invalid('page', `a whole number from 1 to ${PAGE_MAX}`);
  if (time !== undefined && !isNumber(time, 0, TIME_S_MAX))
    throw invalid('time_s', `seconds from the start, at most ${TIME_S_MAX}`);
  return {
    ...(page !== undefined && { page: Number(page) }),
    ...(time !== undefined && { timeS: Number(time) }),
  };
}

/** Whether a query's text is a number in the bounds, as JSON writes numbers. */
function isNumber(text: string, min: number, max: number, suits = Number.isFinite): boolean {
  const value = Number(text);
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text) && suits(value) && value >= min && value <= max;
}

function invalid(field: string, what: string): FarthingError {
  return new FarthingError('field_invalid', `${field}: send ${what}.`, { facts: { field } });
}
