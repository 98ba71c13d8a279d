import t from 'tap';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

const STREAMS = 3;

t.test('a workspace has so many downloads and event streams at once; another is served', async (t) => {
  const server = await startTestServer(t, { TENANT_STREAMS_AT_ONCE: String(STREAMS) });
  const agent = new TestAgent(server.url);
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
