import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { Farthing, type Workspace } from '../../../../../src/client/index.ts';
import { printable } from '../../../../../src/protocol/file/file-name.ts';
import { zipOf } from '../../../../readers/samples/archives.ts';
import { deep } from '../../../../rig/deep.ts';
import { startTestServer, TestAgent } from '../../../../rig/test-server.ts';

/** Everything in a workspace as lines of JSON, and back into another. */

const samples = resolve(import.meta.dirname, '../../../../../samples');
const picture = new Uint8Array(readFileSync(`${samples}/chelsea.png`));
const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const client = new Farthing({ baseUrl: server.url });
const rent = async (): Promise<Workspace> => client.workspaces.open(await agent.rent());

/** More than a page of items. */
const NOTES = deep(120, 1000);
/** More than the sockets take while nobody reads. */
const TRAILER_BYTES = 40 * 2 ** 20;
const NAMES = ['a "quoted" \\ name.txt', 'наблюдения 📓.txt', 'line\u2028break.txt', 'same.txt', 'same.txt'];

const exported = (workspace: Workspace): Promise<Buffer> => buffer(workspace.export());

const linesIn = (bytes: Buffer) =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string });

async function found(workspace: Workspace, query: string) {
  const { hits, answered } = await workspace.search({ query, k: 20 });
  return {
    answered,
    hits: hits.map(({ item, locator, confidence, family }) => ({
      name: item.name,
      key: item.key,
      locator,
      confidence,
      family,
    })),
  };
}

t.test('what is exported and imported answers as before', async (t) => {
  const [from, to] = [await rent(), await rent()];
  for (const [index, name] of NAMES.entries())
    await from.ingest(Buffer.from(`The keeper of lighthouse ${index} counts ${name}.`), {
      name,
      key: `keys/${printable(name)}/${index}`,
      metadata: { year: 2020 + index, odd: 'ü"\\' },
    });
  await from.ingest(picture, { name: 'cat.png' });
  await from.ingest(picture, { name: 'Chelsea at home.png' });
  await from.ingest(`${samples}/almanac.pdf`);
  const notes = Array.from({ length: NOTES }, (_, index) => ({
    source: Buffer.from(`Note ${index}: gulls were seen ${index} times.`),
    name: `${index}.txt`,
  }));
  await from.ingestMany(notes);

  const bytes = await exported(from);
  const lines = linesIn(bytes);
  t.match(lines[0], { type: 'workspace', format: 1, workspace: from.id, content: true });
  const items = lines.filter(({ type }) => type === 'item');
  const uploads = NAMES.length + 2 + NOTES;
  t.equal(items.length, uploads);
  t.match(lines.at(-1), { type: 'end', items: uploads });
  t.equal(new Set(items.map(({ item }) => (item as { id: string }).id)).size, uploads, 'each once');
  t.match(
    lines.find(({ type }) => type === 'passages'),
    { passages: [{ text: /keeper of lighthouse 0/, locator: {} }] },
  );

  t.match(await to.import(bytes), { imported: uploads, failed: [], withoutFile: [] });
  for (const query of [
    'who counts?',
    'how do insects tell where flowers are?',
    'gulls 77 times',
    'Chelsea at home',
  ])
    t.same(await found(to, query), await found(from, query), query);
  const again = linesIn(await exported(to)).flatMap(({ item }) => (typeof item === 'object' ? [item] : []));
  const told = (list: readonly unknown[]) =>
    list.map((item) => {
      const { name, aliases, key, metadata, sha256 } = item as Record<string, unknown>;
      return { name, aliases, key, metadata, sha256 };
    });
  t.same(told(again), told(items.map(({ item }) => item)), 'in the same order');
  t.match(await to.import(bytes), { imported: 0, failed: [] }, 'once more changes nothing');
});

