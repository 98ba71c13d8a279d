import { SearchRequestSchema } from '../../api/requests.ts';
import { type SearchAnswer, SearchResponseSchema } from '../../api/search.ts';
import { roundedMs, roundedStages } from '../../domain/clock.ts';
import type { PayerId } from '../../domain/id.ts';
import type { Quote, WorkOutcome } from '../../domain/payment.ts';
import type { SearchInput } from '../../domain/search.ts';
import type { SearchResult } from '../../search/search.ts';
import { type PaidRoute, type Prepared, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { withWorkspace } from '../access/workspace-access.ts';
import { searchDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { named } from '../exchange/json.ts';
import type { Operation, Route } from '../exchange/route.ts';
import { readSearch } from './search-body.ts';

const PATH = '/agent/v1/search';
const ERRORS = [400, 413, 429, 500, 503] as const;

/** The public part of a result. */
function body(
  {
    hits,
    answered,
    reason,
    corrected,
    latency_ms,
    timing,
    exact,
    bounds,
    not_searched,
    explanation,
  }: SearchResult,
  charged: boolean,
): Omit<SearchAnswer, 'hits'> & Pick<SearchResult, 'hits'> {
  return {
    hits,
    answered,
    ...(reason && { reason }),
    ...(corrected !== undefined && { corrected }),
    latency_ms: roundedMs(latency_ms),
    timing: roundedStages(timing),
    exact,
    bounds,
    ...(not_searched && { not_searched }),
    charged,
    ...(explanation && { explanation }),
  };
}

/** POST /agent/v1/search: paid by the call, in the payer's own index. */
export function searchRoute(services: Services): Route {
  const operation: Operation = {
    operationId: 'search',
    summary: 'Search the payer’s index',
    tag: 'Per request',
    security: 'payment',
    price: services.prices.shown.search,
    requestBody: { schema: SearchRequestSchema, required: true, example: searchDiscovery.bodyExample },
    success: {
      status: 200,
      description: 'The hits, best first.',
      schema: SearchResponseSchema,
      example: searchDiscovery.outputExample,
    },
    errors: ERRORS,
  };
  return {
    method: 'POST',
    path: PATH,
    operation,
    handle: (exchange) => paid(services, exchange, new PaidSearch(services, exchange)),
  };
}

interface PayerSearch {
  readonly tenant: PayerId;
  readonly input: SearchInput;
}

class PaidSearch implements PaidRoute<PayerSearch> {
  readonly kind = 'search';
  readonly mode = 'pure';
  readonly priceFixed = true;
  readonly #services: Services;
  readonly #exchange: Exchange;

  constructor(services: Services, exchange: Exchange) {
    this.#services = services;
    this.#exchange = exchange;
  }

  quote(): Quote {
    return {
      amount: this.#services.prices.search,
      resource: this.#services.baseUrl() + PATH,
      description:
        'Search your own files by meaning, by exact words, by picture, or for pictures by describing them.',
      discovery: searchDiscovery,
    };
  }

  async prepare(tenant: PayerId): Promise<Prepared<PayerSearch>> {
    const { search, limits } = this.#services;
    const { input, identity, warnings } = await readSearch(this.#exchange, limits.searchBodyBytesMax);
    search.admit(tenant, input);
    return { input: { tenant, input }, identity: { kind: 'json', value: identity }, warnings };
  }

  async run(
    { tenant, input }: PayerSearch,
    signal: AbortSignal,
    willCharge: () => void,
  ): Promise<WorkOutcome> {
    const { search, expiry } = this.#services;
    const options = { expiresAt: expiry(tenant), onCertain: willCharge };
    const result = await search.run(tenant, input, signal, options);
    if (!result.searchable) {
      const answer = { status: 200, headers: {}, body: body(result, false) };
      return { charged: false, answer };
    }
    return {
      charged: true,
      answer: ({ verify_ms, settle_ms }) => {
        const total_ms = performance.now() - this.#exchange.startedAt;
        const timed = { ...result, timing: { ...result.timing, verify_ms, settle_ms, total_ms } };
        return { status: 200, headers: {}, body: body(timed, true) };
      },
    };
  }
}

/** POST /agent/v1/workspaces/{id}/search: included in the price of the workspace's time. */
export function workspaceSearchRoute(services: Services): Route {
  return {
    method: 'POST',
    path: '/agent/v1/workspaces/{id}/search',
    operation: {
      operationId: 'searchWorkspace',
      summary: 'Search a workspace',
      tag: 'Workspaces',
      security: 'token',
      requestBody: { schema: SearchRequestSchema, required: true, example: searchDiscovery.bodyExample },
      success: { status: 200, description: 'The hits, best first.', schema: SearchResponseSchema },
      errors: ERRORS,
    },
    handle: (exchange, params) =>
      withWorkspace(
        services,
        exchange,
        params.id!,
        async (workspace) => {
          const { input, identity, warnings } = await readSearch(
            exchange,
            services.limits.searchBodyBytesMax,
          );
          const expiresAt = services.workspaces.views.expiryOf(workspace);
          const result = await services.search.run(workspace.id, input, exchange.signal, { expiresAt });
          const { explain: _, exact: __, ...asked } = identity;
          services.workspaces.activity.countSearch(workspace.id, {
            ...asked,
            hits: result.hits.length,
            latency_ms: result.latency_ms,
          });
          const timing = { ...result.timing, total_ms: performance.now() - exchange.startedAt };
          return {
            status: 200,
            headers: {},
            body: { ...body({ ...result, timing }, false), ...named(warnings) },
          };
        },
        'search',
      ),
  };
}
