import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SearchAnswer } from '../../../src/protocol/schema/search.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

/** Files are known by their names, beside what they show or say. */
const folder = t.testdir({});
const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
const workspace = await new TestAgent(server.url).rent();
const samples = join(import.meta.dirname, '../../../samples');
const photograph = (name: string) => new Uint8Array(readFileSync(join(samples, name)));
const add = async (into: typeof workspace, name: string, content: string | Uint8Array<ArrayBuffer>) => {
  const { body } = await into.ingest(name, content);
  if (body.job?.state !== 'searchable') throw new Error(`${name}: ${JSON.stringify(body)}`);
};
await add(workspace, 'scatterplot_of-rainfall.png', photograph('coffee.png'));
await add(workspace, 'DSC_0042.jpg', photograph('rocket.jpg'));
await add(workspace, 'IMG_20260714_1512.jpg', photograph('hot_dog.jpg'));
await add(workspace, 'rain.txt', 'The wettest month was November, with 214 mm.');

const search = async (request: object): Promise<SearchAnswer> => (await workspace.search(request)).body;
const named = ({ hits }: SearchAnswer, name: string) => hits.filter(({ item }) => item.name === name);

t.test('a picture is found by its whole name and by its parts, as one hit', async (t) => {
  for (const query of [
    'scatterplot_of-rainfall.png',
    'scatterplot',
    'scatter plot',
    'rainfall scatterplot',
  ]) {
    const answer = await search({ query });
    t.match(answer, { answered: true, hits: [{ item: { name: 'scatterplot_of-rainfall.png' } }] }, query);
    t.match(answer.hits[0], { text_source: 'metadata', snippet: 'scatterplot_of-rainfall.png' });
    t.equal(named(answer, 'scatterplot_of-rainfall.png').length, 1, query);
    // One of four pictures may look a little like a scatter plot.
    const likely = query === 'scatter plot' ? answer.hits[0]!.confidence : 0.38;
    t.ok(answer.hits[1]!.confidence < likely, `nothing else is as likely: ${query}`);
  }
  for (const [query, name] of [
    ['DSC_0042', 'DSC_0042.jpg'],
    ['IMG_20260714_1512', 'IMG_20260714_1512.jpg'],
  ] as const)
    t.match(await search({ query }), { answered: true, hits: [{ item: { name } }] });
});

t.test('a name is no content: what has the word comes first', async (t) => {
  const [shown] = (await search({ query: 'a cup of coffee' })).hits;
  t.match(shown, { item: { name: 'scatterplot_of-rainfall.png' }, family: 'visual' });
  const other = await new TestAgent(server.url).rent();
  await add(other, 'rainfall.jpg', photograph('rocket.jpg'));
  await add(other, 'weather.txt', 'Rainfall in the hills was above the mean for the ninth month in a row.');
  const { body } = await other.search({ query: 'rainfall' });
  t.match(body.hits, [{ item: { name: 'weather.txt' } }, { item: { name: 'rainfall.jpg' } }]);
});

t.test('a text is found by its name, whole or in parts, as one hit', async (t) => {
  const letters = await new TestAgent(server.url).rent();
  await add(letters, 'household-budget-2024.csv', 'category,january\nrent,1150\ngroceries,412');
  await add(letters, 'household-budget-2023.csv', 'category,january\nrent,1090\ngroceries,398');
  await add(letters, 'notes.txt', 'The spare key is at number 14.');
  await add(letters, 'letter_to_the_landlord.md', 'The tap in the bathroom drips since Tuesday.');
  await add(letters, 'DSC_0042.jpg', photograph('rocket.jpg'));
  for (const [query, name] of [
    ['household-budget-2024.csv', 'household-budget-2024.csv'],
    ['household-budget-2023', 'household-budget-2023.csv'],
    ['budget 2024', 'household-budget-2024.csv'],
    ['notes.txt', 'notes.txt'],
    ['my notes', 'notes.txt'],
    ['letter to the landlord', 'letter_to_the_landlord.md'],
    ['landlord tap', 'letter_to_the_landlord.md'],
  ] as const) {
    const { body } = await letters.search({ query });
    t.match(body, { answered: true, hits: [{ item: { name } }] }, query);
    t.equal(named(body, name).length, 1, query);
  }
  const [hit] = (await letters.search({ query: 'notes.txt' })).body.hits;
  t.match(hit, { snippet: 'The spare key is at number 14.', item: { segments: 1 } });
  for (const query of ['household-budget-2025.csv', 'notes.pdf', 'passport.pdf', 'budget 2019'])
    t.match((await letters.search({ query })).body, { answered: false }, query);
});

t.test('what a text says comes before what another is called', async (t) => {
  const other = await new TestAgent(server.url).rent();
  await add(other, 'rainfall.txt', 'The gauge behind the shed was read each morning at seven by Mrs. Pell.');
  await add(other, 'hills.txt', 'Rainfall in the hills: rainfall was above the mean for the ninth month.');
  const { body } = await other.search({ query: 'rainfall in the hills' });
  t.match(body.hits, [{ item: { name: 'hills.txt' } }, { item: { name: 'rainfall.txt' } }]);
});

t.test('another name than is there answers nothing', async (t) => {
  for (const query of ['DSC_0043.jpg', 'histogram.png'])
    t.match(await search({ query }), { answered: false }, query);
});

t.test('bytes that are sent again under another name are found by it, whatever they hold', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  for (const [first, second, content] of [
    ['minutes.txt', 'zorbinsky-council.txt', 'The bridge needs paint.'],
    ['IMG_2041.png', 'quayside-lantern.png', picture],
  ] as const) {
    const { body } = await workspace.ingest(first, content);
    const again = await workspace.ingest(second, content);
    t.match(again.body, { duplicate: true, item: { id: body.item.id, name: first, aliases: [second] } });
    t.match((await workspace.ingest(second, content)).body.item.aliases, [second], 'once each');
    t.match((await workspace.ingest(first, content)).body.item.aliases, [second], 'its own name is none');
    const query = second.split(/[-.]/).slice(0, 2).join(' ');
    const { hits } = (await workspace.search({ query })).body;
    t.match(hits[0], { item: { id: body.item.id, aliases: [second] } }, query);
    const named = await workspace.search({ query, filter: { name: `${second.slice(0, 6)}*` } });
    t.match(named.body.hits, [{ item: { id: body.item.id } }], 'a filter by name takes any of them');
    t.match((await workspace.send('GET', `/items/${body.item.id}`)).body, { name: first, aliases: [second] });
  }
  const listed = (await workspace.send('GET', '/items')).body.items;
  t.equal(listed.length, 2);
});

t.test('an item has 16 further names at most, and the answer says what is not kept', async (t) => {
  const workspace = await new TestAgent(server.url).rent();
  const text = 'One text of many names.';
  for (let copy = 0; copy <= 16; copy++) await workspace.ingest(`copy ${copy}.txt`, text);
  const { body } = await workspace.ingest('one too many.txt', text);
  t.equal(body.item.aliases.length, 16);
  t.match(body.warnings, [/16 other names/]);
  await workspace.send('DELETE', `/items/${body.item.id}`);
  t.same((await workspace.search({ query: 'copy 3' })).body.hits, []);
});
