import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import t from 'tap';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

const samples = resolve(import.meta.dirname, '../../../../samples');
const sample = (name: string) => new Uint8Array(readFileSync(join(samples, name)));
const server = await startTestServer(t);

t.test('a stored file is returned byte for byte, as an attachment and never as active content', async (t) => {
  const agent = new TestAgent(server.url);
  const workspace = await agent.rent();
  const page = '<!doctype html><title>Tides</title><script>alert(1)</script><p>Tides follow the moon.</p>';
  const html = await workspace.ingest('tides "1".html', page);
  const pdf = await workspace.ingest('almanac.pdf', sample('almanac.pdf'));
  const url = (item: string) => `${server.url}/agent/v1/workspaces/${workspace.id}/items/${item}/content`;
  const headers = { Authorization: `Bearer ${workspace.token}` };

  const given = await fetch(url(html.body.item.id), { headers });
  t.equal(given.status, 200);
  t.equal(await given.text(), page);
  t.match(Object.fromEntries(given.headers), {
    'content-type': 'text/html',
    'content-disposition': /^attachment; /,
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
    'content-length': String(page.length),
    'x-workspace-ttl-seconds': /^\d+$/,
  });
  const whole = new Uint8Array(await (await fetch(url(pdf.body.item.id), { headers })).arrayBuffer());
  t.ok(Buffer.from(whole).equals(sample('almanac.pdf')));
  const head = await fetch(url(pdf.body.item.id), { method: 'HEAD', headers });
  t.equal(head.headers.get('content-length'), String(whole.length));

  const etag = head.headers.get('etag')!;
  const part = async (range: string, more: Record<string, string> = {}) => {
    const reply = await fetch(url(pdf.body.item.id), { headers: { ...headers, Range: range, ...more } });
    const bytes = Buffer.from(await reply.arrayBuffer());
    const hex = bytes.subarray(0, 8).toString('hex');
    return { status: reply.status, range: reply.headers.get('content-range'), length: bytes.length, hex };
  };
  const size = whole.length;
  t.same(await part('bytes=5-9'), {
    status: 206,
    range: `bytes 5-9/${size}`,
    length: 5,
    hex: Buffer.from(whole.subarray(5, 10)).toString('hex'),
  });
  t.match(await part('bytes=-4'), { status: 206, range: `bytes ${size - 4}-${size - 1}/${size}` });
  t.match(await part(`bytes=${size - 2}-`, { 'If-Range': etag }), { status: 206 });
  for (const [range, more] of [
    ['bytes=5-9', { 'If-Range': '"other"' }],
    [`bytes=${size}-`, {}],
    ['bytes=1-2,4-5', {}],
    ['bytes=9-5', {}],
  ] as const)
    t.match(await part(range, more), { status: 200, range: null, length: size });
  t.equal(
    (await fetch(url(pdf.body.item.id), { headers: { ...headers, 'If-None-Match': etag } })).status,
    304,
  );

  const other = await agent.rent();
  t.match(await other.send('GET', `/items/${pdf.body.item.id}/content`), {
    status: 404,
    body: { code: 'item_not_found' },
  });
  t.match(await workspace.send('GET', '/items/nonsense/content'), { status: 404 });
  t.equal((await fetch(url(pdf.body.item.id))).status, 401);
});

t.test('after an extension every item says the new end of its workspace, wherever it is shown', async (t) => {
  const agent = new TestAgent(server.url);
  const workspace = await agent.rent();
  const text = 'The lighthouse keeper counts gulls at dawn.';
  const { item } = (await workspace.ingest('gulls.txt', text)).body;
  const extended = await agent.post(`/agent/v1/workspaces/${workspace.id}/extend`, { ttl_minutes: 60 });
  t.match(extended.body, { ttl_minutes: 60, ttl_minutes_asked: 60 });
  const minutes = (later: string, earlier: string) =>
    Math.round((Date.parse(later) - Date.parse(earlier)) / 60_000);
  const shown = [
    (await workspace.send('GET', '/items')).body.items[0],
    (await workspace.send('GET', `/items/${item.id}`)).body,
    (await workspace.search({ query: 'lighthouse' })).body.hits[0].item,
    (await workspace.ingest('gulls.txt', text)).body.item,
  ];
  for (const { id, expires_at } of shown) {
    t.equal(id, item.id);
    t.equal(minutes(expires_at, item.expires_at), 60);
    t.equal(minutes(expires_at, extended.body.expires_at), 0);
  }
});

