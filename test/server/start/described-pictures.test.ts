import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { startTestServer, TestAgent, type TestWorkspace } from '../../rig/test-server.ts';

/** Pictures are found by descriptions in other languages than that of their labels. */

const root = resolve(import.meta.dirname, '../../..');
const weights = join(root, 'models/multilingual-e5-small/model_q4.onnx');
const skip = existsSync(weights) ? false : `${weights} is not here: build.py beside it makes it`;

/** By names that say nothing. */
const PICTURES = {
  'a.png': 'chelsea.png',
  'b.png': 'coffee.png',
  'c.jpg': 'hot_dog.jpg',
  'd.jpg': 'rocket.jpg',
};
const DESCRIPTIONS = {
  'eine getigerte Katze': 'a.png',
  'eine Tasse Kaffee auf einem Tisch': 'b.png',
  'un perrito caliente con mostaza': 'c.jpg',
  'una taza de café': 'b.png',
  'une fusée sur son pas de tir': 'd.jpg',
  'полосатая кошка': 'a.png',
  'ракета на стартовой площадке': 'd.jpg',
  マスタードをかけたホットドッグ: 'c.jpg',
  一杯咖啡: 'b.png',
};
const ENGLISH = 'a cup of coffee on a table';

async function ingestPictures(workspace: TestWorkspace): Promise<void> {
  for (const [name, sample] of Object.entries(PICTURES)) {
    const { body } = await workspace.ingest(name, readFileSync(join(root, 'samples', sample)));
    if (body.item.state !== 'searchable') throw new Error(JSON.stringify(body));
  }
}

async function described(workspace: TestWorkspace, query: string) {
  const { body } = await workspace.searchOpened({ query, families: ['visual'], explain: true });
  const [{ item, explanation }] = body.hits;
  return { name: item.name as string, score: explanation.lists[0].raw_score as number };
}

t.test('pictures are found by descriptions in other languages', { skip }, async (t) => {
  const server = await startTestServer(t, { METRICS_PORT: '0' });
  const agent = new TestAgent(server.url);
  const openModels = async () =>
    /^farthing_previous_models (\d+)$/m.exec(await (await fetch(server.running.metricsUrl!)).text())?.[1];
  const pictures = await agent.rent({ ttl_minutes: 60 });
  await ingestPictures(pictures);

  const english = await described(pictures, ENGLISH);
  t.equal(english.name, 'b.png');
  t.equal(await openModels(), '0', 'English words need no other model');

  const found = async (workspace: TestWorkspace) => {
    const names: Record<string, string> = {};
    for (const query of Object.keys(DESCRIPTIONS)) names[query] = (await described(workspace, query)).name;
    return names;
  };
  t.same(await found(pictures), DESCRIPTIONS);
  t.equal(await openModels(), '1');
  t.same(await described(pictures, ENGLISH), english, 'an English description has its own model');
});
