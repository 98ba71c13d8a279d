import t, { type Test } from 'tap';
import { startTestServer, TestAgent, type TestAnswer, type TestWorkspace } from '../../../rig/test-server.ts';

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

const STREAMS = 3;
const server = await startTestServer(
  t,
  {},
  { tenantLimits: { searchesAtOnce: 1, ingestsAtOnce: 1, streamsAtOnce: STREAMS } },
);
const agent = new TestAgent(server.url);

t.test('concurrent searches and uploads are limited for each workspace alone', async (t) => {
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
});

t.test('a workspace has so many downloads and event streams at once; another is served', async (t) => {
  const [eager, quiet] = [await agent.rent(), await agent.rent()];
  const upload = async (workspace: typeof eager, bytes: number) => {
    const page = `<!doctype html><p>words<!--${'x'.repeat(bytes)}-->`;
    const { item } = (await workspace.ingest('words.html', page)).body;
    return {
      headers: { Authorization: `Bearer ${workspace.token}` },
      url: `${server.url}/agent/v1/workspaces/${workspace.id}/items/${item.id}/content`,
    };
  };
  // More than the sockets' buffers hold: a download that nobody reads goes on.
  const large = await upload(eager, 12_000_000);
  const small = await upload(quiet, 600);
  const leave = new AbortController();
  const open = await Promise.all(
    Array.from({ length: STREAMS }, () => fetch(large.url, { ...large, signal: leave.signal })),
  );
  t.same(
    open.map(({ status }) => status),
    open.map(() => 200),
  );
  const refused = await fetch(large.url, large);
  t.equal(refused.status, 429);
  t.match(await refused.json(), { code: 'rate_limited' });
  t.equal((await fetch(small.url, small)).status, 200);
  const events = `${server.url}/agent/v1/workspaces/${eager.id}/jobs/${large.url.match(/item_(\w+)/)?.[1]}`;
  t.equal((await fetch(`${events.replace('/jobs/', '/jobs/job_')}/events`, large)).status, 429);
  leave.abort();
  for (;;) {
    const again = await fetch(large.url, large);
    await again.arrayBuffer();
    if (again.status === 200) break;
  }
  t.pass('places that were left are free again');
});
