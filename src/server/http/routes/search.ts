import type { Search, SearchOptions, SearchResult } from '@farthing/engine/search/search';
import { roundedMs, roundedStages } from '@farthing/protocol/clock';
import { errorCode } from '@farthing/protocol/error';
import type { TenantId } from '@farthing/protocol/id';
import { SearchRequestSchema } from '@farthing/protocol/schema/requests';
import { type SearchAnswer, SearchResponseSchema } from '@farthing/protocol/schema/search';
import { QUERIES_MAX } from '@farthing/protocol/search';
import type { CountedSearch } from '../../workspace/activity/activity.ts';
import { type PaidRoute, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { found, type SearchServices, workspaceRoute } from '../access/workspace-access.ts';
import { ANSWERS, searchDiscovery } from '../docs/discovery.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { named } from '../exchange/json.ts';
import type { Operation, Route } from '../exchange/route.ts';
import { type ParsedSearch, questionsIn, readSearch } from './search-body.ts';
import { type ShownResult, severalResult } from './several-answers.ts';

const PATH = '/agent/v1/search';
const ERRORS = [400, 413, 429, 500, 503] as const;

/** The public part of a result. */
export function body(
  {
    hits,
    answered,
    reason,
    corrected,
    relaxed,
    latency_ms,
    timing,
    exact,
    bounds,
    truncated,
    not_searched,
    answers,
    explanation,
  }: ShownResult,
  charged: boolean,
): Omit<SearchAnswer, 'hits' | 'answers'> & Pick<ShownResult, 'hits' | 'answers'> {
  return {
    hits,
    answered,
    ...(reason && { reason }),
    ...(corrected !== undefined && { corrected }),
    ...(relaxed && { relaxed }),
    latency_ms: roundedMs(latency_ms),
    timing: roundedStages(timing),
    exact,
    bounds,
    ...(truncated !== undefined && { truncated }),
    ...(not_searched && { not_searched }),
    ...(answers && { answers }),
    charged,
    ...(explanation && { explanation }),
  };
}

/**
 * The questions of one call. Those that are refused because their siblings wait before them are asked again when one of these is
 * answered: only a call of which nothing is being answered is refused.
 */
class Siblings {
  #running = 0;
  #waiting: (() => void)[] = [];

  async ask<T>(question: () => Promise<T>): Promise<T> {
    for (;;) {
      this.#running += 1;
      try {
        const answer = await question();
        for (const again of this.#waiting.splice(0)) again();
        return answer;
      } catch (error) {
        if (errorCode(error) !== 'overloaded' || this.#running === 1) throw error;
      } finally {
        this.#running -= 1;
      }
      await new Promise<void>((again) => void this.#waiting.push(again));
    }
  }
}

/** The answer to one question, or to several at the same time: the encoder takes them as one batch. */
async function answerOf(
  search: Search,
  tenant: TenantId,
  { inputs, several }: Pick<ParsedSearch, 'inputs' | 'several'>,
  signal: AbortSignal,
  { onCertain, ...options }: SearchOptions = {},
): Promise<{ readonly result: ShownResult; readonly results: readonly SearchResult[] }> {
  const started = performance.now();
  const siblings = new Siblings();
  const uncertain = new Set(inputs);
  const results = await Promise.all(
    inputs.map((input) => {
      const certain = () => {
        uncertain.delete(input);
        if (uncertain.size === 0) onCertain?.();
      };
      const asked = { ...options, ...(onCertain && { onCertain: certain }) };
      return siblings.ask(() => search.run(tenant, input, signal, asked));
    }),
  );
  return { results, result: several ? severalResult(results, several, started) : results[0]! };
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
      example: ANSWERS.search,
    },
    errors: ERRORS,
  };
  return {
    method: 'POST',
    path: PATH,
    operation,
    handle: async (exchange) => {
      const questions = services.prices.question > 0n ? await questionsOf(services, exchange) : 1;
      return paid(services, exchange, paidSearch(services, exchange, questions));
    },
  };
}

/** Questions of a request that may not be paid yet. A body that is not small has one until it is read. */
async function questionsOf({ limits }: Services, { body, head }: Exchange): Promise<number> {
  if (Number(head.headers.get('content-length') ?? Number.NaN) > limits.jsonBodyBytesMax) return 1;
  const bytes = await body.whole(limits.jsonBodyBytesMax);
  body.putBack(bytes);
  return questionsIn(bytes);
}

/** @param questions as far as it is known before the request is read */
function paidSearch(services: Services, exchange: Exchange, questions: number): PaidRoute {
  const { search, limits, prices, expiry } = services;
  let count = questions;
  return {
    kind: 'search',
    mode: 'pure',
    priceFixed: prices.question === 0n,
    quote: () => ({
      amount: prices.search + prices.question * BigInt(Math.min(count, QUERIES_MAX) - 1),
      resource: services.baseUrl() + PATH,
      description:
        'Search your own files by meaning, by exact words, by picture, or for pictures by describing them.',
      discovery: searchDiscovery,
    }),
    prepare: async (tenant) => {
      const asked = await readSearch(exchange, limits.searchBodyBytesMax);
      for (const input of asked.inputs) search.admit(tenant, input);
      count = asked.inputs.length;
      return {
        identity: { kind: 'json', value: asked.identity },
        warnings: asked.warnings,
        run: async (signal, onCertain) => {
          const options = { expiresAt: expiry(tenant), onCertain };
          const { result } = await answerOf(search, tenant, asked, signal, options);
          if (!result.searchable) {
            return { charged: false, answer: found(body(result, false)) };
          }
          return {
            charged: true,
            answer: ({ verify_ms, settle_ms }) => {
              const total_ms = performance.now() - exchange.startedAt;
              const timed = { ...result, timing: { ...result.timing, verify_ms, settle_ms, total_ms } };
              return found(body(timed, true));
            },
          };
        },
      };
    },
  };
}

/** A search for the counters and the history. */
export function counted(
  asked: ParsedSearch['asked'][number],
  { hits, latency_ms }: SearchResult,
): CountedSearch {
  return { ...asked, like: asked.like?.item, hits: hits.length, latency_ms };
}

/** POST /agent/v1/workspaces/{id}/search: included in the price of the workspace's time. */
export function workspaceSearchRoute(services: SearchServices): Route {
  return workspaceRoute(
    services,
    ['POST', '/search'],
    {
      operationId: 'searchWorkspace',
      summary: 'Search a workspace',
      requestBody: { schema: SearchRequestSchema, required: true, example: searchDiscovery.bodyExample },
      success: { status: 200, description: 'The hits, best first.', schema: SearchResponseSchema },
      errors: ERRORS,
    },
    async (workspace, exchange) => {
      const { search, limits, workspaces } = services;
      const parsed = await readSearch(exchange, limits.searchBodyBytesMax);
      const expiresAt = workspaces.views.expiryOf(workspace);
      const { result, results } = await answerOf(search, workspace.id, parsed, exchange.signal, {
        expiresAt,
      });
      for (const [at, result] of results.entries())
        workspaces.activity.countSearch(workspace.id, counted(parsed.asked[at]!, result));
      const timing = { ...result.timing, total_ms: performance.now() - exchange.startedAt };
      return found({ ...body({ ...result, timing }, false), ...named(parsed.warnings) });
    },
    'search',
    'read',
  );
}
