import t from 'tap';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** The same bytes under other names are one item, found by each of its names. */

const server = await startTestServer(t);
const agent = new TestAgent(server.url);

t.test('bytes that are sent again under another name are found by it, whatever they hold', async (t) => {
  const workspace = await agent.rent();
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
  const workspace = await agent.rent();
  const text = 'One text of many names.';
  for (let copy = 0; copy <= 16; copy++) await workspace.ingest(`copy ${copy}.txt`, text);
  const { body } = await workspace.ingest('one too many.txt', text);
  t.equal(body.item.aliases.length, 16);
  t.match(body.warnings, [/16 other names/]);
  await workspace.send('DELETE', `/items/${body.item.id}`);
  t.same((await workspace.search({ query: 'copy 3' })).body.hits, []);
});
