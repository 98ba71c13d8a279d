import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DRAIN_ROWS } from '../../../../src/cluster/members/node-rows.ts';
import { ranked } from '../../../../src/cluster/members/placement.ts';
import { Etcd } from '../../../../src/cluster/stores/etcd.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { freePorts } from '../../../rig/ports.ts';
import { TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { runCommand } from '../../operator/commands/run-command.ts';
import { clusterServerSettings, NodeProcess } from './node-process.ts';

/** Servers that share their slots: what a client finds that asks any of them, while they come and go. */

const SLOTS = 8;

/** Slots that are placed with the second of the servers a and b. */
const PLACED_AT_B = [...Array(SLOTS).keys()].filter(
  (slot) =>
    ranked(
      slot,
      ['a', 'b'].map((id) => ({ id, weight: 1 })),
    )[0] === 'b',
);

/** The same workspace, asked for at another server. */
const at = (url: string, { id, token }: TestWorkspace) => new TestWorkspace(url, id, token);

if (withoutEtcd !== undefined) {
  t.pass('servers that share their slots', { skip: withoutEtcd });
} else {
  const folder = t.testdir({});
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());

  const clusterOf = (name: string) => {
    const common = {
      ...clusterServerSettings(servers, folder, name),
      FARTHING_SLOTS: String(SLOTS),
      FARTHING_METRICS_PORT: '0',
    };
    const dataOf = (id: string) => join(folder, `${name}-${id}`);
    const start = async (t: Test, id: string) => {
      const [port] = await freePorts(1);
      const url = `http://127.0.0.1:${port}`;
      const node = new NodeProcess(t, {
        ...common,
        PORT: String(port),
        DATA_DIR: dataOf(id),
        FARTHING_NODE_ID: id,
        FARTHING_NODE_URL: url,
      });
      const { metrics_url } = await node.event('ready');
      /** Requests that it passed on to another server, and that were answered. */
      const passedOn = async () => {
        const text = await (await fetch(String(metrics_url))).text();
        return Number(/farthing_proxied_seconds_count\{outcome="answered"\} (\d+)/.exec(text)?.[1]);
      };
      return { node, url, passedOn };
    };
    return { start, dataOf };
  };

  /** Workspaces, each with a file, rented at the servers in turn. @returns them by what their files tell of */
  const rented = async (...urls: string[]) => {
    const all = new Map<string, TestWorkspace>();
    for (const what of ['tides', 'ropes', 'lamps', 'gulls', 'reefs', 'masts']) {
      const workspace = await new TestAgent(urls[all.size % urls.length]!).rent();
      await workspace.ingest(`${what}.txt`, `All about ${what}.`);
      all.set(what, workspace);
    }
    return all;
  };

  /** Uses a workspace with a file: uploads where it was rented, reads, watches and exports at the other server. */
  const usedAt = async (t: Test, urls: readonly [string, string], what: string, workspace: TestWorkspace) => {
    const [here, there] = urls.map((url) => at(url, workspace)) as [TestWorkspace, TestWorkspace];
    const uploaded = await here.ingest('more.txt', `More about ${what}.`);
    t.match(uploaded, { status: 200, body: { job: { state: 'searchable' } } });
    for (const each of [here, there]) {
      t.equal((await each.search({ query: what })).body.hits[0].item.name, `${what}.txt`);
      t.match(await each.send('GET', '/usage'), { status: 200 });
    }
    const base = `${urls[1]}/agent/v1/workspaces/${workspace.id}`;
    const headers = { Authorization: `Bearer ${workspace.token}` };
    const file = await fetch(`${base}/items/${uploaded.body.item.id}/content`, { headers });
    t.equal(await file.text(), `More about ${what}.`);
    const events = await fetch(`${base}/jobs/${uploaded.body.job_id}/events`, { headers });
    t.match(await events.text(), /event: job\ndata: .*"searchable"/);
    const lines: string[] = [];
    // One export at a time is allowed.
    for (const url of urls) {
      const path = `${url}/agent/v1/workspaces/${workspace.id}/export?content=true&vectors=true`;
      lines.push((await (await fetch(path, { headers })).text()).replace(/"exported_at":"[^"]*"/, ''));
    }
    t.match(lines[0], /"text_semantic":"[\w+/=]{2048}".*\n\{"type":"end".*"vectors":2\}\n$/s);
    t.equal(lines[1], lines[0]);
    const called = await fetch(`${urls[1]}/mcp?workspace=${workspace.id}`, {
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
        params: { name: 'search', arguments: { query: what } },
      }),
    });
    t.match(await called.text(), `${what}.txt`);
  };

  t.test('any server answers for any workspace and payer, and each file is found at each', async (t) => {
    const { start } = clusterOf('any');
    const a = await start(t, 'a');
    await a.node.events('slot_taken', SLOTS);
    const b = await start(t, 'b');
    // While a slot moves, a call that waits for its job is answered before the job's end.
    await b.node.events('slot_taken', PLACED_AT_B.length);
    const both = [a, b];
    const passedOn = () => Promise.all(both.map((server) => server.passedOn()));

    await t.test('what is not paid is sent away, and a guessed token, by whom it was sent to', async (t) => {
      const before = await passedOn();
      for (const { url } of both) {
        t.equal((await fetch(`${url}/agent/v1/search`, { method: 'POST', body: '{}' })).status, 402);
        t.equal((await fetch(`${url}/agent/v1/workspaces/ws_${'0'.repeat(32)}/usage`)).status, 401);
        t.equal((await fetch(`${url}/agent/v1/jobs/job_1`)).status, 404);
      }
      t.same(await passedOn(), before);
      const headers = { Authorization: 'Bearer guessed' };
      for (const { url } of both)
        for (let digit = 0; digit < 4; digit++) {
          const path = `/agent/v1/workspaces/ws_${String(digit).repeat(32)}/usage`;
          t.equal((await fetch(url + path, { headers })).status, 401);
        }
    });

    // Each server has some of them.
    const workspaces = await rented(a.url, b.url);
    const before = await passedOn();
    for (const [index, [what, workspace]] of [...workspaces].entries())
      await usedAt(t, index % 2 ? [b.url, a.url] : [a.url, b.url], what, workspace);
    const after = await passedOn();
    t.ok(
      after.every((count, index) => count > before[index]!),
      'each server passed requests on',
    );

    const keys = await Promise.all(
      [a, b].map(async ({ url }) => (await fetch(`${url}/.well-known/jwks.json`)).json()),
    );
    t.same(keys[0], keys[1], 'either has the keys of both');
    // Their payers' stores belong to other slots.
    for (let payer = 0; payer < 6; payer++) {
      const agent = new TestAgent(payer % 2 === 0 ? a.url : b.url);
      await agent.ingest(`paid-${payer}.txt`, `Lighthouse number ${payer}.`);
      const other = new TestAgent(payer % 2 === 0 ? b.url : a.url, agent.account);
      const { status, body } = await other.post('/agent/v1/search', { query: 'lighthouse' });
      t.same([status, body.hits[0].item.name], [200, `paid-${payer}.txt`]);
      // Anybody may pay for more minutes, of any workspace.
      for (const workspace of workspaces.values()) {
        const before = (await workspace.send('GET', '/usage')).body.expires_at;
        const path = `/agent/v1/workspaces/${workspace.id}/extend`;
        t.equal((await other.post(path, { ttl_minutes: 10 })).status, 200);
        const after = (await workspace.send('GET', '/usage')).body.expires_at;
        // The end by a running clock is given in wall time, some milliseconds apart.
        const added = Date.parse(after) - Date.parse(before);
        t.ok(Math.abs(added - 600_000) < 30_000, `they are added once: ${added} ms`);
      }
    }
    const copy = join(folder, 'books');
    const settings = { FARTHING_CLUSTER: servers.cluster('any'), FARTHING_DATA_DIR: join(folder, 'none') };
    t.equal((await runCommand(settings, ['cluster', 'books', copy])).status, 0);
    const ledger = await runCommand({ FARTHING_DATA_DIR: copy }, ['ledger', 'export']);
    // Six rented, and each of six payers uploaded, searched and extended all.
    t.equal(ledger.written.trim().split('\n').length, 6 + 6 * (2 + 6));
    for (const [index, workspace] of [...workspaces.values()].entries()) {
      const [here, there] = both.map(({ url }) => at(url, workspace)) as [TestWorkspace, TestWorkspace];
      const { status, body } = await (index % 2 ? here : there).send('DELETE', '');
      t.equal(status, 200);
      for (const each of [here, there]) {
        t.equal((await each.send('DELETE', '')).body.receipt, body.receipt);
        t.equal((await each.search({ query: 'tides' })).status, 401);
        t.equal((await each.send('GET', '/usage')).status, 401);
      }
    }
  });

  t.test('a receipt names the server whose disk may have a copy, until that server is back', async (t) => {
    const { start, dataOf } = clusterOf('receipts');
    const a = await start(t, 'a');
    await a.node.events('slot_taken', SLOTS);
    const workspaces = await rented(a.url);
    a.node.child.kill('SIGKILL');
    const b = await start(t, 'b');
    await b.node.events('slot_taken', SLOTS);
    const [first] = workspaces.values();
    const named = async (workspace: TestWorkspace) => {
      const { status, body } = await at(b.url, workspace).send('DELETE', '');
      t.equal(status, 200);
      const claims = JSON.parse(Buffer.from(body.receipt.split('.')[1], 'base64url').toString());
      return claims.kept.filter(({ what }: { what: string }) => what.includes('the server a')).length;
    };
    t.equal(await named(first!), 1);
    const again = await start(t, 'a');
    // It begins to follow what the other has, over nothing of a Tenant.
    await again.node.events('slot_followed', SLOTS);
    for (const slot of readdirSync(join(dataOf('a'), 'slots')))
      t.notOk(existsSync(join(dataOf('a'), 'slots', slot, 'tenants', first!.id)), slot);
  });

  t.test('who stands by takes over with the indexes, and removes its copy of what ends', async (t) => {
    const { start, dataOf } = clusterOf('standby');
    const a = await start(t, 'a');
    await a.node.events('slot_taken', SLOTS);
    const workspaces = await rented(a.url);
    const b = await start(t, 'b');
    const here = (id: string, { id: tenant }: TestWorkspace) =>
      readdirSync(join(dataOf(id), 'slots'))
        .filter((slot) => slot !== 'count')
        .some((slot) => existsSync(join(dataOf(id), 'slots', slot, 'tenants', tenant)));
    const names = [...workspaces.values()];
    await a.node.events('slot_followed', PLACED_AT_B.length);
    const followed = async (id: string) => {
      while (!names.every((workspace) => here(id, workspace)))
        await new Promise((soon) => setTimeout(soon, 50));
    };
    // Each server has what it answers for, and follows what the other does.
    await Promise.all([followed('a'), followed('b')]);
    t.same(a.node.seen('index_restored'), [], 'who gave a slot up goes on with the indexes that it had');
    const [ended, ...rest] = names;
    const { status, body } = await at(b.url, ended!).send('DELETE', '');
    t.equal(status, 200);
    const claims = JSON.parse(Buffer.from(body.receipt.split('.')[1], 'base64url').toString());
    t.equal(claims.copies.removed_by.length, 1);
    t.notOk(claims.kept.some(({ what }: { what: string }) => /the server/.test(what)));
    t.notOk(here('a', ended!) || here('b', ended!), 'nothing of it is on either disk');
    a.node.child.kill('SIGKILL');
    const taken = await b.node.events('slot_taken', SLOTS);
    t.ok(taken.every(({ followed: isFollowed }) => isFollowed));
    for (const [what, workspace] of workspaces)
      if (rest.includes(workspace))
        t.equal((await at(b.url, workspace).search({ query: what })).body.hits[0].item.name, `${what}.txt`);
    t.same(b.node.seen('index_restored').filter(({ tenant }) => tenant === ended!.id).length <= 1, true);
  });

  t.test('no request is refused while a server stops and comes back', async (t) => {
    const { start } = clusterOf('rolling');
    const a = await start(t, 'a');
    const b = await start(t, 'b');
    await b.node.event('slot_taken');
    const workspaces = [...(await rented(b.url))];
    let stopped = false;
    const refused: unknown[] = [];
    let answers = 0;
    const asking = workspaces.map(async ([what, workspace]) => {
      while (!stopped) {
        const { status, body } = await at(b.url, workspace).search({ query: what });
        answers += 1;
        if (status !== 200 || body.hits[0]?.item.name !== `${what}.txt`) refused.push({ status, body });
      }
    });
    a.node.child.kill('SIGTERM');
    t.equal((await a.node.ended)[0], 0);
    await b.node.events('slot_taken', SLOTS);
    const again = await start(t, 'a');
    await again.node.event('slot_taken');
    stopped = true;
    await Promise.all(asking);
    t.same(refused, []);
    t.ok(answers > workspaces.length);
  });

  t.test(
    'a draining server has no slot and nothing of a Tenant on its disk, and still answers',
    async (t) => {
      const { start, dataOf } = clusterOf('drained');
      const a = await start(t, 'a');
      const workspaces = await rented(a.url);
      const b = await start(t, 'b');
      const kv = new Etcd(servers.addresses);
      t.teardown(() => kv.close());
      const row = {
        key: DRAIN_ROWS.key('drained', 'a'),
        value: DRAIN_ROWS.format({ since: '2026-01-01T00:00:00Z' }),
      };
      await kv.commit({ when: [], puts: [row] });
      await b.node.events('slot_taken', SLOTS);
      for (const [what, workspace] of workspaces)
        t.equal((await at(a.url, workspace).search({ query: what })).body.hits[0].item.name, `${what}.txt`);
      await a.node.events('content_removed', SLOTS);
      const slots = join(dataOf('a'), 'slots');
      for (const slot of readdirSync(slots).filter((name) => name !== 'count'))
        t.notOk(existsSync(join(slots, slot, 'tenants')), `slot ${slot}`);
    },
  );

  t.test('a slot that its server cannot open stays with the other, and no request is refused', async (t) => {
    const { start, dataOf } = clusterOf('unreadable');
    const a = await start(t, 'a');
    const workspaces = await rented(a.url);
    const [broken] = PLACED_AT_B;
    const folder = join(dataOf('b'), 'slots', String(broken));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'state'), 'no folder');
    const b = await start(t, 'b');
    t.match(await b.node.event('slot_not_taken'), { slot: broken });
    await b.node.events('slot_taken', PLACED_AT_B.length - 1);
    await a.node.events('slot_taken', SLOTS + 1);
    for (const [what, workspace] of workspaces)
      for (const { url } of [a, b]) {
        const { status, body } = await at(url, workspace).search({ query: what });
        t.same([status, body.hits[0].item.name], [200, `${what}.txt`]);
      }
    const { written } = await runCommand({ FARTHING_CLUSTER: servers.cluster('unreadable') }, [
      'cluster',
      'status',
    ]);
    t.match(written, `b could not open ${broken}; its log says why.\n`);
  });
}
