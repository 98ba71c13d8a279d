import t, { type Test } from 'tap';
import { startTestServer, TestAgent, type TestAnswer, type TestWorkspace } from '../../rig/test-server.ts';

function refused(answer: TestAnswer, t: Test): void {
  t.match(answer, { status: 429, body: { code: 'rate_limited', charged: false } });
  t.match(answer.headers.get('Retry-After'), /^[1-9]\d*$/);
  t.match(answer.headers.get('X-Workspace-TTL-Seconds'), /^\d+$/, 'and still says what is left');
}

t.test('a workspace over its rate limit gets Retry-After; another is served', async (t) => {
  const server = await startTestServer(t, { TENANT_REQUESTS_PER_SECOND: '1' });
  const agent = new TestAgent(server.url);
  const [eager, quiet] = [await agent.rent(), await agent.rent()];
  const answers = await Promise.all(Array.from({ length: 60 }, () => eager.send('GET', '/usage')));
  const over = answers.filter(({ status }) => status !== 200);
  t.ok(over.length > 0);
  for (const answer of over) refused(answer, t);
  t.equal((await quiet.send('GET', '/usage')).status, 200);
});

t.test(
  'concurrent searches and uploads of a workspace are limited, and another workspace is unaffected',
  async (t) => {
    const server = await startTestServer(t, { TENANT_SEARCHES_AT_ONCE: '1', TENANT_INGESTS_AT_ONCE: '1' });
    const agent = new TestAgent(server.url);
    const [busy, quiet] = [await agent.rent(), await agent.rent()];
    const kinds = [
      (one: TestWorkspace, index: number) => one.ingest('a.txt', `The keeper counts gull ${index}.`),
      // Now there is something to be found: a search waits for the encoder.
      (one: TestWorkspace, index: number) => one.search({ query: `gulls ${index}` }),
    ];
    for (const send of kinds) {
      const own = Array.from({ length: 16 }, (_, index) => send(busy, index));
      const [neighbour, ...answers] = await Promise.all([send(quiet, 0), ...own]);
      const over = answers.filter(({ status }) => status !== 200);
      t.ok(over.length > 0 && over.length < answers.length);
      for (const answer of over) refused(answer, t);
      t.equal(neighbour.status, 200);
      t.equal((await send(busy, 99)).status, 200, 'and again once they have ended');
    }
  },
);
