import { readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { compactVerify, createLocalJWKSet } from 'jose';
import t from 'tap';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

/** Whole journeys over real HTTP with real clients: what an agent does, and what it is charged. */

const server = await startTestServer(t);
const samples = resolve(import.meta.dirname, '../../../samples');
const sample = (name: string) => new Uint8Array(readFileSync(join(samples, name)));

const receiptOf = (headers: Headers, name: string) =>
  JSON.parse(Buffer.from(headers.get(name)!, 'base64').toString('utf8')) as Record<string, unknown>;

t.test('an agent pays by the call with the unmodified v2 client', async (t) => {
  const agent = new TestAgent(server.url);

  const empty = await agent.post('/agent/v1/search', { query: 'anything' });
  t.match(
    empty,
    { status: 200, body: { hits: [], charged: false } },
    'a payer who never ingested is not charged',
  );
  t.equal(empty.headers.get('X-PAYMENT-RESPONSE'), null);

  const pdf = await agent.ingest('almanac.pdf', sample('almanac.pdf'));
  t.match(pdf, {
    status: 200,
    body: {
      charged: true,
      item: {
        media_type: 'application/pdf',
        state: 'searchable',
        pages: 5,
        segments: 5,
        title: 'A Small Almanac',
        families: ['text_semantic', 'raw'],
      },
      job: { state: 'searchable' },
    },
  });
  t.equal(pdf.headers.get('Preference-Applied'), 'wait=60');
  t.match(receiptOf(pdf.headers, 'PAYMENT-RESPONSE'), {
    success: true,
    payer: new RegExp(agent.account.address, 'i'),
    network: 'eip155:8453',
  });

  const again = await agent.ingest('almanac.pdf', sample('almanac.pdf'));
  t.match(again, { status: 200, body: { duplicate: true, charged: false, item: { id: pdf.body.item.id } } });

  const found = await agent.post('/agent/v1/search', {
    query: 'how did zero become a number?',
    k: 3,
    colour: 'blue',
  });
  t.match(found, {
    status: 200,
    body: { charged: true, hits: [{ item: { id: pdf.body.item.id } }], warnings: [/colour/] },
  });
  t.equal(found.body.hits[0].locator.page, 4);
  for (const stage of ['verify_ms', 'encode_ms', 'scan_ms', 'fuse_ms', 'settle_ms', 'total_ms'])
    t.type(found.body.timing[stage], 'number', stage);

  t.match(await agent.get(`/agent/v1/items/${pdf.body.item.id}`), {
    status: 200,
    body: { id: pdf.body.item.id, name: 'almanac.pdf' },
  });
  t.match(await agent.get(`/agent/v1/jobs/${pdf.body.job_id}`), {
    status: 200,
    body: { state: 'searchable' },
  });

  const stranger = new TestAgent(server.url);
  t.match(await stranger.get(`/agent/v1/items/${pdf.body.item.id}`), {
    status: 404,
    body: { code: 'item_not_found', charged: false },
  });
  t.match(await stranger.post('/agent/v1/search', { query: 'zero' }), {
    status: 200,
    body: { hits: [], charged: false },
  });
});

t.test('a workspace: rented, filled, searched, extended, disposed of with a receipt', async (t) => {
  const agent = new TestAgent(server.url);
  const created = await agent.post('/agent/v1/workspaces', { ttl_minutes: 100000, spend_limit_usd: 5 });
  t.match(created, {
    status: 201,
    body: {
      ttl_minutes_asked: 100000,
      ttl_minutes: 1440,
      price_usd: '0.73',
      spend_limit_usd: '5',
      capability_token: /^fws_/,
    },
  });
  const { id, capability_token: token } = created.body;
  const call = async (method: string, path: string, body?: string) => {
    const response = await fetch(`${server.url}/agent/v1/workspaces/${id}${path}`, {
      method,
      body,
      headers: { Authorization: `Bearer ${token}`, Prefer: 'wait=60' },
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    };
  };

  const text = await call('POST', '/ingest', 'The lighthouse keeper counts gulls at dawn.');
  t.match(text, {
    status: 200,
    body: { item: { media_type: 'text/plain', state: 'searchable' }, charged: false },
  });
  const hits = await call('POST', '/search', JSON.stringify({ query: 'who watches birds in the morning?' }));
  t.match(hits, { status: 200, body: { hits: [{ snippet: /lighthouse/ }] } });
  t.match(hits.headers.get('X-Workspace-TTL-Seconds'), /^\d+$/);
  t.equal(hits.headers.get('X-Workspace-Spend-Remaining-USD'), '4.27');
  t.match(await call('GET', '/usage'), {
    status: 200,
    body: { searches: 1, ingests: 1, items: 1, spend_usd: '0.73' },
  });

  const extended = await agent.post(`/agent/v1/workspaces/${id}/extend`, { ttl_minutes: 10 });
  t.match(extended, { status: 200, body: { id, ttl_minutes: 10, price_usd: '0.005', spend_usd: '0.735' } });
  t.notOk('capability_token' in extended.body);
  const over = await agent.post(`/agent/v1/workspaces/${id}/extend`, { ttl_minutes: 1440 });
  t.equal(over.status, 200);

  const folder = server.running.tenantFolder(id);
  await t.resolves(access(folder));
  const disposed = await call('DELETE', '');
  t.match(disposed, { status: 200, body: { id, state: 'disposed' } });
  const keys = (await (await fetch(`${server.url}/.well-known/jwks.json`)).json()) as Parameters<
    typeof createLocalJWKSet
  >[0];
  const { payload } = await compactVerify(String(disposed.body.receipt), createLocalJWKSet(keys));
  t.same(JSON.parse(new TextDecoder().decode(payload)), disposed.body.claims);
  await t.rejects(access(folder), 'the folder is gone');
  t.equal(
    (await call('DELETE', '')).body.receipt,
    disposed.body.receipt,
    'the same DELETE again: the same receipt',
  );
  t.equal((await call('GET', '/usage')).status, 401);
});

t.test('one slash at the end changes nothing, and another method is told the allowed ones', async (t) => {
  const socket = connect(server.port, server.host);
  t.teardown(() => socket.destroy());
  const first = new Promise<string>((resolve) => socket.setEncoding('utf8').once('data', resolve));
  socket.write('POST /agent/v1/search/ HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n{"query":"x"}');
  t.match(await first, /^HTTP\/1.1 402 /);
  const other = await fetch(`${server.url}/agent/v1/items/x`, { method: 'PUT' });
  t.match(await other.json(), { code: 'method_not_allowed', allow: ['GET', 'HEAD', 'OPTIONS'] });
});

t.test('any origin may call a server whose settings name none', async (t) => {
  const preflight = await fetch(`${server.url}/agent/v1/search`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': 'POST' },
  });
  t.equal(preflight.status, 204);
  t.equal(preflight.headers.get('Access-Control-Allow-Origin'), '*');
});

t.test('a client that keeps its connection is served after an early answer', async (t) => {
  const socket = connect(server.port, server.host);
  t.teardown(() => socket.destroy());
  socket.setEncoding('utf8');
  const next = () => new Promise<string>((resolve) => socket.once('data', resolve));
  socket.write('POST /agent/v1/ingest HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n01234');
  t.match(await next(), /^HTTP\/1.1 402 /, 'answered before the body has come');
  socket.write('56789GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  t.match(await next(), /^HTTP\/1.1 200 /);
});