t.test('files in archives come with these, once', async (t) => {
  const [from, to] = [await rent(), await rent()];
  const inner = zipOf({ 'deep/keeper.txt': 'The keeper of the inner light counts petrels.' });
  const archive = zipOf({ 'gulls.txt': 'Gulls follow the plough inland.', 'inner.zip': inner });
  await from.ingest(archive, { name: 'notes.zip', key: 'notes', metadata: { year: 2024 } });
  const bytes = await exported(from);
  const lines = linesIn(bytes);
  const items = lines.flatMap(({ item }) => (typeof item === 'object' ? [item as { path?: string }] : []));
  t.same(
    items
      .map(({ path }) => path)
      .filter(Boolean)
      .toSorted(),
    ['deep/keeper.txt', 'gulls.txt', 'inner.zip'],
  );
  t.match(lines.at(-1), { type: 'end', items: 4, bytes: archive.length }, 'the archive’s bytes alone');
  t.match(await to.import(bytes), { imported: 1, unchanged: 0, failed: [], withoutFile: [] });
  for (const query of ['who counts petrels?', 'what follows the plough?'])
    t.same(await found(to, query), await found(from, query), query);
  const filter = { metadata: { year: 2024 } };
  const [mine, theirs] = [
    await from.search({ query: 'petrels', filter }),
    await to.search({ query: 'petrels', filter }),
  ];
  t.equal(theirs.hits.length, mine.hits.length);
  t.match(await to.import(bytes), { imported: 0, unchanged: 1 });
});

t.test('what is incomplete or no export is told', async (t) => {
  const [from, to] = [await rent(), await rent()];
  await from.ingest(Buffer.from('Tides follow the moon.'), { name: 'tides.txt' });
  const bytes = await exported(from);
  const lines = bytes.toString().trimEnd().split('\n');
  const cut = { code: 'source_unreadable', message: /incomplete/ };
  await t.rejects(to.import(Buffer.from(`${lines.slice(0, -1).join('\n')}\n`)), cut);
  await t.rejects(to.import(bytes.subarray(0, -9)), cut);
  await t.rejects(to.import(Buffer.from('Tides.\n')), { message: /no export/ });
  await t.rejects(to.import(Buffer.from(`${lines.at(-1)!}\n`)), { message: /no export/ });
  const none = [lines[0], lines.at(-1)!.replace(/"items":\d+/, '"items":5'), ''].join('\n');
  await t.rejects(to.import(Buffer.from(none)), { message: /hold 5 items, and 0 came/ });
  const content = lines.find((line) => line.startsWith('{"type":"content"'))!;
  async function* endless() {
    for (const line of lines.slice(0, lines.indexOf(content))) yield Buffer.from(`${line}\n`);
    for (;;) yield Buffer.from(`${content}\n`);
  }
  await t.rejects(to.import(endless()), { message: /is to have 22 bytes, and has others/ });
  const texts = await buffer(from.export({ content: false }));
  t.notMatch(texts.toString(), '"base64"');
  await t.rejects(to.import(texts), { message: /holds no files/ });
  await t.rejects(to.import(Buffer.from(bytes.toString().replace('"format":1', '"format":2'))), {
    message: /format 2/,
  });
  const url = `${server.url}/agent/v1/workspaces/${from.id}/export`;
  const other = await fetch(`${url}?content=1`, { headers: { Authorization: `Bearer ${from.token}` } });
  t.equal(other.status, 400);
  t.equal((await fetch(url, { headers: { Authorization: `Bearer ${to.token}` } })).status, 401);
});

t.test('a workspace gives one export at a time, and its end cuts it', async (t) => {
  const workspace = await rent();
  const large = Buffer.concat([picture, Buffer.alloc(TRAILER_BYTES)]);
  await workspace.ingest(large, { name: 'large.png' });
  const url = `${server.url}/agent/v1/workspaces/${workspace.id}/export?content=true`;
  const headers = { Authorization: `Bearer ${workspace.token}` };
  const lines = workspace.export();
  t.equal((await lines.next()).done, false);
  t.equal((await fetch(url, { headers })).status, 429);
  const ended = fetch(url.replace(/\/export.*/, ''), { method: 'DELETE', headers });
  await t.rejects(buffer(lines), { code: 'source_unreadable', message: /incomplete/ });
  t.equal((await ended).status, 200);
});
