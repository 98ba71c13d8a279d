import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { writeFilm } from '../../../readers/samples/films.ts';
import { deep } from '../../../rig/deep.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

const samples = resolve(import.meta.dirname, '../../../../samples');
const sample = (name: string) => new Uint8Array(readFileSync(join(samples, name)));
const server = await startTestServer(t);
const agent = new TestAgent(server.url);

t.test('a workspace serves previews, caches them, and removes them with their item', async (t) => {
  const workspace = await agent.rent();
  const pdf = (await workspace.ingest('almanac.pdf', sample('almanac.pdf'))).body.item;
  const picture = (await workspace.ingest('coffee.png', sample('coffee.png'))).body.item;
  const text = (await workspace.ingest('tea.txt', sample('tea.txt'))).body.item;
  const ask = (item: string, query = '') =>
    fetch(`${server.url}/agent/v1/workspaces/${workspace.id}/items/${item}/preview${query}`, {
      headers: { Authorization: `Bearer ${workspace.token}` },
    });

  const first = await ask(picture.id);
  t.equal(first.status, 200);
  t.match(Object.fromEntries(first.headers), {
    'content-type': 'image/webp',
    'x-content-type-options': 'nosniff',
    'content-security-policy': /sandbox/,
    'cache-control': /no-store/,
    'x-workspace-ttl-seconds': /^\d+$/,
  });
  const small = Buffer.from(await first.arrayBuffer());
  const { format, width = 0, height = 0 } = await sharp(small).metadata();
  t.equal(format, 'webp');
  t.ok(Math.max(width, height) <= 720);
  t.ok(Math.abs(width / height - picture.width / picture.height) < 0.02, 'the proportions are kept');
  t.ok(Buffer.from(await (await ask(picture.id)).arrayBuffer()).equals(small), 'the same again');

  const pages = await Promise.all(
    [1, 2].map(async (page) => Buffer.from(await (await ask(pdf.id, `?page=${page}`)).arrayBuffer())),
  );
  for (const page of pages) t.match(await sharp(page).metadata(), { format: 'webp' });
  t.notOk(pages[0]!.equals(pages[1]!));

  const refused = async (query: Promise<Response>) => {
    const response = await query;
    const { code } = (await response.json()) as { code: string };
    return { status: response.status, code };
  };
  t.same(await refused(ask(pdf.id, '?page=99')), { status: 400, code: 'field_invalid' });
  t.same(await refused(ask(pdf.id, '?page=0')), { status: 400, code: 'field_invalid' });
  t.same(await refused(ask(picture.id, '?time_s=3.0333333333333337')), {
    status: 422,
    code: 'preview_unavailable',
  });
  t.same(await refused(ask(pdf.id, '?time_s=now')), { status: 400, code: 'field_invalid' });
  t.same(await refused(ask(picture.id, '?time_s=3')), { status: 422, code: 'preview_unavailable' });
  t.same(await refused(ask(text.id)), { status: 422, code: 'preview_unavailable' });
  t.same(await refused(ask(`item_${'0'.repeat(32)}`)), { status: 404, code: 'item_not_found' });
  const foreign = await agent.rent();
  t.match(await foreign.send('GET', `/items/${picture.id}/preview`), { status: 404 });

  const folder = join(server.running.tenantFolder(workspace.id), 'previews');
  t.same(
    (await readdir(folder)).sort(),
    [`${pdf.id}.1.webp`, `${pdf.id}.2.webp`, `${picture.id}.1.webp`].sort(),
  );
  await workspace.send('DELETE', `/items/${pdf.id}`);
  t.same(await readdir(folder), [`${picture.id}.1.webp`]);
  t.match(await workspace.send('GET', `/items/${pdf.id}/preview`), { status: 404 });
  t.equal((await workspace.send('DELETE', '')).status, 200);
  t.equal((await ask(picture.id)).status, 401);
  await t.rejects(readdir(folder), { code: 'ENOENT' });
});

t.test('a payer pays the item’s price for a preview, and nothing for a refusal', async (t) => {
  const payer = new TestAgent(server.url);
  const { item } = (await payer.ingest('almanac.pdf', sample('almanac.pdf'))).body;
  const path = `/agent/v1/items/${item.id}/preview`;
  const unpaid = await fetch(server.url + path);
  t.equal(unpaid.status, 402);
  const { accepts } = (await unpaid.json()) as { accepts: { maxAmountRequired: string }[] };
  t.equal(accepts[0]!.maxAmountRequired, '2000');
  const paid = await payer.fetch(`${server.url}${path}?page=2`);
  t.equal(paid.status, 200);
  t.equal(paid.headers.get('content-type'), 'image/webp');
  t.ok(paid.headers.get('payment-response'));
  t.match(await sharp(Buffer.from(await paid.arrayBuffer())).metadata(), { format: 'webp' });
  const refused = await payer.get(`${path}?page=99`);
  t.match(refused, { status: 400, body: { code: 'field_invalid', charged: false } });
  t.notOk(refused.headers.get('payment-response'));
});

const REAL_FILM = resolve(
  import.meta.dirname,
  '../../../../../shared/data/samples/video/bottle-detection.mp4',
);

/** Seconds of one colour, then of another. */
async function twoColours(path: string): Promise<string> {
  const colours = await Promise.all(
    ['#c03020', '#2030c0'].map((background) =>
      sharp({ create: { width: 160, height: 96, channels: 3, background } })
        .jpeg()
        .toBuffer(),
    ),
  );
  const frames = Array.from({ length: 16 }, (_, at) => ({
    ms: at * 1000,
    data: colours[Number(at >= 8)]!,
    lasts: 1000,
  }));
  writeFilm(path, 'mov', { width: 160, height: 96, frames });
  return path;
}

t.test('moments of a film are shown, and differ', async (t) => {
  const film = deep(false, existsSync(REAL_FILM))
    ? REAL_FILM
    : await twoColours(join(t.testdir(), 'film.mov'));
  const workspace = await agent.rent();
  const { item } = (await workspace.ingest('film', new Uint8Array(readFileSync(film)))).body;
  const at = async (second: number) => {
    const url = `${server.url}/agent/v1/workspaces/${workspace.id}/items/${item.id}/preview?time_s=${second}`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${workspace.token}` } });
    t.equal(response.status, 200);
    return Buffer.from(await response.arrayBuffer());
  };
  const [start, later] = [await at(0), await at(12)];
  t.match(await sharp(later).metadata(), { format: 'webp' });
  t.notOk(start.equals(later));
});