t.test('a deleted item disappears from every family at once, with its file', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const cat = await workspace.ingest('chelsea.png', sample('chelsea.png'));
  const text = await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  const kept = await workspace.ingest('moon.txt', 'Tides follow the moon.');
  const image_b64 = Buffer.from(sample('chelsea.png')).toString('base64');

  for (const { body } of [cat, text]) {
    const removed = await workspace.send('DELETE', `/items/${body.item.id}`);
    t.match(removed, { status: 200, body: { id: body.item.id, state: 'deleted' } });
    t.match(await workspace.send('GET', `/items/${body.item.id}`), { status: 404 });
    t.match(await workspace.send('GET', `/items/${body.item.id}/content`), { status: 404 });
    t.match(await workspace.send('DELETE', `/items/${body.item.id}`), { status: 404 });
  }
  t.match(await workspace.search({ image_b64 }), { status: 200, body: { hits: { length: 0 } } });
  for (const query of [{ query: 'lighthouse', families: ['raw'] }, { query: 'who watches birds?' }]) {
    const { body } = await workspace.search(query);
    t.notOk(body.hits.some((hit: { item: { id: string } }) => hit.item.id !== kept.body.item.id));
  }
  t.match(await workspace.send('GET', '/items'), { body: { items: [{ id: kept.body.item.id }] } });
  t.match(await workspace.send('GET', '/usage'), { body: { items: 1, bytes: 22 } });
  t.same(await readdir(join(server.running.tenantFolder(workspace.id), 'files')), [kept.body.item.id]);

  const again = await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  t.notOk(again.body.duplicate, 'the same bytes may come again');
  t.match(again, { status: 200, body: { job: { state: 'searchable' } } });
});

t.test('a running ingest can be cancelled by its job or by its item, and leaves nothing', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const send = (text: string) => {
    const form = new FormData();
    form.set('file', new File([text], 'long.txt'));
    return workspace.send('POST', '/ingest', form);
  };
  const paragraph = 'The keeper of the lighthouse wrote a line about every gull that passed the lamp. ';
  const first = await send(`first ${paragraph.repeat(400)}`);
  const second = await send(`second ${paragraph.repeat(400)}`);
  t.match([first.status, second.status], [200, 200]);

  const cancelled = await workspace.send('DELETE', `/jobs/${first.body.job_id}`);
  t.match(cancelled, { status: 200, body: { id: first.body.job_id, state: 'cancelled' } });
  t.match(await workspace.send('DELETE', `/jobs/${first.body.job_id}`), {
    status: 409,
    body: { code: 'job_ended', state: 'cancelled' },
  });
  t.match(await workspace.send('DELETE', `/items/${second.body.item.id}`), { status: 200 });
  t.match(await workspace.send('GET', `/jobs/${second.body.job_id}`), { body: { state: 'cancelled' } });
  t.match(await workspace.send('GET', '/items'), { body: { items: { length: 0 } } });
  t.same(await readdir(join(server.running.tenantFolder(workspace.id), 'files')), []);
  t.match(await workspace.send('DELETE', '/jobs/job_nonsense'), { status: 404 });
});

t.test('pages of items continue one another; the last says so, and none starts over', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three', 'four'])
    ids.push((await workspace.ingest(`${name}.txt`, `Number ${name}.`)).body.item.id);
  const page = async (query: string) => {
    const { status, body } = await workspace.send('GET', `/items?limit=2${query}`);
    return status === 200
      ? { ids: body.items.map(({ id }: { id: string }) => id), next: body.next }
      : { status, code: body.code, field: body.field };
  };
  t.same(await page(''), { ids: ids.slice(0, 2), next: ids[1] });
  t.same(await page(`&after=${ids[1]}`), { ids: ids.slice(2), next: null });
  await workspace.send('DELETE', `/items/${ids[1]}`);
  const refused = { status: 400, code: 'field_invalid', field: 'after' };
  t.same(await page(`&after=${ids[1]}`), refused);
  t.same(await page('&after=nonsense'), refused);
});
