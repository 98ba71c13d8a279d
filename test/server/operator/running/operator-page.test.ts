import t from 'tap';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { get } from '../../http/raw-get.ts';

const server = await startTestServer(t, { ADMIN_PORT: '0' });
const host = '127.0.0.1';
const port = server.running.adminPort!;
const agent = new TestAgent(server.url);
const workspace = await agent.rent();
await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
await workspace.search({ query: 'gulls' });

t.test('the snapshot shows what the server does, and no tenant’s content', async (t) => {
  const { status, body } = await get({ host, port }, '/snapshot.json', {});
  t.equal(status, 200);
  t.match(JSON.parse(body.toString('utf8')), {
    queues: { encoding: { queries: Number, ingest: Number } },
    revenue: { settled: { count: 1, usd: '0.0175' } },
    revenue_by_day: [{ day: /^\d{4}-\d\d-\d\d$/, count: 1, usd: '0.0175' }],
    tenants: { active_workspaces: 1, counted_all: true },
    disk: { free_bytes: Number, total_bytes: Number },
  });
  t.notMatch(body.toString('utf8'), /gulls|lighthouse/);
  t.notMatch(
    body.toString('utf8'),
    new RegExp(`${workspace.id}|${workspace.token}|${agent.account.address}`, 'i'),
  );
});

t.test('the page says the same in text, with the doctor’s findings', async (t) => {
  const { headers, body } = await get({ host, port }, '/', {});
  t.match(headers, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  const text = body.toString('utf8');
  t.match(text, /^workspaces +1 active/m);
  t.match(text, /^settled +1 for 0\.0175 USD of play money$/m);
  t.match(text, /^text_semantic +\S/m);
  t.match(text, /^ok +processor /m);
});

t.test('the port answers to local names only; the public port has none of it', async (t) => {
  for (const path of ['/', '/snapshot.json', '/doctor.json'])
    t.equal((await get({ host, port }, path, { Host: 'evil.example' })).status, 404, path);
  t.equal((await get({ host, port }, '/snapshot.json', { Host: `localhost:${port}` })).status, 200);
  t.notOk(
    (await get({ host, port }, '/snapshot.json', { Origin: 'https://evil.example' })).headers[
      'access-control-allow-origin'
    ],
  );
  t.equal((await fetch(`${server.url}/snapshot.json`)).status, 404);
  t.equal((await get({ host, port }, '/agent/v1/search', {})).status, 404);
});

t.test('the doctor reports on a running server', async (t) => {
  const { status, body } = await get({ host, port }, '/doctor.json', {});
  t.equal(status, 200);
  const { findings } = JSON.parse(body.toString('utf8')) as { findings: { check: string; state: string }[] };
  const checks = findings.map(({ check }) => check);
  for (const check of ['processor', 'memory', 'facilitator']) t.ok(checks.includes(check), check);
  t.notOk(checks.includes('port'), 'its own port is no fault');
});
