import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { ranked } from '../../../src/cluster/members/placement.ts';
import { clusterSettings } from '../../cluster/cluster-settings.ts';
import { EtcdServers, withoutEtcd } from '../../cluster/etcd-servers.ts';
import { freePorts } from '../../rig/ports.ts';
import { startTestServer, TestAgent, type TestServer, TestWorkspace } from '../../rig/test-server.ts';

/** Two servers that share their slots: a client may ask either for anything. Of payers `shared.test.ts` says so, and of repeated payments the crash runs. */

const SLOTS = 8;
/** Enough that each server is likely to have some. */
const WORKSPACES = 6;
const NODES = ['n0', 'n1'].map((id) => ({ id, weight: 1 }));
const POLL_MS = 50;

async function start(): Promise<{ first: TestServer; second: TestServer; etcd: EtcdServers }> {
  const folder = t.testdir({});
  const etcd = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => etcd.stop());
  const ports = await freePorts(2);
  const common = {
    ...clusterSettings(etcd, folder, 'shared'),
    FARTHING_CLUSTER_LEASE_SECONDS: '3',
    FARTHING_SLOTS: String(SLOTS),
    FARTHING_METRICS_PORT: '0',
    BASE_URL: `http://127.0.0.1:${ports[0]}`,
  };
  const [first, second] = await Promise.all(
    ports.map((port, index) =>
      startTestServer(t, {
        ...common,
        PORT: String(port),
        FARTHING_NODE_ID: `n${index}`,
        FARTHING_NODE_URL: `http://127.0.0.1:${port}`,
        DATA_DIR: join(folder, `data-${index}`),
      }),
    ),
  );
  await Promise.all([first!, second!].map(hasItsSlots));
  return { first: first!, second: second!, etcd };
}

/** Which server came first had all slots. While one moves, a call that waits for its job is answered before the job's end. */
async function hasItsSlots({ running }: TestServer, index: number): Promise<void> {
  const own = [...Array(SLOTS).keys()].filter((slot) => ownerOf(slot) === index);
  while (Number(/^farthing_slots (\d+)/m.exec(await metricsOf(running.metricsUrl!))?.[1]) !== own.length)
    await setTimeout(POLL_MS);
}

/** The number of the server with which a slot is placed. */
function ownerOf(slot: number): number {
  return NODES.findIndex(({ id }) => id === ranked(slot, NODES)[0]);
}

const metricsOf = async (url: string): Promise<string> => (await fetch(url)).text();

if (withoutEtcd !== undefined) {
  t.pass('any of several servers answers', { skip: withoutEtcd });
} else {
  const { first, second } = await start();
  const both = [first, second];
  const passedOn = async ({ running }: TestServer) => {
    const text = await metricsOf(running.metricsUrl!);
    return Number(/farthing_proxied_seconds_count\{outcome="answered"\} (\d+)/.exec(text)?.[1]);
  };

  t.test('a workspace is used, downloaded from, watched and destroyed at any server', async (t) => {
    const before = await Promise.all(both.map(passedOn));
    for (let count = 0; count < WORKSPACES; count++) {
      const [one, other] = count % 2 ? both : [second, first];
      const { id, token } = await new TestAgent(one!.url).rent();
      const [here, there] = [one!, other!].map(({ url }) => new TestWorkspace(url, id, token));
      const uploaded = await here!.ingest('tides.txt', 'Tides follow the moon.');
      t.match(uploaded, { status: 200, body: { job: { state: 'searchable' } } });
      for (const each of [here!, there!]) {
        t.match(await each.search({ query: 'sea' }), {
          status: 200,
          body: { hits: [{ item: { name: 'tides.txt' } }] },
        });
        t.match(await each.send('GET', '/usage'), { status: 200 });
      }
      const base = `${other!.url}/agent/v1/workspaces/${id}`;
      const headers = { Authorization: `Bearer ${token}` };
      const file = await fetch(`${base}/items/${uploaded.body.item.id}/content`, { headers });
      t.equal(await file.text(), 'Tides follow the moon.');
      const lines: string[] = [];
      for (const { url } of both) {
        const path = `${url}/agent/v1/workspaces/${id}/export?content=true&vectors=true`;
        lines.push(await (await fetch(path, { headers })).text());
      }
      t.match(lines[0], /"text_semantic":"[\w+/=]{2048}".*\n\{"type":"end".*"vectors":1\}\n$/s);
      const [direct, relayed] = lines.map((text) => text.replace(/"exported_at":"[^"]*"/, ''));
      t.equal(relayed, direct);
      const events = await fetch(`${base}/jobs/${uploaded.body.job_id}/events`, { headers });
      t.match(await events.text(), /event: job\ndata: .*"searchable"/);
      const called = await fetch(`${other!.url}/mcp?workspace=${id}`, {
        method: 'POST',
        headers: {
          ...headers,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'search', arguments: { query: 'sea' } },
        }),
      });
      t.match(await called.text(), /tides\.txt/);
      t.equal((await there!.send('DELETE', '')).status, 200);
      for (const each of [here!, there!]) t.equal((await each.send('GET', '/usage')).status, 401);
    }
    const after = await Promise.all(both.map(passedOn));
    t.ok(
      after.every((count, index) => count > before[index]!),
      'each server passed requests on',
    );
  });

  t.test('any server sends what is not paid away, and knows nobody’s token', async (t) => {
    const before = await Promise.all(both.map(passedOn));
    for (const { url } of both) {
      t.equal((await fetch(`${url}/agent/v1/search`, { method: 'POST', body: '{}' })).status, 402);
      t.equal((await fetch(`${url}/agent/v1/workspaces/ws_${'0'.repeat(32)}/usage`)).status, 401);
      t.equal((await fetch(`${url}/agent/v1/jobs/job_1`)).status, 404);
    }
    t.same(await Promise.all(both.map(passedOn)), before);
    const headers = { Authorization: 'Bearer guessed' };
    for (const { url } of both)
      for (let digit = 0; digit < 4; digit++) {
        const path = `/agent/v1/workspaces/ws_${String(digit).repeat(32)}/usage`;
        t.equal((await fetch(url + path, { headers })).status, 401);
      }
  });
}
