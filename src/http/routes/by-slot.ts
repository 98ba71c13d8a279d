import { FarthingError } from '../../domain/error.ts';
import { payerTenantId } from '../../domain/id.ts';
import { parsePaymentHeader } from '../../payment/wire/payment-header.ts';
import { credentialsOf } from '../access/paid.ts';
import type { RequestCount } from '../access/request-count.ts';
import type { Services, ServicesBySlot } from '../access/services.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';
import { promptReplies } from './prompt-replies.ts';
import { stableReplies } from './stable-replies.ts';

const AGENT_PATHS = '/agent/';

/** Routes whose requests are answered by the slot that they lead to. @param table makes the routes of one slot */
export function routesBySlot(
  { front, isOne, of }: ServicesBySlot,
  table: (services: Services) => readonly Route[],
): Route[] {
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
      const key = keyOf(route, exchange, params);
      const place = key === undefined ? { services: front } : of(key);
      if (!('services' in place))
        throw new FarthingError('interrupted', 'Send the same request again.', { retryAfterS: 2 });
      return routesOf(place.services)[index]!.handle(exchange, params);
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

function counted(handle: Route['handle'], running: RequestCount): Route['handle'] {
  return async (exchange, params) => {
    running.begin();
    try {
      return await handle(exchange, params);
    } finally {
      running.end();
    }
  };
}

/** The id that leads to the slot: of the payer, the workspace or the job. Undefined without a payment: any slot asks for one. */
function keyOf(
  { operation }: Route,
  exchange: Exchange,
  { id, job_id }: Readonly<Record<string, string>>,
): string | undefined {
  return operation?.security === 'payment' ? payerOf(exchange) : (id ?? job_id);
}

/** Undefined, too, for a payment that any slot refuses, because it cannot be read. */
function payerOf(exchange: Exchange): string | undefined {
  try {
    const parsed = parsePaymentHeader(credentialsOf(exchange));
    return parsed && payerTenantId(parsed.payment.payer);
  } catch {
    return undefined;
  }
}
