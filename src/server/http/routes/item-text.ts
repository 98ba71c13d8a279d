import { FarthingError } from '@farthing/protocol/error';
import { parseId } from '@farthing/protocol/id';
import { ItemTextSchema } from '@farthing/protocol/schema/item-text';
import type { TextPlace } from '../../ingest/items/text.ts';
import type { Services } from '../access/services.ts';
import { found, workspaceRoute } from '../access/workspace-access.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { QueryNumber } from '../exchange/query-number.ts';
import type { Route } from '../exchange/route.ts';

const PAGE = new QueryNumber('page', 'Begin at this page, from 1.', { min: 1, max: 9_999_999 });
const TIME = new QueryNumber('time_s', 'Begin at this second, for time-based media.', { isWhole: false });
const FROM = new QueryNumber(
  'from',
  'Begin at this passage: the former answer’s `next`. Default: the first.',
);

/** GET /agent/v1/workspaces/{id}/items/{item_id}/text: what the search sees of a file, from a page, a second or a passage on. */
export function itemTextRoute(services: Services): Route {
  return workspaceRoute(
    services,
    ['GET', '/items/{item_id}/text'],
    {
      operationId: 'workspaceItemText',
      summary: 'Text of an item of a workspace, from a place on: about 8,000 characters',
      parameters: [PAGE.parameter, TIME.parameter, FROM.parameter],
      success: { status: 200, description: 'Passages in the order of the file.', schema: ItemTextSchema },
      errors: [400, 404, 429, 500, 503],
    },
    async ({ id }, exchange, { item_id }) => {
      const place = placeOf(exchange);
      const item = parseId('item', item_id!);
      const text = item && (await services.items.text(id, item, place));
      if (!text) throw new FarthingError('item_not_found', 'No item of this workspace has this id.');
      return found(text);
    },
  );
}

/** @throws field_invalid */
function placeOf(exchange: Exchange): TextPlace {
  const page = PAGE.of(exchange);
  if (page !== undefined) return { page };
  const timeS = TIME.of(exchange);
  return timeS === undefined ? { from: FROM.of(exchange) ?? 0 } : { timeS };
}
