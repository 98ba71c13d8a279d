import { FarthingError } from '../../domain/error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';
import { consoleAssets, pageRoute } from './console.ts';

/** A page elsewhere that had its own name lead here must not read what the operator sees. */
const LOCAL_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;

type Told = () => Promise<Record<string, unknown>>;

/** What the operator's port serves: a page of charts, the snapshot that it draws, and what the doctor finds. */
export function operateRoutes(
  folder: string,
  told: { readonly snapshot: Told; readonly doctor: Told },
): Route[] {
  return [
    pageRoute(folder, 'operate.html'),
    consoleAssets(folder),
    jsonRoute('/snapshot.json', told.snapshot),
    jsonRoute('/doctor.json', told.doctor),
  ].map((route) => ({
    ...route,
    handle: (exchange, params) => {
      checkHost(exchange);
      return route.handle(exchange, params);
    },
  }));
}

function jsonRoute(path: string, told: Told): Route {
  return {
    method: 'GET',
    path,
    handle: async () => ({ status: 200, headers: { 'Cache-Control': 'no-store' }, body: await told() }),
  };
}

function checkHost(exchange: Exchange): void {
  if (LOCAL_HOST.test(exchange.header('host') ?? '')) return;
  throw new FarthingError('not_found', 'The operator’s page answers to 127.0.0.1 and localhost alone.');
}
