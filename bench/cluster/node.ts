import { setTimeout as pause } from 'node:timers/promises';
import { routesBySlot } from '../../src/cluster/forward/by-slot.ts';
import { Forwarding } from '../../src/cluster/forward/forwarding.ts';
import { peerRoutes } from '../../src/cluster/forward/peer-routes.ts';
import { HttpPeerCalls } from '../../src/cluster/peers/peer-calls.ts';
import { PeerSignatures, peerKeysOf } from '../../src/cluster/peers/peer-signature.ts';
import type { Services, ServicesBySlot } from '../../src/http/access/services.ts';
import { sharesOf } from '../../src/http/body/shared-bytes.ts';
import { Cors } from '../../src/http/exchange/cors.ts';
import type { Route } from '../../src/http/exchange/route.ts';
import { listen } from '../../src/http/exchange/server.ts';

/**
 * A server without models or books: `node node.ts NAME OWNER_URL`. Without a second argument the one slot is here. Tells its parent its port.
 * It answers searches with as many bytes as ten hits with snippets have, counts the bytes of uploads, gives a file of FILE_BYTES, and tells
 * EVENTS events, one at a time, each with the moment when it is told.
 */
const FILE_BYTES = Number(process.env.FILE_BYTES || 100 * 2 ** 20);
const EVENTS = Number(process.env.EVENTS || 300);
const EVENT_MS = 10;
const ANSWER = { text: 'x'.repeat(30_000) };
const PIECE = Buffer.alloc(64 * 1024);

const [name = '', ownerUrl] = process.argv.slice(2);

function route(method: Route['method'], rest: string, handle: Route['handle']): Route {
  return {
    method,
    path: `/agent/v1/workspaces/{id}${rest}`,
    operation: {
      operationId: rest === '/search' ? 'searchWorkspace' : rest,
      summary: '',
      tag: 'Workspaces',
      security: 'token',
      success: { status: 200, description: '' },
      errors: [],
    },
    handle,
  };
}

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let bytes = 0; bytes < FILE_BYTES; bytes += PIECE.length) yield PIECE;
}

async function* events(): AsyncGenerator<{ event: string; data: object }> {
  for (let event = 0; event < EVENTS; event++) {
    await pause(EVENT_MS);
    yield { event: 'told', data: { at: String(process.hrtime.bigint()) } };
  }
}

const signatures = new PeerSignatures(peerKeysOf('a'.repeat(64)), name);
const services = { gate: { knownPayer: () => undefined } } as unknown as Services;
const slots: ServicesBySlot = {
  front: services,
  isOne: false,
  of: () =>
    ownerUrl === undefined
      ? { services }
      : { peer: { id: 'owner', url: ownerUrl }, moved: new Promise(() => undefined) },
};
const forwarding = new Forwarding({ slots, signatures, calls: new HttpPeerCalls(signatures) });
const routes = [
  route('POST', '/search', async (exchange) => {
    await exchange.body.whole(2 ** 20);
    return { status: 200, headers: {}, body: ANSWER };
  }),
  route('POST', '/ingest', async (exchange) => {
    let bytes = 0;
    for await (const piece of exchange.body.pieces()) bytes += piece.byteLength;
    return { status: 200, headers: {}, body: { bytes } };
  }),
  route('GET', '/events', () => ({ status: 200, headers: {}, events: events(), close: () => undefined })),
  route('GET', '/file', () => ({
    status: 200,
    headers: {},
    content: { bytes: FILE_BYTES, pieces: pieces(), close: async () => undefined },
  })),
];
const server = await listen({
  host: '127.0.0.1',
  port: 0,
  cors: new Cors(['*']),
  bodies: sharesOf(96 * 2 ** 20),
  routes: [
    ...routesBySlot(slots, () => routes, forwarding),
    ...peerRoutes(forwarding.ofPeers.handlers, signatures),
  ],
  onAnswered: () => undefined,
  onFault: (error) => console.error(error),
});
process.send?.({ port: server.port });
process.on('disconnect', () => process.exit(0));
