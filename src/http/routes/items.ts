import { ItemSchema } from '../../api/items.ts';
import { shownItem } from '../../api/shown.ts';
import { FarthingError } from '../../domain/error.ts';
import { type PayerId, parseId } from '../../domain/id.ts';
import type { Quote, WorkOutcome } from '../../domain/payment.ts';
import { idInResource, type PaidRoute, type Prepared, paid } from '../access/paid.ts';
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
    handle: (exchange, params) => paid(services, exchange, new PaidItem(services, params.item_id!)),
  };
}

class PaidItem implements PaidRoute<string> {
  readonly kind = 'other';
  readonly mode = 'pure';
  readonly priceFixed = true;
  readonly #services: Services;
  readonly #id: string;

  constructor(services: Services, id: string) {
    this.#services = services;
    this.#id = id;
  }

  quote(): Quote {
    return {
      amount: this.#services.prices.item,
      resource: `${this.#services.baseUrl()}/agent/v1/items/${idInResource(this.#id)}`,
      description: 'Metadata of one of your items: name, type, size, pages, state, segments, expiry.',
      discovery: itemDiscovery,
    };
  }

  async prepare(tenant: PayerId): Promise<Prepared<string>> {
    return { input: tenant, identity: { kind: 'none' }, warnings: [] };
  }

  async run(tenant: PayerId): Promise<WorkOutcome> {
    const { items, expiry } = this.#services;
    const id = parseId('item', this.#id);
    const item = id && (await items.item(tenant, id));
    if (!item) throw new FarthingError('item_not_found', 'No item of yours has this id, or it has expired.');
    return {
      charged: true,
      answer: () => ({ status: 200, headers: {}, body: { ...shownItem(item, expiry(tenant)) } }),
    };
  }
}
