import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { deep } from '../../../rig/deep.ts';
import { startTestServer, TestAgent, type TestAnswer, type TestWorkspace } from '../../../rig/test-server.ts';

/** An uploader's own keys: one item has a key at a time, and a newer one takes its place in one commit. */

const server = await startTestServer(t, {}, { tenantLimits: { ingestsAtOnce: 64 } });
const agent = new TestAgent(server.url);

interface Labels {
  readonly metadata?: object;
  readonly name?: string;
  readonly headers?: Record<string, string>;
}

function put(
  of: TestWorkspace,
  key: string,
  content: string | Uint8Array<ArrayBuffer>,
  { metadata, name = 'log.txt', headers = { Prefer: 'wait=60' } }: Labels = {},
): Promise<TestAnswer> {
  const form = new FormData();
  form.set('key', key);
  if (metadata) form.set('metadata', JSON.stringify(metadata));
  form.set('file', new File([content], name));
  return of.send('POST', '/ingest', form, headers);
}

interface Listed {
  readonly id: string;
  readonly key?: string;
  readonly name: string;
  readonly state: string;
}
const items = async (of: TestWorkspace): Promise<Listed[]> =>
  (await of.send('GET', '/items?limit=100')).body.items;
/** Asks again where a busy machine answers `503 overloaded`. */
async function patiently(ask: () => Promise<TestAnswer>): Promise<TestAnswer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await setTimeout(100);
  }
}
const found = async (of: TestWorkspace, query: string): Promise<string[]> =>
  (await patiently(() => of.search({ query, families: ['raw'] }))).body.hits.map(
    (hit: { snippet: string }) => hit.snippet,
  );
const filesOf = ({ id }: TestWorkspace) => readdirSync(join(server.dataFolder, 'tenants', id, 'files'));

t.test('the same key with other bytes replaces the item; the same bytes change nothing', async (t) => {
  const workspace = await agent.rent();
  const first = await put(workspace, 'docs/größe.md', 'The harbour opens at six.');
  t.match(first, { status: 200, body: { item: { key: 'docs/größe.md', state: 'searchable' } } });
  t.match(await put(workspace, 'docs/größe.md', 'The harbour opens at six.'), {
    body: { duplicate: true, item: { id: first.body.item.id } },
  });
  t.match((await workspace.send('GET', '/usage')).body, { ingests: 1 });
  const second = await put(workspace, 'docs/größe.md', 'The harbour opens at seven.');
  t.notOk(second.body.duplicate);
  t.same(await found(workspace, 'harbour'), ['The harbour opens at seven.']);
  t.match(await items(workspace), [{ id: second.body.item.id, state: 'searchable' }]);
  t.equal((await items(workspace)).length, 1);
  t.equal((await workspace.send('GET', `/items/${first.body.item.id}`)).status, 404);
  t.same(filesOf(workspace), [second.body.item.id], 'its file is gone, too');
});

t.test('what cannot be read leaves the old version', async (t) => {
  const workspace = await agent.rent();
  await put(workspace, 'plan', 'The ferry leaves at noon.');
  const broken = await put(workspace, 'plan', '%PDF-1.7 of nothing', { name: 'plan.pdf' });
  t.not(broken.status, 200);
  t.same(await found(workspace, 'ferry'), ['The ferry leaves at noon.']);
});

t.test('a key is only written where it is as expected', async (t) => {
  const workspace = await agent.rent();
  const put412 = { status: 412, body: { code: 'precondition_failed' } };
  const absent = { headers: { 'If-None-Match': '*', Prefer: 'wait=60' } };
  const first = await put(workspace, 'k', 'The first.', absent);
  t.equal(first.status, 200);
  t.match(await put(workspace, 'k', 'The second.', absent), {
    ...put412,
    body: { item_id: first.body.item.id },
  });
  t.match(await put(workspace, 'k', 'The first.', absent), put412, 'the same bytes are no exception');
  const is = (id: string) => ({ headers: { 'If-Match': `"${id}"`, Prefer: 'wait=60' } });
  const second = await put(workspace, 'k', 'The second.', is(first.body.item.id));
  t.equal(second.status, 200);
  t.match(await put(workspace, 'k', 'The third.', is(first.body.item.id)), put412);
  t.match(await put(workspace, 'other', 'The third.', is(first.body.item.id)), {
    ...put412,
    body: { item_id: null },
  });
  t.same(await found(workspace, 'first second third'), ['The second.']);
  for (const [key, headers] of [
    ['', {}],
    ['x'.repeat(513), {}],
    ['a\u0007', {}],
    ['k', { 'If-None-Match': '"other"' }],
    ['k', { 'If-Match': 'two words' }],
  ] as const)
    t.match(await put(workspace, key, 'Refused.', { headers }), {
      status: 400,
      body: { code: 'field_invalid' },
    });
  const form = new FormData();
  form.set('file', new File(['Refused.'], 'x.txt'));
  t.match(await workspace.send('POST', '/ingest', form, { 'If-None-Match': '*' }), { status: 400 });
});

