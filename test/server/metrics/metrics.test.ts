import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { lacksProgram } from '../../rig/run-program.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';
import { get } from '../http/raw-get.ts';

/** Metrics of a server that was used; the dashboard and the alerts name no others. */

const deploy = resolve(import.meta.dirname, '../../../deploy');
const rules = readFileSync(join(deploy, 'prometheus/farthing.rules.yml'), 'utf8');
interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr: string }[];
  /** Panels of a folded row. */
  readonly panels?: readonly Panel[];
}

const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana/farthing.json'), 'utf8')) as {
  panels: readonly Panel[];
};
const panels = dashboard.panels
  .flatMap((panel) => [panel, ...(panel.panels ?? [])])
  .filter(({ type }) => type !== 'row');
const panelQueries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const alertQueries = [...rules.matchAll(/^ +expr: (.*)$/gm)].map(([, expr]) => expr!);

/** Has values where the server settles itself: `test/payment/self`. */
const OF_GAS = /farthing_gas_/;

const server = await startTestServer(t, {
  METRICS_PORT: '0',
  METRICS_NAMES: 'metrics.example',
  // Gauges of servers that share stores, too.
  SLOTS: '2',
});
const agent = new TestAgent(server.url);
const workspace = await agent.rent();

/** A little of everything that a server does. */
async function use(turn: number): Promise<void> {
  await agent.ingest(`gulls-${turn}.txt`, `The lighthouse keeper counts gulls at dawn, ${turn} of them.`);
  await workspace.ingest(`gulls-${turn}.txt`, `Tides follow the moon ${turn} times.`);
  await agent.post('/agent/v1/search', { query: `who watches birds in the morning? ${turn}` });
  await workspace.search({ query: `what moves the sea? ${turn}` });
  await workspace.search({ query: 'x', k: 0 });
}
await use(0);
const scrape = async () => (await fetch(server.running.metricsUrl!)).text();
// The note of a search may come after its answer.
let shown = await scrape();
while (!shown.includes('farthing_payments{kind="settled"} 3\n')) shown = await scrape();

t.test('what was done is counted and timed', async (t) => {
  const value = (series: string) =>
    Number(
      shown
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    );
  t.equal(value('farthing_ready'), 1);
  t.equal(value('farthing_requests_total{method="POST",route="/agent/v1/search",status="200"}'), 1);
  t.equal(value('farthing_refusals_total{status="400",code="field_invalid"}'), 1);
  t.ok(value('farthing_refusals_total{status="402",code="payment_required"}') >= 3);
  t.equal(value('farthing_search_stage_seconds_count{stage="scan"}'), 2);
  t.equal(value('farthing_payment_stage_seconds_count{stage="settle"}'), 1);
  t.equal(value('farthing_search_rows_scanned_count{list="text_semantic"}'), 2);
  t.equal(value('farthing_facilitator_seconds_count{call="settle",outcome="settled"}'), 3);
  t.equal(value('farthing_jobs_ended_total{state="searchable",code=""}'), 2);
  t.equal(value('farthing_payments{kind="settled"}'), 3);
  t.equal(value('farthing_payments_usd{kind="settled"}'), 0.0535, 'an upload, a search and a workspace');
  t.ok(value('farthing_encoder_batch_entries_count{kind="query_texts"}') >= 2);
  t.ok(value('nodejs_eventloop_lag_p99_seconds') >= 0);
});

t.test('nothing in it tells who was served', async (t) => {
  const wallet = agent.account.address.slice(2).toLowerCase();
  for (const secret of [wallet, workspace.id, workspace.token, 'payer_', 'gulls', 'who watches'])
    t.notOk(shown.toLowerCase().includes(secret.toLowerCase()), secret);
});

t.test('it has an address of its own, apart from the one that agents reach', async (t) => {
  t.match(server.running.metricsUrl, /^http:\/\/127\.0\.0\.1:/);
  t.equal((await fetch(`${server.url}/metrics`)).status, 404);
  t.equal((await fetch(new URL('/', server.running.metricsUrl))).status, 404);
  const { port } = new URL(server.running.metricsUrl!);
  const asked = async (host: string) =>
    (await get({ host: '127.0.0.1', port: Number(port) }, '/metrics', { Host: host })).status;
  for (const host of [
    `127.0.0.1:${port}`,
    '10.1.2.3',
    `[::1]:${port}`,
    `LOCALHOST:${port}`,
    'metrics.example',
  ])
    t.equal(await asked(host), 200, host);
  for (const host of ['attacker.example', '127.0.0.1.attacker.example'])
    t.equal(await asked(host), 404, host);
  const silent = await startTestServer(t);
  t.equal(silent.running.metricsUrl, undefined, 'off unless a port is named');
});

t.test('every metric that the dashboard and the alerts name exists', async (t) => {
  const named = [...panelQueries, ...alertQueries].flatMap(
    (query) => query.match(/\b(farthing|nodejs|process)_\w+/g) ?? [],
  );
  t.ok(named.length > 40);
  const missing = [...new Set(named)].filter(
    (name) => !new RegExp(OF_GAS.test(name) ? `^# TYPE ${name} ` : `^${name}[{ ]`, 'm').test(shown),
  );
  t.same(missing, []);
});

t.test(
  'promtool finds nothing to say of the names, and a server that is gone raises an alert',
  { skip: lacksProgram('promtool') },
  async (t) => {
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: shown, encoding: 'utf8' });
    t.equal(checked.stdout + checked.stderr, '');
    const tested = spawnSync(
      'promtool',
      ['test', 'rules', join(deploy, 'prometheus/farthing.rules.test.yml')],
      {
        encoding: 'utf8',
      },
    );
    t.equal(tested.status, 0, tested.stdout + tested.stderr);
  },
);
