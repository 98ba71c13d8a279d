import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Filter } from '../../../../../src/protocol/labels/filter.ts';
import type { Metadata } from '../../../../../src/protocol/labels/metadata.ts';
import { startTestServer, TestAgent, type TestWorkspace } from '../../../../rig/test-server.ts';

/** Filters of a search: by facts that the server knows of a file, and by its uploader's metadata. */

const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const workspace = await agent.rent();

async function upload(
  of: TestWorkspace,
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  metadata: Metadata | string,
): Promise<string> {
  const form = new FormData();
  form.set('metadata', typeof metadata === 'string' ? metadata : JSON.stringify(metadata));
  form.set('file', new File([content], name));
  const { status, body } = await of.send('POST', '/ingest', form, { Prefer: 'wait=60' });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.item.id;
}

const text = (about: string) => `The lighthouse keeper counts gulls at dawn: ${about}.`;
const ids = {
  old: await upload(workspace, 'Old.md', text('old'), { year: 2019, lang: 'de', draft: true }),
  middle: await upload(workspace, 'middle.txt', text('middle'), { year: 2022, lang: 'en' }),
  recent: await upload(workspace, 'recent.txt', text('recent'), { year: 2024, lang: 'fr', draft: false }),
};

t.test('a search finds what meets its filter, and nothing else', async (t) => {
  for (const [filter, names] of [
    [{}, ['Old.md', 'middle.txt', 'recent.txt']],
    [{ items: [ids.old, ids.recent] }, ['Old.md', 'recent.txt']],
    [{ items: [] }, []],
    [{ items: ['item_nowhere'] }, []],
    [{ name: 'old*' }, ['Old.md']],
    [{ name: ['old.md', 'm*.txt'] }, ['Old.md', 'middle.txt']],
    [{ media_type: ['text/plain', 'image/png'] }, ['middle.txt', 'recent.txt']],
    [{ media_type: 'image/*' }, []],
    [{ media_type: 'text/*' }, ['Old.md', 'middle.txt', 'recent.txt']],
    [{ created_after: '2020-01-01' }, ['Old.md', 'middle.txt', 'recent.txt']],
    [{ created_before: '2020-01-01T00:00:00Z' }, []],
    [{ metadata: { year: 2022 } }, ['middle.txt']],
    [{ metadata: { lang: ['de', 'fr'] } }, ['Old.md', 'recent.txt']],
    [{ metadata: { year: { gte: 2020, lte: 2024 } } }, ['middle.txt', 'recent.txt']],
    [{ metadata: { lang: { gt: 'de' } } }, ['middle.txt', 'recent.txt']],
    [{ metadata: { draft: { exists: true }, year: { lt: 2020 } } }, ['Old.md']],
    [{ metadata: { draft: true }, not: { name: '*.md' } }, []],
    [{ or: [{ metadata: { draft: false } }, { metadata: { year: 2022 } }] }, ['middle.txt', 'recent.txt']],
    [{ and: [{ not: { metadata: { lang: 'de' } } }, { name: '*r*' }] }, ['recent.txt']],
    [{ metadata: { year: '2022' } }, []],
  ] as const satisfies readonly (readonly [Filter, readonly string[]])[])
    for (const families of [['raw'], ['text_semantic'], undefined]) {
      const { status, body } = await workspace.search({ query: 'lighthouse keeper', families, filter });
      t.equal(status, 200);
      const found = body.hits.map(({ item }: { item: { name: string } }) => item.name).sort();
      t.same(found, [...names], `${JSON.stringify(filter)} ${families}`);
      t.equal(body.exact, true, 'the proof holds with a filter');
      if (names.length === 0) t.match(body, { answered: false, reason: 'nothing_in_filter' });
    }
});

