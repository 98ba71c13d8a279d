import { FarthingError } from '@farthing/protocol/error';
import { parseId } from '@farthing/protocol/id';
import { ItemSchema } from '@farthing/protocol/schema/items';
import { shownItem } from '@farthing/protocol/schema/shown';
import { idInResource, type PaidRoute, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { itemDiscovery } from '../docs/discovery.ts';
import type { Route } from '../exchange/route.ts';

const TEMPLATE = '/agent/v1/items/{item_id}';

/** GET /agent/v1/items/{item_id}: metadata of one of the payer's items. Another payer's item does not exist. */
export function itemRoute(services: Services): Route {
  return {
    method: 'GET',
    path: TEMPLATE,
    operation: {
      operationId: 'item',
      summary: 'Metadata of an item',
      tag: 'Per request',
      security: 'payment',
      price: services.prices.shown.item,
      success: { status: 200, description: 'The item.', schema: ItemSchema },
      errors: [404, 500, 503],
    },
    handle: (exchange, params) => paid(services, exchange, paidItem(services, params.item_id!)),
  };
}

function paidItem({ prices, baseUrl, items, expiry }: Services, text: string): PaidRoute {
  return {
    kind: 'other',
    mode: 'pure',
    priceFixed: true,
    quote: () => ({
      amount: prices.item,
      resource: `${baseUrl()}/agent/v1/items/${idInResource(text)}`,
      description: 'Metadata of one of your items: name, type, size, pages, state, segments, expiry.',
      discovery: itemDiscovery,
    }),
    prepare: async (tenant) => ({
      identity: { kind: 'none' },
      warnings: [],
      run: async () => {
        const id = parseId('item', text);
        const item = id && (await items.item(tenant, id));
        if (!item)
          throw new FarthingError('item_not_found', 'No item of yours has this id, or it has expired.');
        const answer = () => ({ status: 200, headers: {}, body: { ...shownItem(item, expiry(tenant)) } });
        return { charged: true, answer };
      },
    }),
  };
}
