import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { payV1 } from '../../payment/rig/legacy-client.ts';
import { ServedProcess } from '../../rig/served-process.ts';
import { TestAgent } from '../../rig/test-server.ts';

/** A server of its own process at the lowest level: all that it writes is in one file. */

const folder = t.testdir({});
const log = join(folder, 'server.log');
const FACILITATOR_HEADER = 'facilitator-secret-0123456789abcdef';
const server = await ServedProcess.start(t, {
  data: join(folder, 'data'),
  log,
  environment: { LOG_LEVEL: 'trace', FACILITATOR_HEADER },
});
const secrets: Record<string, string> = { 'the facilitator’s header': FACILITATOR_HEADER };

/** `fetch`, which remembers what it sent to pay. */
const plainFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const headers = input instanceof Request ? input.headers : new Headers(init?.headers);
  for (const name of ['x-payment', 'payment-signature', 'idempotency-key', 'authorization']) {
    const value = headers.get(name);
    if (!value) continue;
    secrets[`${name} ${Object.keys(secrets).length}`] = value.replace(/^Bearer /, '');
    const signature = /0x[0-9a-f]{130}/i.exec(Buffer.from(value, 'base64').toString('latin1'))?.[0];
    if (signature) secrets[`a signature ${Object.keys(secrets).length}`] = signature.slice(2);
  }
  return plainFetch(input, init);
};

const agent = new TestAgent(server.url);
const key = 'idempotency-0123456789-abcdefgh';
await agent.post('/agent/v1/workspaces', {}, { 'Idempotency-Key': key });
const workspace = await agent.rent();
await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
await agent.ingest('tides.txt', 'Tides follow the moon.');
await agent.post('/agent/v1/search', { query: 'what moves the sea?' }, { 'X-Request-Id': 'my-search.1' });
await payV1(privateKeyToAccount(generatePrivateKey()), `${server.url}/agent/v1/search`, {
  method: 'POST',
  body: '{"query":"x"}',
});
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const traced = await fetch(`${server.url}/agent/v1/workspaces/${workspace.id}/usage`, {
  headers: {
    Authorization: `Bearer ${workspace.token}`,
    traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
    'X-Request-Id': 'usage-7',
  },
});
const refused = await fetch(`${server.url}/agent/v1/workspaces/${workspace.id}/usage`, {
  headers: { Authorization: 'Bearer fws_wrong', 'X-Request-Id': 'two\twords', traceparent: 'nonsense' },
});
// Secrets where they don't belong, and broken ones.
await fetch(`${server.url}/agent/v1/jobs/${workspace.token}?token=${workspace.token}`);
await fetch(`${server.url}/agent/v1/workspaces/${workspace.token}/usage?x=${key}`);
await fetch(`${server.url}/agent/v1/search`, {
  method: 'POST',
  headers: { 'X-PAYMENT': `broken-${'payment'.repeat(20)}` },
});
await workspace.send('POST', '/search', JSON.stringify({ query: 5, [workspace.token]: workspace.token }));
await workspace.send('DELETE', '');
globalThis.fetch = plainFetch;
await server.kill();
const written = readFileSync(log, 'utf8');
const lines = written
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line) as Record<string, unknown>);
const answered = lines.filter(({ event }) => event === 'answered');

t.test('a request is one line, with its route, its outcome and its stages', async (t) => {
  const search = answered.filter(({ request_id }) => request_id === 'my-search.1');
  t.equal(search.length, 2, 'the 402, and the paid one');
  t.match(search[0], {
    method: 'POST',
    route: '/agent/v1/search',
    status: 402,
    code: 'payment_required',
    ms: Number,
  });
  const stages = {
    verify_ms: Number,
    encode_ms: Number,
    scan_ms: Number,
    fuse_ms: Number,
    settle_ms: Number,
    total_ms: Number,
  };
  t.match(search[1], { status: 200, stages });
  t.ok(answered.every(({ ms, route }) => typeof ms === 'number' && typeof route === 'string'));
  const levelOf = (status: number) => (status >= 400 && status !== 402 ? 30 : 20);
  t.ok(
    answered.every(({ level, status }) => level === levelOf(Number(status))),
    'refusals are information',
  );
});

t.test('the client’s request id and trace come back, and stand in the line', async (t) => {
  t.equal(traced.headers.get('X-Request-Id'), 'usage-7');
  const [, trace, span] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(traced.headers.get('traceparent') ?? '') ?? [];
  t.equal(trace, TRACE);
  t.not(span, 'b7ad6b7169203331', 'a span of its own');
  t.match(
    answered.find(({ request_id }) => request_id === 'usage-7'),
    { trace_id: TRACE, span_id: span, status: 200 },
  );
});

t.test('an id that a log could misread is replaced, and a trace that is none is left out', async (t) => {
  t.match(refused.headers.get('X-Request-Id'), /^req_[0-9a-f]{32}$/);
  t.equal(refused.headers.get('traceparent'), null);
  t.match(await refused.json(), { request_id: refused.headers.get('X-Request-Id') });
});

t.test('no token, payment, signature or private key is in the log, at the lowest level', async (t) => {
  t.ok(Object.keys(secrets).length >= 12, `${Object.keys(secrets).length} were sent`);
  t.ok(answered.length >= 15, `${answered.length} lines`);
  for (const [what, secret] of Object.entries(secrets)) t.notOk(written.includes(secret), what);
  t.notOk(written.includes(workspace.token.slice(4)), 'nor a part of one');
});