/** Sends 50 writers at once; polls what is found meanwhile. */
async function race(
  workspace: TestWorkspace,
  what: string,
  headers: Record<string, string>,
): Promise<{ readonly answers: readonly TestAnswer[]; readonly counts: ReadonlySet<number> }> {
  const [counts, ended] = [new Set<number>(), new AbortController()];
  const poll = (async () => {
    while (!ended.signal.aborted) counts.add((await found(workspace, 'writer')).length);
  })();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      patiently(() => put(workspace, 'raced', `Writer number ${at} ${what}.`, { headers })),
    ),
  );
  ended.abort();
  await poll;
  return { answers, counts };
}

for (let round = 0; round < deep(1, 20); round++)
  t.test(`of 50 writers one stays, and it is the last that was accepted: round ${round}`, async (t) => {
    const workspace = await agent.rent();
    await put(workspace, 'raced', 'Writer before all others.');
    const { answers, counts } = await race(workspace, 'was here', { Prefer: 'wait=60' });
    t.same([...counts], [1], 'there is always one, and never two');
    await onlyOne(t, workspace);
    const accepted = answers.filter(({ status }) => status === 200);
    t.equal(accepted.length, 50, JSON.stringify(answers.find(({ status }) => status !== 200)));
    const states = accepted.map(({ body }) => body.job.state);
    t.ok(states.every((state: string) => state === 'searchable' || state === 'failed'));
    const failed = accepted.filter(({ body }) => body.job.state === 'failed');
    t.ok(failed.every(({ body }) => body.job.error.code === 'item_replaced'));
  });

t.test('of 50 writers with a condition one is accepted', async (t) => {
  const workspace = await agent.rent();
  const absent = await race(workspace, 'came', { 'If-None-Match': '*', Prefer: 'wait=60' });
  t.same(absent.answers.map(({ status }) => status).sort(), [200, ...Array(49).fill(412)]);
  const [one] = await onlyOne(t, workspace);
  const later = await race(workspace, 'went', { 'If-Match': `"${one!.id}"`, Prefer: 'wait=60' });
  t.same(later.answers.map(({ status }) => status).sort(), [200, ...Array(49).fill(412)]);
  await onlyOne(t, workspace);
});

async function onlyOne(t: Test, workspace: TestWorkspace): Promise<Listed[]> {
  const left = await items(workspace);
  t.equal(left.length, 1);
  t.match(left, [{ key: 'raced', state: 'searchable' }]);
  t.equal((await found(workspace, 'writer')).length, 1);
  t.same(filesOf(workspace), [left[0]!.id]);
  return left;
}

t.test('a paid upload with a key replaces; the same again costs nothing', async (t) => {
  const payer = new TestAgent(server.url);
  const send = async (content: string, headers: Record<string, string> = {}) => {
    const form = new FormData();
    form.set('key', 'paid');
    form.set('file', new File([content], 'paid.txt'));
    const reply = await payer.fetch(`${server.url}/agent/v1/ingest`, {
      method: 'POST',
      body: form,
      headers: { Prefer: 'wait=60', ...headers },
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  t.match(await send('The first price.'), { body: { charged: true } });
  t.match(await send('The first price.'), { body: { charged: false, duplicate: true } });
  t.match(await send('The second price.'), { body: { charged: true } });
  t.match(await send('The third price.', { 'If-None-Match': '*' }), {
    status: 412,
    body: { code: 'precondition_failed' },
  });
  const { body } = await payer.post('/agent/v1/search', { query: 'price', families: ['raw'] });
  t.match(body.hits, [{ snippet: 'The second price.' }]);
  t.equal(body.hits.length, 1);
});
