import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { type PeerHandlers, peerRoutes } from '../../../src/cluster/forward/peer-routes.ts';
import { HttpPeerCalls, PeerAwayError } from '../../../src/cluster/peers/peer-calls.ts';
import { PeerSignatures, peerKeysOf } from '../../../src/cluster/peers/peer-signature.ts';
import { FarthingError } from '../../../src/protocol/error.ts';
import { Cors } from '../../../src/server/http/exchange/cors.ts';
import { listen } from '../../../src/server/http/exchange/server.ts';
import { freePorts, listening } from '../../rig/ports.ts';

const KEYS = peerKeysOf('a'.repeat(64));

/** A server that answers its peers, and one that asks it. */
async function pair(t: Test, handlers: PeerHandlers, keys = KEYS) {
  const faults: unknown[] = [];
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    cors: new Cors([]),
    routes: peerRoutes(handlers, new PeerSignatures(KEYS, 'b'), (error) => faults.push(error)),
    onAnswered: () => undefined,
    onFault: (error) => t.fail(String(error)),
  });
  const calls = new HttpPeerCalls(new PeerSignatures(keys, 'a'));
  t.teardown(async () => {
    calls.close();
    await server.close();
  });
  return { calls, faults, peer: { id: 'b', url: `http://127.0.0.1:${server.port}` } };
}

t.test('a call comes to its handler, and its answer back', async (t) => {
  const { calls, peer } = await pair(t, { hear: async (body) => ({ heard: body }) });
  t.same(await calls.call(peer, 'hear', { words: 'é'.repeat(200_000) }), {
    heard: { words: 'é'.repeat(200_000) },
  });
});

t.test('the caller gets what the handler threw, with all that it says', async (t) => {
  const { calls, peer, faults } = await pair(t, {
    refuse: async () => {
      throw new FarthingError('spend_limit_exceeded', 'Too dear.', { facts: { limit: 3 }, retryAfterS: 7 });
    },
    break: async () => {
      throw new Error('ours');
    },
  });
  const refused = { code: 'spend_limit_exceeded', detail: 'Too dear.', facts: { limit: 3 }, retryAfterS: 7 };
  await t.rejects(calls.call(peer, 'refuse', {}), refused);
  t.same(faults, []);
  await t.rejects(calls.call(peer, 'break', {}), { code: 'internal' });
  t.match(faults, [{ message: 'ours' }]);
});

t.test('where nothing happened the peer is away', async (t) => {
  const { calls, peer } = await pair(t, {
    away: async () => {
      throw new PeerAwayError('not here');
    },
  });
  await t.rejects(calls.call(peer, 'away', {}), { name: 'PeerAwayError' }, 'it said so');
  await t.rejects(calls.call(peer, 'unknown', {}), { name: 'PeerAwayError' }, 'it has no such call');
  const [port] = await freePorts(1);
  await t.rejects(
    calls.call({ id: 'c', url: `http://127.0.0.1:${port}` }, 'hear', {}),
    PeerAwayError,
    'it is off',
  );
});

t.test('where the answer does not come the call may have happened', async (t) => {
  const begun: (() => void)[] = [];
  const { calls, peer } = await pair(t, {
    wait: () => new Promise((resolve) => void begun.push(() => resolve({}))),
  });
  await t.rejects(calls.call(peer, 'wait', {}, { timeoutMs: 300 }), { name: 'PeerLostError' });
  for (const end of begun) end();
  const { url } = await listening(
    t,
    createServer((request) => request.socket.destroy()),
  );
  await t.rejects(calls.call({ id: 'c', url }, 'hear', {}), {
    name: 'PeerLostError',
  });
});

t.test('who has not the cluster’s key finds no such path, and calls nothing', async (t) => {
  let called = 0;
  const count = async () => ({ called: ++called });
  const { calls, peer } = await pair(t, { count }, peerKeysOf('b'.repeat(64)));
  await t.rejects(calls.call(peer, 'count', {}), { name: 'PeerAwayError' });
  for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'OPTIONS']) {
    const body = method === 'POST' ? '{}' : null;
    const told = async (path: string) => {
      const answer = await fetch(`${peer.url}/peer/v1/${path}`, { method, body });
      return [answer.status, answer.headers.get('allow'), (await answer.text()).replace(/req_\w+/g, '')];
    };
    const unknown = await told('unknown');
    if (method !== 'OPTIONS') t.equal(unknown[0], 404);
    t.same(await told('count'), unknown, method);
  }
  t.equal(called, 0);
});
