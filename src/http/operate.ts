import { FarthingError } from '../domain/error.ts';
import { consoleAssets, pageRoute } from './console.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './route.ts';

/** A page elsewhere that had its own name lead here must not read what the operator sees. */
const LOCAL_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;

/** What the operator's port serves: a page of charts, and the snapshot that it draws. */
export function operateRoutes(folder: string, snapshot: () => Record<string, unknown>): Route[] {
  return [pageRoute(folder, 'operate.html'), consoleAssets(folder), snapshotRoute(snapshot)].map((route) => ({
    ...route,
    handle: (exchange, params) => {
      checkHost(exchange);
      return route.handle(exchange, params);
    },
  }));
}

function snapshotRoute(snapshot: () => Record<string, unknown>): Route {
  return {
    method: 'GET',
    path: '/snapshot.json',
    handle: () => ({ status: 200, headers: { 'Cache-Control': 'no-store' }, body: snapshot() }),
  };
}

function checkHost(exchange: Exchange): void {
  if (LOCAL_HOST.test(exchange.header('host') ?? '')) return;
  throw new FarthingError('not_found', 'The operator’s page answers to 127.0.0.1 and localhost alone.');
}
