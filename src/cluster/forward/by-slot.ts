import { FarthingError } from '../../domain/error.ts';
import { parseId, payerTenantId } from '../../domain/id.ts';
import type { Services, ServicesBySlot } from '../../http/access/services.ts';
import { bearerToken } from '../../http/access/workspace-access.ts';
import type { Exchange } from '../../http/exchange/exchange.ts';
import type { Operation, Route } from '../../http/exchange/route.ts';
import type { Forwarding, Led } from './forwarding.ts';
import { promptReplies } from './prompt-replies.ts';
import type { RequestCount } from './request-count.ts';
import { stableReplies } from './stable-replies.ts';

const AGENT_PATHS = '/agent/';

/**
 * Routes whose requests are answered by the slot that they lead to.
 * @param table makes the routes of one slot
 * @param forwarding where other servers have slots
 */
export function routesBySlot(
  slots: ServicesBySlot,
  table: (services: Services) => readonly Route[],
  forwarding?: Forwarding,
): Route[] {
  const { front, isOne, of } = slots;
  const tables = new WeakMap<Services, readonly Route[]>();
  const routesOf = (services: Services) => {
    const known = tables.get(services) ?? tableOf(services, table);
    tables.set(services, known);
    return known;
  };
  const first = routesOf(front);
  if (isOne) return [...first];
  return first.map((route, index) => ({
    ...route,
    handle: (exchange, params) => {
      const here = (services: Services) => routesOf(services)[index]!.handle(exchange, params);
      const key = keyOf(route, exchange, params);
      if (key === undefined) return here(front);
      if (forwarding?.ofPeers.passedOn(exchange)) return forwarding.ofPeers.answer(exchange, key, here);
      if (forwarding) return forwarding.answer(exchange, ledBy(route, key), here);
      const place = of(key);
      if ('services' in place) return here(place.services);
      throw new FarthingError('interrupted', 'Send the same request again.', { retryAfterS: 2 });
    },
  }));
}

function tableOf(services: Services, table: (services: Services) => readonly Route[]): readonly Route[] {
  const { stable, lagMs = () => 0, running } = services;
  const routes = table(services);
  if (!stable) return routes;
  // The others tell of no book, and say how the server is.
  return routes.map((route) => {
    if (!route.path.startsWith(AGENT_PATHS)) return route;
    const handle = promptReplies(stableReplies(route.handle, stable), lagMs);
    return { ...route, handle: running ? counted(handle, running) : handle };
  });
}

/** A request ends once its delivery is known, because that is noted in the slot's books. */
function counted(handle: Route['handle'], running: RequestCount): Route['handle'] {
  return async (exchange, params) => {
    running.begin();
    let isOver = true;
    try {
      const reply = await handle(exchange, params);
      if (!('delivered' in reply) || !reply.delivered) return reply;
      const { delivered } = reply;
      isOver = false;
      return {
        ...reply,
        delivered: (whole: boolean) => {
          delivered(whole);
          running.end();
        },
      };
    } finally {
      if (isOver) running.end();
    }
  };
}

/**
 * The id that leads to the slot: of the payer, the workspace or the job. Undefined for what any slot refuses: without a payment, without
 * a token, of an id that is none.
 */
function keyOf(
  { operation }: Route,
  exchange: Exchange,
  { id, job_id }: Readonly<Record<string, string>>,
): string | undefined {
  if (operation?.security === 'payment') return payerOf(exchange);
  if (id === undefined) return parseId('job', job_id ?? '');
  if (operation?.security === 'token' && bearerToken(exchange) === undefined) return undefined;
  return parseId('workspace', id);
}

/** A search by token is counted once, by the server that answers. */
const COUNTED_ONCE: readonly Operation['operationId'][] = ['searchWorkspace'];

function ledBy({ method, operation }: Route, key: string): Led {
  const isPaid = operation?.security === 'payment';
  const isCountedOnce = COUNTED_ONCE.includes(operation?.operationId ?? '');
  return { key, isPaid, isRepeatable: !isPaid && (method === 'GET' || isCountedOnce) };
}

/** Undefined, too, for a payment that any slot refuses, because it cannot be read. */
function payerOf(exchange: Exchange): string | undefined {
  try {
    const parsed = exchange.payment.parsed();
    return parsed && payerTenantId(parsed.payment.payer);
  } catch {
    return undefined;
  }
}
