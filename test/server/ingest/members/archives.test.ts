import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { tarGzOf, tarOf, zipOf } from '../../../readers/samples/archives.ts';
import { emptyPdf } from '../../../readers/samples/hostile.ts';
import { startTestServer, TestAgent, type TestWorkspace } from '../../../rig/test-server.ts';

const WAIT = { Prefer: 'wait=60' };
/** Shared by the tests that do not stop theirs. */
const server = await startTestServer(t);

async function members(workspace: TestWorkspace, parent: string) {
  return (await workspace.send('GET', `/items?parent=${parent}&limit=200`)).body.items;
}

function upload(
  workspace: TestWorkspace,
  name: string,
  bytes: Buffer,
  headers: Record<string, string> = WAIT,
) {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(bytes)], name));
  return workspace.send('POST', '/ingest', form, headers);
}

function filesOf(dataFolder: string, tenant: string): string[] {
  return readdirSync(join(dataFolder, 'tenants', tenant, 'files'));
}

t.test('each file in an archive is an item under the archive', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const inner = zipOf({
    'deep/wolves.txt': 'Grey wolves hunt elk in winter.',
    'third.zip': zipOf({ 'x.txt': 'x' }),
  });
  const sent = await upload(
    workspace,
    'all.tar.gz',
    tarGzOf({
      'notes/gulls.txt': 'The lighthouse keeper counts gulls at dawn.',
      'rocket.jpg': readFileSync('samples/rocket.jpg'),
      'empty.pdf': emptyPdf(),
      'inner.zip': inner,
      '../../../escaped.txt': 'Names lead nowhere, whatever they say.',
    }),
  );
  t.match(sent.body, {
    item: {
      media_type: 'application/gzip',
      state: 'searchable',
      members: 5,
      members_failed: 1,
      families: ['visual', 'text_semantic', 'raw'],
    },
    job: { state: 'searchable', progress: 1 },
  });
  const archive = sent.body.item.id;
  const found = await members(workspace, archive);
  t.match(found, [
    { path: 'notes/gulls.txt', name: 'gulls.txt', parent_item_id: archive, state: 'searchable' },
    { path: 'rocket.jpg', families: ['visual', 'raw'] },
    { path: 'empty.pdf', state: 'failed', error: { code: 'file_corrupt' } },
    { path: 'inner.zip', members: 2, members_failed: 1 },
    { path: 'escaped.txt', state: 'searchable' },
  ]);
  const deeper = await members(workspace, found[3].id);
  t.match(deeper, [
    { path: 'deep/wolves.txt', state: 'searchable', parent_item_id: found[3].id },
    { path: 'third.zip', state: 'failed', error: { code: 'document_too_large' } },
  ]);
  const { hits } = (await workspace.search({ query: 'which predators hunt deer in the cold season?' })).body;
  t.match(hits[0], { item: { id: deeper[0].id, path: 'deep/wolves.txt' } });
  const single = await fetch(
    `${server.url}/agent/v1/workspaces/${workspace.id}/items/${found[0].id}/content`,
    {
      headers: { Authorization: `Bearer ${workspace.token}` },
    },
  );
  t.equal(await single.text(), 'The lighthouse keeper counts gulls at dawn.');
  t.match(
    (await workspace.ingest('again.txt', 'The lighthouse keeper counts gulls at dawn.')).body,
    { duplicate: true, item: { id: found[0].id } },
    'bytes that came in an archive are recognised',
  );
  const usage = (await workspace.send('GET', '/usage')).body;
  t.equal(usage.ingests, 1, 'an archive is one ingest');

  await workspace.send('DELETE', `/items/${found[1].id}`);
  t.equal((await members(workspace, archive)).length, 4, 'one of them can be removed alone');
  await workspace.send('DELETE', `/items/${archive}`);
  t.same((await workspace.send('GET', '/items')).body.items, [], 'with the archive go its files');
  t.same((await workspace.search({ query: 'gulls' })).body.hits, []);
  t.same(filesOf(server.dataFolder, workspace.id), []);
});

