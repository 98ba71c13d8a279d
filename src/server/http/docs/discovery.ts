import type { Discovery } from '@farthing/payment/purchase';
import { fieldTypes } from '@farthing/protocol/schema/components';
import { IngestResponseSchema, ItemSchema } from '@farthing/protocol/schema/items';
import {
  ChannelRefundSchema,
  PrepaidBalanceSchema,
  PrepaidRefundRequestSchema,
  PrepaidRefundSchema,
  PrepaidSchema,
  PrepaySchema,
} from '@farthing/protocol/schema/prepaid';
import {
  SearchRequestSchema,
  WorkspaceCreateSchema,
  WorkspaceExtendSchema,
} from '@farthing/protocol/schema/requests';
import { SearchResponseSchema } from '@farthing/protocol/schema/search';
import { WorkspaceSchema } from '@farthing/protocol/schema/workspaces';
import type { TObject } from '@sinclair/typebox';

/**
 * Shapes and examples of the paid routes, for public catalogues. They are in each 402, in its header and its body: names, types and short
 * examples. `/openapi.json` has the rest.
 */

const item = {
  id: 'item_0f8fad5bd9cb469fa16570867728950e',
  name: 'handbook.pdf',
  media_type: 'application/pdf',
  bytes: 48213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  state: 'searchable',
  families: ['text_semantic', 'raw'],
  segments: 12,
  created_at: '2026-11-21T09:00:00.000Z',
  expires_at: '2026-11-22T09:00:00.000Z',
  pages: 4,
};
const { id, name, media_type, state } = item;
const shortItem = { id, name, media_type, state };

const workspace = {
  id: 'ws_7c9e6679f5a14f0e9a2b5c3d1e0f2a4b',
  state: 'active',
  created_at: '2026-11-21T09:00:00.000Z',
  expires_at: '2026-11-21T09:15:00.000Z',
  ttl_minutes_asked: null,
  ttl_minutes: 15,
  ttl_seconds_left: 900,
  price_usd: '0.0175',
  spend_usd: '0.0175',
  spend_limit_usd: null,
  reserve: { minutes: 0, usd: '0' },
};
const shortWorkspace = { id: workspace.id, expires_at: workspace.expires_at, price_usd: workspace.price_usd };

/** Whole answers, for `/openapi.json` and the guide. */
export const ANSWERS = {
  search: {
    hits: [
      {
        item,
        confidence: 0.91,
        likely: true,
        family: 'text_semantic',
        locator: { page: 3 },
        score: 2.3136,
        snippet: 'Rinse the filter …',
        segments: 1,
      },
    ],
    answered: true,
    latency_ms: 2.4,
    timing: { verify_ms: 0.4, encode_ms: 1.6, scan_ms: 0.2, fuse_ms: 0.1, settle_ms: 0.5, total_ms: 3.1 },
    exact: true,
    bounds: { text_semantic: { exact: true }, raw: { exact: true } },
    charged: true,
  },
  workspace: { ...workspace, capability_token: 'fws_…', charged: true },
} as const;

/** A path that takes a JSON object. */
const posted = (routeTemplate: string, body: TObject, bodyExample: object, answer: TObject) =>
  ({
    method: 'POST',
    routeTemplate,
    bodyType: 'json',
    bodyFields: fieldTypes(body),
    bodyExample,
    outputSchema: fieldTypes(answer),
  }) as const;

const OF_ITEM = {
  pathParams: {
    item_id: { type: 'string', description: 'Id of one of your items, from the upload or a hit.' },
  },
  pathExample: { item_id: item.id },
};

export const searchDiscovery: Discovery = {
  ...posted(
    '/agent/v1/search',
    SearchRequestSchema,
    { query: 'how is the filter cleaned?', k: 5 },
    SearchResponseSchema,
  ),
  outputExample: {
    hits: [
      {
        item: { id, name },
        confidence: 0.91,
        locator: { page: 3 },
        snippet: 'Rinse the filter …',
      },
    ],
    answered: true,
    charged: true,
  },
};

export const ingestDiscovery: Discovery = {
  method: 'POST',
  routeTemplate: '/agent/v1/ingest',
  bodyType: 'form-data',
  bodyFields: {
    file: {
      type: 'string',
      contentMediaType: 'application/octet-stream',
      description: 'The file, with its name.',
    },
    key: { type: 'string', description: 'Your own name for it: an item with the same key is replaced.' },
    metadata: { type: 'string', description: 'Flat JSON, for filters of searches.' },
  },
  bodyExample: { file: 'handbook.pdf' },
  outputSchema: fieldTypes(IngestResponseSchema),
  outputExample: {
    item: { id, name, state: 'pending' },
    job_id: 'job_0f8fad5bd9cb469fa16570867728950e',
    charged: true,
  },
};

export const itemDiscovery: Discovery = {
  method: 'GET',
  routeTemplate: '/agent/v1/items/:item_id',
  ...OF_ITEM,
  queryParams: {},
  outputSchema: fieldTypes(ItemSchema),
  outputExample: shortItem,
};

export const previewDiscovery: Discovery = {
  method: 'GET',
  routeTemplate: '/agent/v1/items/:item_id/preview',
  ...OF_ITEM,
  queryParams: {
    page: { type: 'integer', minimum: 1, description: 'Page of a paged document. Default: the first.' },
    time_s: { type: 'number', minimum: 0, description: 'Seconds from the start, for films and recordings.' },
  },
  // Catalogues take objects only: `body` is the whole answer.
  outputSchema: { body: { type: 'string', contentMediaType: 'image/webp' } },
  outputExample: { body: 'the bytes of a WebP picture' },
};

export const workspaceCreateDiscovery: Discovery = {
  ...posted(
    '/agent/v1/workspaces',
    WorkspaceCreateSchema,
    { ttl_minutes: 15, spend_limit_usd: 0.05 },
    WorkspaceSchema,
  ),
  outputExample: { ...shortWorkspace, capability_token: 'fws_…', charged: true },
};

export const workspaceExtendDiscovery: Discovery = {
  ...posted('/agent/v1/workspaces/:id/extend', WorkspaceExtendSchema, { ttl_minutes: 15 }, WorkspaceSchema),
  pathParams: { id: { type: 'string', description: 'Id of the workspace.' } },
  pathExample: { id: workspace.id },
  outputExample: { ...shortWorkspace, price_usd: '0.0075', charged: true },
};

export const prepayDiscovery: Discovery = {
  ...posted('/agent/v1/prepaid', PrepaySchema, { usd: 1 }, PrepaidSchema),
  outputExample: { added_usd: '1', prepaid_usd: '1.24', charged: true },
};

export const balanceDiscovery: Discovery = {
  method: 'GET',
  routeTemplate: '/agent/v1/prepaid',
  queryParams: {},
  outputSchema: fieldTypes(PrepaidBalanceSchema),
  outputExample: { prepaid_usd: '1.24', charged: false },
};

export const channelRefundDiscovery: Discovery = {
  method: 'GET',
  routeTemplate: '/agent/v1/channel/refund',
  queryParams: {},
  outputSchema: fieldTypes(ChannelRefundSchema),
  outputExample: { refunded_usd: '0.4', charged: false },
};

export const refundDiscovery: Discovery = {
  ...posted('/agent/v1/prepaid/refund', PrepaidRefundRequestSchema, { usd: 1 }, PrepaidRefundSchema),
  outputExample: {
    id: 'pre_0f8fad5bd9cb469fa16570867728950e',
    refund_usd: '1',
    prepaid_usd: '0.24',
    charged: true,
  },
};
