import t from 'tap';
import { startTestServer, TestAgent } from '../rig/test-server.ts';
import { get } from '../server/http/raw-get.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';

t.setTimeout(4 * PATIENCE_MS);
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
  const snapshot = JSON.parse(body.toString('utf8'));
  t.match(snapshot, {
    queues: { encoding: { queries: Number, ingest: Number } },
    revenue: { settled: { count: 1, usd: '0.0175' } },
    tenants: { active_workspaces: 1, counted_all: true },
    traffic: { by_status: { '2xx': Number, '4xx': 1 } },
  });
  t.equal(
    snapshot.traffic.search_latency.reduce((sum: number, [, count]: [number, number]) => sum + count, 0),
    1,
  );
  t.match(snapshot, {
    disk: { free_bytes: Number, total_bytes: Number },
    revenue_by_day: [{ day: /^\d{4}-\d\d-\d\d$/, count: 1, usd: '0.0175' }],
    traffic: { by_code: [{ status: 402, count: 1 }] },
  });
  t.equal(
    snapshot.confidence.reduce((sum: number, [, count]: [number, number]) => sum + count, 0),
    1,
    'the confidence of one search',
  );
  const routes: { route: string; p99_ms: number }[] = snapshot.traffic.by_route;
  t.same(
    routes,
    routes.toSorted((a, b) => b.p99_ms - a.p99_ms),
    'the slowest first',
  );
  t.notMatch(body.toString('utf8'), /gulls|lighthouse/);
  t.notMatch(
    body.toString('utf8'),
    new RegExp(`${workspace.id}|${workspace.token}|${agent.account.address}`, 'i'),
  );
});

t.test('the port answers to local names only; the public port has none of it', async (t) => {
  for (const path of ['/', '/snapshot.json', '/hour.json', '/doctor.json'])
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

const lacking = missing();
t.test('the page draws what happens', { skip: lacking ?? false }, async (t) => {
  const browser = await openBrowser(t);
  const url = `http://${host}:${port}`;
  const { page, faults, requested } = await visit(browser, url);
  for (const name of [
    'Models',
    'Slowest routes',
    'Errors by code',
    'Confidence of answers',
    'Revenue by day',
  ])
    await seen(page.getByRole('heading', { name }));
  await seen(page.locator('.chart canvas'));
  await seen(page.locator('.finding[data-state="ok"]'));
  // The figure stands for one interval: there are searches in each until it was seen.
  let drawn = false;
  const seeing = seen(page.getByText(/p50 \d/)).finally(() => {
    drawn = true;
  });
  seeing.catch(() => undefined);
  while (!drawn) await workspace.search({ query: 'gulls' });
  await seeing;
  await page.reload();
  await seen(page.getByText(/p50 \d/));
  t.pass('the server keeps the last hour: a reload shows it at once');
  t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  t.same(await violations(page), []);
  await shoot(page, '11-operate');
  t.same(faults, []);
  t.same(
    requested.filter((address) => !address.startsWith(`${url}/`)),
    [],
  );
});
