import t from 'tap';
import { startTestServer, TestAgent } from '../../../../rig/test-server.ts';

/** Several questions in one call: one price, one batch of the encoder, answers by question or as one list. */

const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const workspace = await agent.rent();
const FILES = {
  'gulls.txt': 'The lighthouse keeper counts gulls at dawn.',
  'tides.txt': 'Tides follow the moon.',
  'filter.txt': 'Rinse the filter with warm water once a month.',
};
for (const [name, content] of Object.entries(FILES)) await workspace.ingest(name, content);

interface Answered {
  readonly hits?: readonly { readonly item: { readonly name: string } }[];
}
/** Where two values begin to differ, as JSON. */
function difference(one: unknown, next: unknown): string {
  const [a, b] = [JSON.stringify(one), JSON.stringify(next)];
  const at = [...a].findIndex((character, index) => character !== b[index]);
  return at < 0
    ? ''
    : `: ${a.slice(Math.max(0, at - 40), at + 40)} ≠ ${b.slice(Math.max(0, at - 40), at + 40)}`;
}
const firsts = (answers: readonly Answered[]) => answers.map(({ hits }) => hits?.[0]?.item.name);

t.test('each question is answered as it is alone', async (t) => {
  const questions = ['who counts gulls?', 'how is the filter cleaned?', 'what do tides follow?'];
  const { status, body } = await workspace.search({ queries: questions });
  t.equal(status, 200);
  t.same(body.hits, []);
  t.equal(body.answered, true);
  t.same(firsts(body.answers), ['gulls.txt', 'filter.txt', 'tides.txt']);
  for (const [at, query] of questions.entries()) {
    const alone = (await workspace.search({ query })).body;
    for (const member of ['hits', 'answered', 'exact', 'bounds']) {
      const [together, itself] = [body.answers[at][member], alone[member]];
      t.strictSame(together, itself, `${query} ${member}${difference(together, itself)}`);
    }
  }
});

t.test('a question has its own families, k and filter, and else those of the call', async (t) => {
  const { body } = await workspace.search({
    queries: [
      'gulls tides filter',
      { query: 'gulls tides filter', k: 1 },
      { query: 'gulls tides filter', filter: { name: 'tides*' } },
      { query: 'gulls', families: ['text_semantic'], filter: null },
    ],
    families: ['raw'],
    filter: { name: '*s.txt' },
    k: 2,
  });
  const names = body.answers.map(({ hits }: { hits: { item: { name: string } }[] }) =>
    hits.map(({ item }) => item.name).sort(),
  );
  t.same(names[0], ['gulls.txt', 'tides.txt']);
  t.equal(names[1].length, 1);
  t.same(names[2], ['tides.txt']);
  t.ok(body.answers[3].hits.every(({ family }: { family: string }) => family === 'text_semantic'));
  t.same(Object.keys(body.answers[0].bounds), ['raw']);
});

t.test('fused, they are one list, and each hit says which questions found it', async (t) => {
  const { body } = await workspace.search({
    queries: ['who counts gulls?', 'who counts birds?', 'what do tides follow?'],
    fused: true,
    k: 2,
  });
  t.equal(body.hits.length, 2);
  const [first, second] = body.hits;
  t.ok(first.confidence >= second.confidence);
  const gulls = [first, second].find(({ item }) => item.name === 'gulls.txt');
  t.same(gulls.queries, [0, 1, 2]);
  t.same(
    body.answers.map((answer: object) => 'hits' in answer),
    [false, false, false],
  );
});

t.test('the questions of a call are one batch of the encoder', async (t) => {
  const queries = Array.from({ length: 16 }, (_, at) => `what is number ${at}?`);
  const { body } = await workspace.search({ queries, k: 3, explain: true });
  const batches = body.answers.map(
    ({ explanation }: { explanation: { tasks: { batch: number }[] } }) => explanation.tasks[0]!.batch,
  );
  t.same(batches, Array(16).fill(16));
});

t.test('a call is one payment and one of the workspace’s searches for each question', async (t) => {
  const payer = new TestAgent(server.url);
  await payer.ingest('gulls.txt', FILES['gulls.txt']);
  const answer = await payer.post('/agent/v1/search', { queries: ['gulls?', 'terns?', 'who counts?'] });
  t.match(answer.body, { charged: true, answers: [{ answered: true }, {}, {}] });
  const unpaid = await fetch(`${server.url}/agent/v1/search`, {
    method: 'POST',
    body: JSON.stringify({ queries: ['a', 'b'] }),
  });
  t.match(await unpaid.json(), { accepts: [{ maxAmountRequired: '6000' }] });
  const empty = await new TestAgent(server.url).post('/agent/v1/search', { queries: ['gulls?', 'terns?'] });
  t.match(empty.body, { charged: false, answered: false, reason: 'nothing_searchable', answers: [{}, {}] });
  const { entries } = (await workspace.send('GET', '/history?limit=100')).body;
  t.ok(entries.some(({ query }: { query: string }) => query === 'what is number 15?'));
});

t.test('an operator may price each further question', async (t) => {
  const priced = await startTestServer(t, { QUESTION_PRICE_USD: '0.001' });
  const unpaid = async (body: object) => {
    const reply = await fetch(`${priced.url}/agent/v1/search`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return ((await reply.json()) as { accepts: [{ maxAmountRequired: string }] }).accepts[0]
      .maxAmountRequired;
  };
  t.equal(await unpaid({ query: 'a' }), '6000');
  t.equal(await unpaid({ queries: ['a', 'b', 'c'] }), '8000');
  t.equal(await unpaid({ queries: Array(99).fill('a') }), '21000', 'no more than the most that is answered');
  const payer = new TestAgent(priced.url);
  await payer.ingest('gulls.txt', FILES['gulls.txt']);
  t.match((await payer.post('/agent/v1/search', { queries: ['a', 'b', 'c'] })).body, { charged: true });
  t.match((await (await fetch(`${priced.url}/readyz`)).json()) as object, {
    prices_usd: { search: '0.006', question: '0.001' },
  });
});

t.test(
  'sixteen long questions wait for each other, however short the wait of a stranger may be',
  async (t) => {
    const hurried = await startTestServer(t, { QUERY_WAIT_MS_MAX: '1' });
    const rented = await new TestAgent(hurried.url).rent();
    await rented.ingest('gulls.txt', FILES['gulls.txt']);
    const long = 'Which of the keepers on the western coast counts the gulls at dawn, and who pays? ';
    const queries = Array.from({ length: 16 }, (_, at) => `${at}. ${long.repeat(46)}`.slice(0, 3800));
    await rented.search({ query: queries[0] });
    const { status, body } = await rented.search({ queries });
    t.equal(status, 200, JSON.stringify(body.detail));
    t.equal(body.answers.length, 16);
  },
);