t.test('bytes that the tenant already has become no second item', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  await workspace.ingest('tea.txt', readFileSync('samples/tea.txt', 'utf8'));
  const { body } = await upload(
    workspace,
    'two.tar',
    tarOf({ 'copy-of-tea.txt': readFileSync('samples/tea.txt'), 'new.txt': 'New words about otters.' }),
  );
  t.match(body.item, { members: 2, members_duplicate: 1, state: 'searchable' });
  t.match(await members(workspace, body.item.id), [{ path: 'new.txt' }]);
  const { hits } = (await workspace.search({ query: 'copy of tea' })).body;
  t.match(hits[0].item, { name: 'tea.txt', aliases: ['copy-of-tea.txt'] }, 'and is found by its name there');
  t.equal(filesOf(server.dataFolder, workspace.id).length, 3, 'tea, the archive, and what was new');
});

t.test('an archive with nothing readable fails with its file’s reason, and leaves only that', async (t) => {
  const agent = new TestAgent(server.url);
  const first = await agent.ingest('bad.zip', new Uint8Array(zipOf({ 'a.bin': Buffer.alloc(3000, 1) })));
  t.match(first.body, {
    charged: true,
    job: { state: 'failed', error: { code: 'media_type_unsupported', detail: /None of the 1 files/ } },
  });
  const second = await agent.ingest('good.zip', new Uint8Array(zipOf({ 'a.txt': 'Readable words.' })));
  t.match(
    second.body,
    { charged: false, credit_used: true, job: { state: 'searchable' } },
    'one payment, one credit',
  );
});

t.test('cancelling an archive removes everything unpacked from it', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [
      `${index}.txt`,
      `Note ${index}: words about sheep number ${index}.`,
    ]),
  );
  const { body } = await upload(workspace, 'many.zip', zipOf(many), {});
  const path = `/jobs/${body.job_id}`;
  // Some are searchable already.
  for (;;) {
    const { state, segments } = (await workspace.send('GET', path)).body;
    if (state === 'encoding' && segments > 2) break;
    if (state === 'searchable') return t.comment('too fast to be cancelled');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const [first] = await members(workspace, body.item.id);
  const early = await workspace.send('DELETE', `/items/${first.id}`);
  if (early.status === 200) return t.comment('too fast to be cancelled');
  t.match(early, { status: 409, body: { code: 'item_in_progress', job_id: body.job_id } });
  const { status, body: cancelled } = await workspace.send('DELETE', path);
  if (status === 409) return t.comment('too fast to be cancelled');
  t.equal(cancelled.state, 'cancelled');
  t.same((await workspace.send('GET', '/items')).body.items, []);
  t.same((await workspace.search({ query: 'sheep' })).body.hits, []);
  t.same(filesOf(server.dataFolder, workspace.id), []);
});

t.test('an archive interrupted by the end of the server resumes, each file once', async (t) => {
  const folder = `${t.testdir({})}/data`;
  const first = await startTestServer(t, { DATA_DIR: folder });
  const workspace = await new TestAgent(first.url).rent();
  const many = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [
      `${index}.txt`,
      `Note ${index}: words about sheep number ${index}.`,
    ]),
  );
  const { body } = await upload(workspace, 'many.zip', zipOf(many), {});
  await first.stop();
  const second = await startTestServer(t, { DATA_DIR: folder });
  const again = `${second.url}/agent/v1/workspaces/${workspace.id}`;
  const ask = async <Answer>(path: string): Promise<Answer> =>
    (await (
      await fetch(again + path, { headers: { Authorization: `Bearer ${workspace.token}` } })
    ).json()) as Answer;
  let job = await ask<{ state: string }>(`/jobs/${body.job_id}`);
  while (!['searchable', 'failed'].includes(job.state)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    job = await ask(`/jobs/${body.job_id}`);
  }
  t.match(job, { state: 'searchable', segments: 30 });
  t.equal((await ask<{ items: object[] }>('/items?limit=200')).items.length, 31);
});
