import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type FolderPrice, type SyncPlan } from '../../src/client/index.ts';
import { Agent } from '../cli/cli-agent.ts';
import { startTestServer } from '../rig/test-server.ts';

const server = await startTestServer(t);
const farthing = () =>
  new Farthing({ baseUrl: server.url, account: privateKeyToAccount(generatePrivateKey()) });

const FILES = {
  docs: {
    'gulls.txt': 'The lighthouse keeper counts gulls at dawn.',
    below: { 'tides.txt': 'Tides follow the moon.', 'same.txt': 'Tides follow the moon.' },
    '.hidden': { 'secret.txt': 'not to be sent' },
  },
};

t.test('a folder that is synced again costs what has changed, and what is gone is removed', async (t) => {
  const folder = join(t.testdir(FILES), 'docs');
  const workspace = await farthing().workspaces.create();
  const other = await workspace.ingest(new Blob(['Kept by another.']), { name: 'x.txt', key: 'other/x.txt' });
  const plans: SyncPlan[] = [];
  const sync = (options = {}) =>
    workspace.syncFolder(folder, { ...options, onPlan: (plan) => void plans.push(plan) });
  const keys = async () => (await workspace.items()).items.map(({ key }) => key).sort();

  t.match(await sync(), { ingested: 3, unchanged: 0, removed: 0, failed: [] });
  t.same(await keys(), ['docs/below/same.txt', 'docs/below/tides.txt', 'docs/gulls.txt', 'other/x.txt']);
  t.match(await sync(), { ingested: 0, unchanged: 3, removed: 0 });

  writeFileSync(join(folder, 'gulls.txt'), 'The lighthouse keeper counts terns at dawn.');
  rmSync(join(folder, 'below/same.txt'));
  mkdirSync(join(folder, 'new'));
  writeFileSync(join(folder, 'new/horn.txt'), 'Fog horns.');
  t.match(await sync(), { ingested: 2, unchanged: 1, removed: 1 });
  t.match(plans.at(-1), { uploads: 2, unchanged: 1, removals: 1 });
  t.same(await keys(), ['docs/below/tides.txt', 'docs/gulls.txt', 'docs/new/horn.txt', 'other/x.txt']);
  const gulls = await workspace.search({ query: 'gulls terns', families: ['raw'] });
  t.match(gulls.hits, [{ snippet: /terns/ }]);
  t.equal(gulls.hits.length, 1);

  writeFileSync(join(folder, 'gulls.txt'), '%PDF-1.7 broken');
  const refused = await sync();
  t.match(refused, { ingested: 0, failed: [{ key: join(folder, 'gulls.txt') }] });
  t.equal((await workspace.search({ query: 'terns', families: ['raw'] })).hits.length, 1, 'the old stays');

  t.match(
    await sync({ metadata: { year: 2024 } }),
    { ingested: 2, removed: 0 },
    'other metadata is a change',
  );
  t.match(await workspace.syncFolder(folder, { onPlan: () => false }), { ingested: 0, removed: 0 });
  await t.rejects(workspace.syncFolder(join(folder, 'nowhere')), { code: 'source_unreadable' });
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  t.match(await sync(), { removed: 3 });
  t.same(
    (await workspace.items()).items.map(({ id }) => id),
    [other.item.id],
  );
});

t.test('the command syncs a folder of a workspace', async (t) => {
  const home = t.testdir({ ...FILES, home: {} });
  const agent = new Agent(join(home, 'home'), server.url);
  await agent.run(['wallet', 'new']);
  const docs = join(home, 'docs');
  t.match(await agent.run(['ingest', '--sync', docs]), { code: 2, err: /--sync needs a workspace/ });
  await agent.run(['workspace', 'create', '--yes']);
  t.match(await agent.run(['ingest', '--sync', docs, docs]), { code: 2, err: /one folder/ });
  t.match(await agent.run(['ingest', '--sync', docs, '--meta', 'year=2024', '--meta', 'team=red']), {
    code: 0,
    err: /3 files made searchable, 0 unchanged, 0 removed/,
  });
  rmSync(join(docs, 'gulls.txt'));
  const again = await agent.run([
    'ingest',
    '--sync',
    docs,
    '--meta',
    'year=2024',
    '--meta',
    'team=red',
    '--json',
  ]);
  t.same(JSON.parse(again.out), { summary: { ingested: 0, unchanged: 2, removed: 1, failed: 0 } });

  const found = async (...options: string[]) => {
    const { code, out, err } = await agent.run(['search', 'tides', '-f', 'raw', '--json', ...options]);
    return code === 0 ? JSON.parse(out).hits.length : err;
  };
  t.equal(await found('--name', 'tides*'), 1);
  t.equal(await found('--filter', '{"metadata": {"year": 2024, "team": "red"}}'), 2);
  t.equal(await found('--filter', '{"metadata": {"year": 2024}}', '--name', 'same*', '--type', 'text/*'), 1);
  t.equal(await found('--filter', '{"metadata": {"year": "2024"}}'), 0);
  t.match(await found('--filter', '{"metdata": {}}'), /--filter: there is no "metdata".*metadata\?/);
  t.match(await found('--filter', '{'), /--filter: must be JSON/);
  const both = await agent.run(['search', 'tides', '--also', 'moon', '-f', 'raw', '--passages', '0']);
  t.equal(both.out.split('\n').filter((line) => /Tides follow the moon/.test(line)).length, 4, both.out);
  const one = await agent.run(['search', 'tides', '--also', 'moon', '--fused', '-k', '2', '--json']);
  t.match(JSON.parse(one.out), { hits: [{ queries: [0, 1] }, { queries: [0, 1] }] });
  t.match(await agent.run(['search', '--also', 'moon']), {
    code: 2,
    err: /first question|What should I search for/,
  });
  t.match(await agent.run(['search', 'x', '--max-chars', '5']), { code: 2, err: /from 200 to 200000/ });
  t.match(await agent.run(['ingest', docs, '-r', '--meta', 'year']), { code: 2, err: /no NAME=VALUE/ });
});

/** Keeps the price that was told last. */
function priceTold() {
  let last: FolderPrice | undefined;
  const keep = (price: FolderPrice) => {
    last = price;
  };
  return { keep, told: () => last };
}

const LOOSE = {
  'gulls.txt': 'The lighthouse keeper counts gulls at dawn.',
  below: { 'tides.txt': 'Tides follow the moon.', 'broken.pdf': '%PDF-1.7 broken' },
  '.hidden': { 'secret.txt': 'not to be sent' },
};

t.test('one call uploads a folder, tells the price before and refusals after', async (t) => {
  const folder = t.testdir(LOOSE);
  const client = farthing();
  const { keep, told } = priceTold();
  const summary = await client.ingestFolder(folder, { onPrice: keep });
  t.match(told(), { files: 3, uploaded: 0, usd: '0.09' });
  t.match(summary, { ingested: 2, skipped: 0 });
  t.equal(summary.failed.length, 1);
  t.equal(client.spending.spentUsd, '0.06', 'what is refused costs nothing');

  writeFileSync(join(folder, 'more.txt'), 'Fog horns.');
  const again = await client.ingestFolder(folder, { onPrice: keep });
  t.match(told(), { files: 2, uploaded: 2 });
  t.match(again, { ingested: 1, skipped: 2 });
});

t.test('a price that is declined sends nothing', async (t) => {
  const client = farthing();
  const summary = await client.ingestFolder(t.testdir(LOOSE), { onPrice: () => false });
  t.match(summary, { ingested: 0, failed: [] });
  t.equal(client.spending.spentUsd, '0');
});
