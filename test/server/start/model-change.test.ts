import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Library } from '../../../src/engine/encode/models/library.ts';
import { CACHE, SHARED } from '../../engine/encode/rig/embedded.ts';
import { clip, folderOf, potion } from '../../engine/encode/rig/other-models.ts';
import { onlyDeep } from '../../rig/deep.ts';
import { startTestServer, TestAgent, type TestServer, TestWorkspace } from '../../rig/test-server.ts';

/** A change of model over HTTP: an index keeps the model of its beginning. */

const skip = existsSync(join(SHARED, 'models')) ? false : 'the other models are not here';
const SAMPLES = join(import.meta.dirname, '../../../samples');
const GULLS = 'The lighthouse keeper counts gulls at dawn.';
const BREAD = 'Bread rises because yeast turns sugar into gas.';
const BIRDS = { query: 'who watches birds in the morning?', families: ['text_semantic'], explain: true };
const BAKING = { query: 'why does dough become larger?', families: ['text_semantic'] };
const MINILM = 'all-MiniLM-L6-v2';
const POTION = 'potion-base-2M';

const again = (url: string, { id, token }: TestWorkspace) => new TestWorkspace(url, id, token);

async function best(workspace: TestWorkspace, search: object) {
  const { status, body } = await workspace.searchOpened(search);
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

/** Models that living indexes may have beside those in use. */
async function previousModels(url: string): Promise<{ space: string; weights: string; until: string }[]> {
  const body = (await (await fetch(`${url}/readyz`)).json()) as { previous_models?: [] };
  return body.previous_models ?? [];
}

t.test('an index keeps its model until it ends, over restarts and changes back', { skip }, async (t) => {
  const { folder, environment } = await textModels(t);
  const library = new Library(folder, CACHE);
  let server: TestServer = await startTestServer(t, environment);
  const rented = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
  t.match(await rented.ingest('gulls.md', `# On the coast\n\n${GULLS}`), { status: 200 });
  const byPotion = scoreOf(await best(rented, BIRDS));
  await server.stop();

  await library.use(MINILM);
  server = await startTestServer(t, environment);
  t.match(await previousModels(server.url), [{ space: 'text_semantic', weights: /^potion-base-2M/ }]);
  const old = again(server.url, rented);
  t.equal(scoreOf(await best(old, BIRDS)), byPotion, 'its own model answers');
  t.match(await old.ingest('bread.md', BREAD), { status: 200 });
  t.match(await best(old, BAKING), { item: { name: 'bread.md' } }, 'and encodes what is added');
  const fresh = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
  await fresh.ingest('gulls.md', `# On the coast\n\n${GULLS}`);
  const byMiniLM = scoreOf(await best(fresh, BIRDS));
  t.not(byMiniLM, byPotion, 'a new index has the new model');
  await server.stop();

  await library.use(POTION);
  server = await startTestServer(t, environment);
  t.equal(scoreOf(await best(again(server.url, rented), BIRDS)), byPotion);
  t.equal(scoreOf(await best(again(server.url, fresh), BIRDS)), byMiniLM);
  t.match(await previousModels(server.url), [{ space: 'text_semantic', weights: /^all-MiniLM/ }]);
});

t.test('an index whose model is gone is searched by words, and the answer says so', { skip }, async (t) => {
  const { folder, environment } = await textModels(t);
  let server = await startTestServer(t, environment);
  const rented = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
  await rented.ingest('gulls.md', GULLS);
  await server.stop();
  await new Library(folder, CACHE).use(MINILM);
  const [weights, away] = [join(folder, 'potion/model.onnx'), join(folder, 'away.onnx')];
  await rename(weights, away);
  server = await startTestServer(t, environment);
  const workspace = again(server.url, rented);
  t.match((await workspace.searchOpened(BIRDS)).body, { code: 'family_unavailable', charged: false });
  const { body } = await workspace.search({ query: 'lighthouse gulls' });
  t.match(body.hits, [{ item: { name: 'gulls.md' } }]);
  t.same(body.not_searched, [{ family: 'text_semantic', reason: 'model_not_installed' }]);
  t.notOk(
    'not_searched' in (await workspace.search({ query: 'lighthouse', families: ['raw'] })).body,
    'a search for words alone misses nothing',
  );
  const added = await workspace.ingest('bread.md', BREAD);
  t.match(added.body.item, { name: 'bread.md', families: ['raw'] });
  await server.stop();
  await rename(away, weights);
  server = await startTestServer(t, environment);
  t.match(await best(again(server.url, rented), BIRDS), { item: { name: 'gulls.md' } }, 'they come back');
});

t.test(
  'pictures of an index keep their model, whichever form it wants',
  { skip: skip || onlyDeep },
  async (t) => {
    const folder = t.testdir();
    const environment = { MODELS_DIR: folder, DATA_DIR: join(folder, 'data') };
    await folderOf(folder, [await clip()], { text_semantic: MINILM, visual: 'mobilenet-v2' });
    let server = await startTestServer(t, environment);
    const rented = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
    const cat = await readFile(join(SAMPLES, 'chelsea.png'));
    await rented.ingest('chelsea.png', new Uint8Array(cat));
    const inWords = { query: 'a cat', families: ['visual'], explain: true };
    const byPicture = { image_b64: cat.toString('base64'), families: ['visual'] };
    const before = scoreOf(await best(rented, inWords));
    await server.stop();
    await new Library(folder, CACHE).use('clip-shaped');
    server = await startTestServer(t, environment);
    const old = again(server.url, rented);
    t.equal(scoreOf(await best(old, inWords)), before, 'words over its labels');
    t.match(await best(old, byPicture), { item: { name: 'chelsea.png' } });
    const coffee = await readFile(join(SAMPLES, 'coffee.png'));
    t.match(await old.ingest('coffee.png', new Uint8Array(coffee)), {
      body: { item: { families: ['visual', 'raw'] } },
    });
    const byCoffee = { image_b64: coffee.toString('base64'), families: ['visual'], explain: true };
    const added = await best(old, byCoffee);
    t.match(added, { item: { name: 'coffee.png' } }, 'what is added has its form, too');
    t.ok(scoreOf(added) > 0.99, 'and its model');
    const fresh = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
    await fresh.ingest('chelsea.png', new Uint8Array(cat));
    t.match(await best(fresh, byPicture), { item: { name: 'chelsea.png' } });
  },
);
