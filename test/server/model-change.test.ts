import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { Library } from '../../src/encode/models/library.ts';
import { CACHE, SHARED } from '../encode/rig/embedded.ts';
import { clip, folderOf, potion } from '../encode/rig/other-models.ts';
import { onlyDeep } from '../rig/deep.ts';
import { ServedProcess } from '../rig/served-process.ts';
import { startTestServer, TestAgent, type TestServer, TestWorkspace } from '../rig/test-server.ts';

/** A change of model over HTTP: what was stored by one model is found throughout, and in the end by the other. */

const skip = existsSync(join(SHARED, 'models')) ? false : 'the other models are not here';
const SAMPLES = join(import.meta.dirname, '../../samples');
const GULLS = 'The lighthouse keeper counts gulls at dawn.';
const BREAD = 'Bread rises because yeast turns sugar into gas.';
const BIRDS = { query: 'who watches birds in the morning?', families: ['text_semantic'], explain: true };
const BAKING = { query: 'why does dough become larger?', families: ['text_semantic'] };
const MINILM = 'all-MiniLM-L6-v2';
const POTION = 'potion-base-2M';

interface Reencoding {
  readonly tenants_left: number;
  readonly segments_done: number;
  readonly segments_given_up: number;
  readonly tenants_failed: number;
}

async function reencoding(url: string): Promise<Reencoding | undefined> {
  const body = (await (await fetch(`${url}/readyz`)).json()) as { reencoding?: Reencoding };
  return body.reencoding;
}

/** Resolves when no change of model is under way; `each` runs over and over until then. */
async function untilChanged(url: string, each: () => Promise<void>): Promise<void> {
  while (await reencoding(url)) {
    await each();
    await pause(5);
  }
}

/** Some hundred passages about nothing that is asked for. */
function long(words: number): string {
  const stock = 'river copper harvest engine velvet orbit candle marble thunder pepper canal ivory'.split(
    ' ',
  );
  const at = (index: number) => stock[(index * 7919 + (index >> 3) * 31) % stock.length];
  return Array.from({ length: words }, (_, index) => `${at(index)}${index % 12 === 11 ? '.' : ''}`).join(' ');
}

const again = (url: string, { id, token }: TestWorkspace) => new TestWorkspace(url, id, token);

async function best(workspace: TestWorkspace, search: object) {
  const { status, body } = await workspace.search(search);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.hits[0];
}

/** The list's own score of the best hit, which tells the model. */
const scoreOf = (hit: { explanation: { lists: { raw_score: number }[] } }) =>
  hit.explanation.lists[0]!.raw_score;

async function textModels(t: Test): Promise<{ folder: string; environment: Record<string, string> }> {
  const folder = t.testdir();
  await folderOf(folder, [await potion()], { text_semantic: POTION, visual: 'mobilenet-v2' });
  return { folder, environment: { MODELS_DIR: folder, DATA_DIR: join(folder, 'data') } };
}

