import { ItemSchema } from '../../api/items.ts';
import { FarthingError } from '../../domain/error.ts';
import { parseId } from '../../domain/id.ts';
import { formatUsd } from '../../domain/money.ts';
import { itemDiscovery } from '../docs/discovery.ts';
import { idInResource, paid } from '../exchange/paid.ts';
import type { Route } from '../exchange/reply.ts';
import type { Services } from '../services.ts';
import { shownItem } from '../shown-item.ts';

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
      price: { usd: formatUsd(services.prices.item) },
      success: { status: 200, description: 'The item.', schema: ItemSchema },
      errors: [404, 500, 503],
    },
    handle: (exchange, params) => {
      const quote = {
        amount: services.prices.item,
        resource: `${services.baseUrl()}/agent/v1/items/${idInResource(params.item_id!)}`,
        description: 'Metadata of one of your items: name, type, size, pages, state, segments, expiry.',
        discovery: itemDiscovery,
      };
      return paid(services, exchange, { quote, priceFixed: true }, async (tenant) => ({
        identity: { kind: 'none' },
        mode: 'pure',
        run: async () => {
          const id = parseId('item', params.item_id!);
          const item = id && (await services.items.item(tenant, id));
          if (!item)
            throw new FarthingError('item_not_found', 'No item of yours has this id, or it has expired.');
          return {
            charged: true,
            answer: () => ({
              status: 200,
              headers: {},
              body: { ...shownItem(item, services.expiry(tenant)) },
            }),
          };
        },
      }));
    },
  };
}