t.test('metadata is shown with its item, and where it is not valid nothing is stored', async (t) => {
  const { body } = await workspace.send('GET', `/items/${ids.recent}`);
  t.strictSame(body.metadata, { draft: false, lang: 'fr', year: 2024 });
  for (const metadata of ['{', '[]', '{"a": {}}', `{"a": "${'x'.repeat(5000)}"}`]) {
    const form = new FormData();
    form.set('file', new File(['refused'], 'refused.txt'));
    form.set('metadata', metadata);
    t.match(await workspace.send('POST', '/ingest', form), {
      status: 400,
      body: { code: 'field_invalid', field: 'metadata' },
    });
  }
  const raw = await workspace.send('POST', '/ingest', 'sent as it is', {
    'Content-Disposition': 'attachment; filename="raw.txt"',
    'Item-Metadata': '{"sent":"r\\u00e4w"}',
    Prefer: 'wait=60',
  });
  t.match(raw.body.item, { name: 'raw.txt', metadata: { sent: 'räw' } });
  const again = await uploadAgain(workspace, 'raw.txt', 'sent as it is', { sent: 'other' });
  t.match(again, { duplicate: true, item: { metadata: { sent: 'räw' } } });
  t.match(again.warnings, [/other metadata/]);
});

async function uploadAgain(of: TestWorkspace, name: string, content: string, metadata: Metadata) {
  const form = new FormData();
  form.set('file', new File([content], name));
  form.set('metadata', JSON.stringify(metadata));
  return (await of.send('POST', '/ingest', form)).body;
}

t.test('files inside an archive have its metadata, and its id stands for them', async (t) => {
  const folder = t.testdir({ docs: { 'one.txt': text('inside one'), 'two.md': text('inside two') } });
  execFileSync('tar', ['-C', folder, '-czf', join(folder, 'docs.tar.gz'), 'docs']);
  const archive = await upload(workspace, 'docs.tar.gz', readFileSync(join(folder, 'docs.tar.gz')), {
    box: 7,
  });
  const names = async (filter: Filter) => {
    const { body } = await workspace.search({ query: 'lighthouse keeper', filter });
    return body.hits.map(({ item }: { item: { name: string } }) => item.name).sort();
  };
  t.same(await names({ metadata: { box: 7 } }), ['one.txt', 'two.md']);
  t.same(await names({ items: [archive] }), ['one.txt', 'two.md']);
  t.same(await names({ name: 'docs/*.md' }), ['two.md']);
  await workspace.send('DELETE', `/items/${archive}`);
  t.same(await names({ metadata: { box: 7 } }), []);
});

t.test('a filter that is not valid is refused before anything is searched', async (t) => {
  for (const filter of [5, { nam: 'x' }, { metadata: { a: { ge: 1 } } }])
    t.match(await workspace.search({ query: 'x', filter }), {
      status: 400,
      body: { code: 'field_invalid', field: 'filter' },
    });
  for (const name of ['filters', 'where', 'filter_by', 'query_filter', 'Filter', 'file']) {
    const meant = { status: 400, body: { code: 'field_invalid', field: name, detail: /Write "filter"/ } };
    t.match(await workspace.search({ query: 'x', [name]: { media_type: 'text/plain' } }), meant, name);
    t.match(
      await workspace.search({ queries: [{ query: 'x', [name]: 'x' }] }),
      meant,
      `${name} of a question`,
    );
  }
  const { status, body } = await workspace.search({ query: 'x', top_k: 3, colour: 'red' });
  t.match(
    { status, warnings: body.warnings },
    { status: 200, warnings: [/colour/, /top_k.*Did you mean k\?/] },
  );
  const unpaid = await fetch(`${server.url}/agent/v1/search`, { method: 'POST', body: '{"filter": 5}' });
  t.equal(unpaid.status, 402, 'what is not paid is quoted');
});

t.test('a paid search and upload take the same', async (t) => {
  const form = new FormData();
  form.set('file', new File([text('paid')], 'paid.txt'));
  form.set('metadata', '{"paid": true}');
  const paid = await agent.fetch(`${server.url}/agent/v1/ingest`, {
    method: 'POST',
    body: form,
    headers: { Prefer: 'wait=60' },
  });
  t.match(await paid.json(), { charged: true, item: { metadata: { paid: true } } });
  const found = await agent.post('/agent/v1/search', {
    query: 'gulls',
    filter: { metadata: { paid: true } },
  });
  t.equal(found.body.hits.length, 1);
  const none = await agent.post('/agent/v1/search', {
    query: 'gulls',
    filter: { metadata: { paid: false } },
  });
  t.match(none.body, { hits: [], reason: 'nothing_in_filter', charged: true });
});
