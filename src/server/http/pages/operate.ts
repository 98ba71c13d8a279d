import { FarthingError } from '@farthing/protocol/error';
import type { Finding, Snapshot } from '@farthing/protocol/schema/operator';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import type { Route } from '../exchange/route.ts';

/** A foreign page whose name resolves to this host (DNS rebinding) must not read what the operator sees. */
const LOCAL_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;
const NO_STORE = { 'Cache-Control': 'no-store' };
const TEXT = {
  ...NO_STORE,
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
};

interface Sources {
  readonly text: () => Promise<string>;
  readonly snapshot: () => Promise<Snapshot>;
  readonly doctor: () => Promise<{ readonly findings: readonly Finding[] }>;
}

/** Routes of the operator's port: the state and the doctor's findings as text, and each as JSON. */
export function operateRoutes({ text, snapshot, doctor }: Sources): Route[] {
  return [
    localRoute('/', async () => ({ status: 200, headers: TEXT, raw: await text() })),
    localRoute('/snapshot.json', async () => json(await snapshot())),
    localRoute('/doctor.json', async () => json(await doctor())),
  ];
}

function json(body: object): Reply {
  return { status: 200, headers: NO_STORE, body: { ...body } };
}

function localRoute(path: string, reply: () => Promise<Reply>): Route {
  return {
    method: 'GET',
    path,
    handle: (exchange) => {
      checkHost(exchange);
      return reply();
    },
  };
}

function checkHost(exchange: Exchange): void {
  if (LOCAL_HOST.test(exchange.header('host') ?? '')) return;
  throw new FarthingError('not_found', 'The operator’s page answers to 127.0.0.1 and localhost alone.');
}
