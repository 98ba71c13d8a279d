import { FarthingError } from '@farthing/protocol/error';
import { parseId } from '@farthing/protocol/id';
import { ItemTextSchema } from '@farthing/protocol/schema/item-text';
import { Type } from '@sinclair/typebox';
import type { TextPlace } from '../../ingest/items/text.ts';
import type { Services } from '../access/services.ts';
import { withWorkspace } from '../access/workspace-access.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';

const PASSAGE_MAX = 999_999_999;
const PAGE_MAX = 9_999_999;
const TIME_S_MAX = 999_999_999;

/** GET /agent/v1/workspaces/{id}/items/{item_id}/text: what the search sees of a file, from a page, a second or a passage on. */
export function itemTextRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/workspaces/{id}/items/{item_id}/text',
    operation: {
      operationId: 'workspaceItemText',
      summary: 'Text of an item of a workspace, from a place on: about 8,000 characters',
      tag: 'Workspaces',
      security: 'token',
      parameters: [
        {
          name: 'page',
          in: 'query',
          description: 'Begin at this page, from 1.',
          schema: Type.Integer({ minimum: 1, maximum: PAGE_MAX }),
        },
        {
          name: 'time_s',
          in: 'query',
          description: 'Begin at this second, for time-based media.',
          schema: Type.Number({ minimum: 0, maximum: TIME_S_MAX }),
        },
        {
          name: 'from',
          in: 'query',
          description: 'Begin at this passage: the former answer’s `next`. Default: the first.',
          schema: Type.Integer({ minimum: 0, maximum: PASSAGE_MAX }),
        },
      ],
      success: { status: 200, description: 'Passages in the order of the file.', schema: ItemTextSchema },
      errors: [400, 404, 429, 500, 503],
    },
    handle: (exchange, params) =>
      withWorkspace(services, exchange, params.id!, async ({ id }) => {
        const place = placeOf(exchange);
        const item = parseId('item', params.item_id!);
        const text = item && (await services.items.text(id, item, place));
        if (!text) throw new FarthingError('item_not_found', 'No item of this workspace has this id.');
        return { status: 200, headers: {}, body: { ...text } };
      }),
  };
}

/** @throws field_invalid */
function placeOf({ head }: Exchange): TextPlace {
  const query = new URLSearchParams(head.query);
  const [page, time, from] = ['page', 'time_s', 'from'].map((name) => query.get(name));
  if (page !== null) return { page: numberOf('page', page, 1, PAGE_MAX, true) };
  if (time !== null) return { timeS: numberOf('time_s', time, 0, TIME_S_MAX, false) };
  return { from: from === null ? 0 : numberOf('from', from, 0, PASSAGE_MAX, true) };
}

function numberOf(field: string, text: string | undefined, min: number, max: number, whole: boolean): number {
  const value = Number(text);
  if (
    /^\d{1,12}(\.\d{1,12})?$/.test(text ?? '') &&
    value >= min &&
    value <= max &&
    (!whole || Number.isInteger(value))
  )
    return value;
  const kind = whole ? 'a whole number' : 'a number';
  throw new FarthingError('field_invalid', `${field}: send ${kind} from ${min} to ${max}.`, {
    facts: { field },
  });
}