t.test(
  'text is found before, during and after a change of model, over crashes, and back again',
  { skip: onlyDeep || skip },
  async (t) => {
    const { folder, environment } = await textModels(t);
    const library = new Library(folder, CACHE);
    let server: TestServer = await startTestServer(t, environment);
    const agent = new TestAgent(server.url);
    const [rented, doomed] = [await agent.rent({ ttl_minutes: 60 }), await agent.rent({ ttl_minutes: 60 })];
    t.match(await rented.ingest('gulls.md', `# On the coast\n\n${GULLS}`), { status: 200 });
    for (const workspace of [rented, doomed])
      t.match(await workspace.ingest('long.txt', long(24_000)), { status: 200 });
    t.match(await best(rented, BIRDS), { item: { name: 'gulls.md' } });
    const byPotion = scoreOf(await best(rented, BIRDS));
    await server.stop();

    await library.use(MINILM);
    const log = join(folder, 'server.log');
    const crashing = await ServedProcess.start(t, { data: environment.DATA_DIR!, log, environment });
    const during = again(crashing.url, rented);
    const started = await reencoding(crashing.url);
    t.ok(started, 'a change is under way, and said so');
    t.match(await best(during, BIRDS), { item: { name: 'gulls.md' } });
    t.equal(scoreOf(await best(during, BIRDS)), byPotion, 'the former model answers until all is there');
    t.match(await during.ingest('bread.md', BREAD), { status: 200 });
    t.match(
      await best(during, BAKING),
      { item: { name: 'bread.md' } },
      'what comes meanwhile is found at once',
    );
    for (let now = started; now?.segments_done === 0; now = await reencoding(crashing.url)) await pause(5);
    await crashing.kill();
    const lines = (await readFile(log, 'utf8'))
      .split('\n')
      .filter((line) => line.includes('"model_changed"'));
    t.match(
      lines.map((line) => JSON.parse(line)),
      [
        {
          role: 'text_semantic',
          from: /^potion-base-2M/,
          to: /^all-MiniLM-L6-v2 \(model_int8.onnx on (native|cpu)\)$/,
        },
      ],
    );

    server = await startTestServer(t, environment);
    t.ok(await reencoding(server.url), 'it goes on');
    const ended = again(server.url, doomed);
    t.match(await ended.send('DELETE', ''), { status: 200 });
    t.notOk(existsSync(server.running.tenantFolder(doomed.id)), 'an end in the middle leaves nothing');
    const resumed = again(server.url, rented);
    await untilChanged(server.url, async () => {
      t.match(await best(resumed, BIRDS), { item: { name: 'gulls.md' } });
      t.match(await best(resumed, BAKING), { item: { name: 'bread.md' } });
    });
    t.notOk(existsSync(server.running.tenantFolder(doomed.id)), 'and nothing came back');
    const byMiniLM = scoreOf(await best(resumed, BIRDS));
    t.not(byMiniLM, byPotion);
    const fresh = await new TestAgent(server.url).rent({});
    await fresh.ingest('gulls.md', `# On the coast\n\n${GULLS}`);
    t.equal(byMiniLM, scoreOf(await best(fresh, BIRDS)), 'as if the new model had filled the index');
    t.match(await best(resumed, BAKING), { item: { name: 'bread.md' } });
    const all = await resumed.search({ query: 'river copper', families: ['text_semantic'], k: 1000 });
    t.equal(
      new Set(all.body.hits.map((hit: { item: { name: string } }) => hit.item.name)).size,
      3,
      'nothing is lost',
    );
    await server.stop();

    await library.use(POTION);
    server = await startTestServer(t, environment);
    const back = again(server.url, rented);
    await untilChanged(server.url, async () => {
      t.match(await best(back, BAKING), { item: { name: 'bread.md' } });
    });
    t.equal(scoreOf(await best(back, BIRDS)), byPotion);
    await server.stop();
    server = await startTestServer(t, environment);
    t.notOk(await reencoding(server.url), 'and then there is nothing to do');
  },
);

t.test(
  'without the former model the words are found, and the meaning once all is encoded again',
  { skip: onlyDeep || skip },
  async (t) => {
    const { folder, environment } = await textModels(t);
    let server = await startTestServer(t, environment);
    const rented = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
    await rented.ingest('gulls.md', GULLS);
    await rented.ingest('long.txt', long(6_000));
    await server.stop();
    await new Library(folder, CACHE).use(MINILM);
    await rm(join(folder, 'potion'), { recursive: true });
    server = await startTestServer(t, environment);
    const workspace = again(server.url, rented);
    const without = await workspace.search(BIRDS);
    if (await reencoding(server.url)) t.match(without.body, { code: 'family_unavailable', charged: false });
    t.match(await best(workspace, { query: 'lighthouse gulls' }), { item: { name: 'gulls.md' } });
    await untilChanged(server.url, async () => {});
    t.match(await best(workspace, BIRDS), { item: { name: 'gulls.md' } });
  },
);

