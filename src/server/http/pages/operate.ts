import { FarthingError } from '@farthing/protocol/error';
import type { Finding, HourPoint, Snapshot } from '@farthing/protocol/schema/operator';
import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';
import { consoleAssets, pageRoute } from './console.ts';

/** A foreign page whose name resolves to this host (DNS rebinding) must not read what the operator sees. */
const LOCAL_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;

interface Sources {
  readonly snapshot: () => Promise<Snapshot>;
  readonly hour: () => Promise<{ readonly points: readonly HourPoint[] }>;
  readonly doctor: () => Promise<{ readonly findings: readonly Finding[] }>;
}

/** Routes of the operator's port: a page of charts, the figures that it draws, and the doctor's findings. */
export function operateRoutes(folder: string, { snapshot, hour, doctor }: Sources): Route[] {
  return [
    pageRoute(folder, 'operate.html'),
    consoleAssets(folder),
    jsonRoute('/snapshot.json', snapshot),
    jsonRoute('/hour.json', hour),
    jsonRoute('/doctor.json', doctor),
  ].map((route) => ({
    ...route,
    handle: (exchange, params) => {
      checkHost(exchange);
      return route.handle(exchange, params);
    },
  }));
}

function jsonRoute(path: string, read: () => Promise<object>): Route {
  return {
    method: 'GET',
    path,
    handle: async () => ({
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      body: { ...(await read()) },
    }),
  };
}

function checkHost(exchange: Exchange): void {
  if (LOCAL_HOST.test(exchange.header('host') ?? '')) return;
  throw new FarthingError('not_found', 'The operator’s page answers to 127.0.0.1 and localhost alone.');
}
