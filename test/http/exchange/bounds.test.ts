import t from 'tap';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

const server = await startTestServer(t);
const workspace = await new TestAgent(server.url).rent();

t.test('an empty index has nothing to prove', async (t) => {
  t.match((await workspace.search({ query: 'gulls' })).body, { exact: true, bounds: {} });
});

t.test('every answer says for each family whether it is proved', async (t) => {
  await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  const { body } = await workspace.search({ query: 'who counts gulls?', families: ['text_semantic', 'raw'] });
  t.equal(body.exact, true);
  t.same(body.bounds, { text_semantic: { exact: true }, raw: { exact: true } });
  const words = await workspace.search({ query: 'gulls', families: ['raw'] });
  t.same(words.body.bounds, { raw: { exact: true } });
});

t.test('a proof can be requested, with the same hits where the answer is proved anyway', async (t) => {
  const request = { query: 'who counts gulls?', explain: true };
  const plain = await workspace.search(request);
  const proved = await workspace.search({ ...request, exact: true });
  t.equal(proved.body.exact, true);
  const found = ({ hits }: { hits: { item: { id: string }; score: number }[] }) =>
    hits.map(({ item, score }) => [item.id, score]);
  t.same(found(proved.body), found(plain.body));
  for (const { method } of proved.body.explanation.lists) t.equal(method, 'proved');
  t.match(await workspace.search({ query: 'gulls', exact: 'yes' }), {
    status: 400,
    body: { code: 'field_invalid', field: 'exact' },
  });
});