t.test(
  'a start without any text model forgets nothing: what is stored is encoded again by the next one',
  { skip },
  async (t) => {
    const { folder, environment } = await textModels(t);
    let server = await startTestServer(t, environment);
    const rented = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
    await rented.ingest('gulls.md', GULLS);
    await server.stop();

    const [weights, away] = [join(folder, 'potion/model.onnx'), join(folder, 'away.onnx')];
    await rename(weights, away);
    server = await startTestServer(t, environment);
    const without = again(server.url, rented);
    await untilChanged(server.url, async () => {});
    t.match((await without.search(BIRDS)).body, { code: 'family_unavailable', charged: false });
    t.match(await best(without, { query: 'lighthouse gulls' }), { item: { name: 'gulls.md' } });
    await server.stop();

    await rename(away, weights);
    await new Library(folder, CACHE).use(MINILM);
    server = await startTestServer(t, environment);
    const workspace = again(server.url, rented);
    t.match(await best(workspace, BIRDS), { item: { name: 'gulls.md' } });
    await untilChanged(server.url, async () => {});
    const fresh = await new TestAgent(server.url).rent({});
    await fresh.ingest('gulls.md', GULLS);
    t.equal(scoreOf(await best(workspace, BIRDS)), scoreOf(await best(fresh, BIRDS)), 'by the new model');
  },
);

t.test(
  'pictures are encoded again from their files, and what has no file is said to be lost',
  { skip: onlyDeep || skip },
  async (t) => {
    const folder = t.testdir();
    const environment = { MODELS_DIR: folder, DATA_DIR: join(folder, 'data') };
    await folderOf(folder, [await clip()], { text_semantic: MINILM, visual: 'mobilenet-v2' });
    const library = new Library(folder, CACHE);
    let server = await startTestServer(t, environment);
    const rented = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
    const photos = ['chelsea.png', 'coffee.png', 'rocket.jpg'];
    const bytes = await Promise.all(photos.map((name) => readFile(join(SAMPLES, name))));
    const items: string[] = [];
    for (const [index, name] of photos.entries())
      items.push((await rented.ingest(name, new Uint8Array(bytes[index]!))).body.item.id);
    const scenes = await Promise.all(
      [0, 1].map((at) => sharp(bytes[at]!).resize(160, 120, { fit: 'fill' }).png().toBuffer()),
    );
    const film = await sharp(scenes, { join: { animated: true } })
      .gif({ delay: [1000, 1000] })
      .toBuffer();
    t.match((await rented.ingest('film.gif', new Uint8Array(film))).body, { item: { state: 'searchable' } });
    const look = (index: number) => ({ image_b64: bytes[index]!.toString('base64'), families: ['visual'] });
    const cat = { query: 'a cat', families: ['visual'] };
    const names = async (workspace: TestWorkspace, search: object) => {
      const { body } = await workspace.search({ ...search, k: 100 });
      return body.hits.map((hit: { item: { name: string } }) => hit.item.name) as string[];
    };
    t.equal((await names(rented, cat))[0], 'chelsea.png');
    const lost = join(server.running.tenantFolder(rented.id), 'files', items[2]!);
    await server.stop();

    await rm(lost);
    await library.use('clip-shaped');
    server = await startTestServer(t, environment);
    let workspace = again(server.url, rented);
    let last: Reencoding | undefined;
    for (let now = await reencoding(server.url); now; now = await reencoding(server.url)) {
      last = now;
      t.equal((await names(workspace, look(0)))[0], 'chelsea.png');
      await pause(5);
    }
    t.equal(last?.tenants_failed ?? 0, 0);
    for (const [index, name] of photos.entries()) {
      const found = await names(workspace, look(index));
      if (index < 2) t.equal(found[0], name);
      t.notOk(found.includes('rocket.jpg'), 'its file is gone: it has no place among the looks any more');
      t.ok(found.includes('film.gif'), 'all pictures of a file');
    }
    t.equal((await names(workspace, { image_b64: look(2).image_b64, families: ['raw'] }))[0], 'rocket.jpg');
    t.ok((await names(workspace, cat)).length > 0, 'the joint model has words for pictures, too');
    await server.stop();

    await library.use('mobilenet-v2');
    server = await startTestServer(t, environment);
    workspace = again(server.url, rented);
    await untilChanged(server.url, async () => {
      t.ok((await names(workspace, cat)).length > 0);
    });
    t.equal((await names(workspace, cat))[0], 'chelsea.png', 'words over labels are back');
    t.equal((await names(workspace, look(1)))[0], 'coffee.png');
  },
);
