import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { Farthing, type Workspace } from '../../../../../src/client/index.ts';
import type { ExportLine } from '../../../../../src/protocol/schema/export.ts';
import { startTestServer, TestAgent } from '../../../../rig/test-server.ts';

/** Items that are removed, replaced or added while an export runs. */

const samples = resolve(import.meta.dirname, '../../../../../samples');
const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const client = new Farthing({ baseUrl: server.url });
const rent = async (): Promise<Workspace> => client.workspaces.open(await agent.rent());

/** More than the sockets take while nobody reads: the export waits in it. */
const LARGE = Buffer.concat([readFileSync(`${samples}/chelsea.png`), Buffer.alloc(16 * 2 ** 20)]);

/** An export that waits in its first item while something happens. */
async function during(workspace: Workspace, work: () => Promise<unknown>) {
  const stream = workspace.export();
  const first = await stream.next();
  await work();
  const bytes = Buffer.concat([first.value!, await buffer(stream)]);
  const lines = bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ExportLine);
  const items = lines.flatMap((line) => (line.type === 'item' ? [line.item] : []));
  const fileOf = (id: string) =>
    Buffer.concat(
      lines.flatMap((line) =>
        line.type === 'content' && line.item === id ? [Buffer.from(line.base64, 'base64')] : [],
      ),
    );
  return { bytes, items, fileOf, names: items.map(({ name }) => name) };
}

async function large(): Promise<{ workspace: Workspace; id: string }> {
  const workspace = await rent();
  const { item } = await workspace.ingest(LARGE, { name: 'large.png' });
  return { workspace, id: item!.id };
}

t.test(
  'what is removed before its line is not in it, and an item behind its line keeps its file',
  async (t) => {
    const { workspace, id } = await large();
    const removed = await workspace.ingest(Buffer.from('Tides follow the moon.'), { name: 'tides.txt' });
    await workspace.ingest(Buffer.from('Moss grows on stones.'), { name: 'moss.txt' });
    const { names, fileOf, bytes } = await during(workspace, async () => {
      await workspace.remove(removed.item!.id);
      await workspace.remove(id);
    });
    t.same(names, ['large.png', 'moss.txt']);
    t.ok(fileOf(id).equals(LARGE));
    const to = await rent();
    t.match(await to.import(bytes), { imported: 2, failed: [], withoutFile: [] });
  },
);

t.test('an item that is replaced is there as it became', async (t) => {
  const { workspace } = await large();
  const old = await workspace.ingest(Buffer.from('The tide is low.'), { name: 'tide.txt', key: 'tide' });
  const now = Buffer.from('The tide is high.');
  const { names, items, fileOf, bytes } = await during(workspace, () =>
    workspace.ingest(now, { name: 'tide.txt', key: 'tide' }),
  );
  t.same(names, ['large.png', 'tide.txt']);
  t.not(items[1]!.id, old.item!.id);
  t.ok(fileOf(items[1]!.id).equals(now));
  const to = await rent();
  await to.import(bytes);
  t.match((await to.search({ query: 'tide', families: ['raw'] })).hits, [{ snippet: 'The tide is high.' }]);
});

t.test('a key that is replaced behind its line comes once', async (t) => {
  const workspace = await rent();
  const first = await workspace.ingest(LARGE, { name: 'large.png', key: 'tide' });
  const { items, fileOf, bytes } = await during(workspace, async () => {
    for (const now of ['The tide is low.', 'The tide is high.'])
      await workspace.ingest(Buffer.from(now), { name: 'tide.txt', key: 'tide' });
  });
  t.same(
    items.map(({ id, key }) => ({ id, key })),
    [{ id: first.item!.id, key: 'tide' }],
  );
  t.ok(fileOf(first.item!.id).equals(LARGE), 'the version that the export had met');
  t.match(await (await rent()).import(bytes), { imported: 1, failed: [], withoutFile: [] });
});
