import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { clusterServerSettings, NodeProcess } from './node-process.ts';

/** Two servers of one cluster, one of which waits: what a client finds when the other is killed, stands still, or is stopped. */

if (withoutEtcd !== undefined) {
  t.pass('a server that takes over from another', { skip: withoutEtcd });
} else {
  const folder = t.testdir({});
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());

  const clusterOf = (name: string) => {
    const common = clusterServerSettings(servers, folder, name);
    const dataOf = (id: string) => join(folder, `${name}-${id}`);
    const start = (t: Test, id: string) =>
      new NodeProcess(t, { ...common, DATA_DIR: dataOf(id), FARTHING_NODE_ID: id });
    return { start, dataOf };
  };

  t.test('a node is killed: the one that waits has every file, token, minute and key', async (t) => {
    const { start } = clusterOf('killed');
    const first = start(t, 'a');
    const firstUrl = await first.url();
    const second = start(t, 'b');
    t.match(await second.event('slots_awaited'), { of: 'a' });
    const agent = new TestAgent(firstUrl);
    const workspace = await agent.rent();
    await workspace.ingest('tides.txt', 'Tides follow the moon.');
    await agent.ingest('paid.txt', 'A lamp burns in the tower.');
    const usage = (await workspace.send('GET', '/usage')).body;
    const keys = await (await fetch(`${firstUrl}/.well-known/jwks.json`)).json();
    first.child.kill('SIGKILL');
    const url = await second.url();
    const seen = new TestWorkspace(url, workspace.id, workspace.token);
    t.equal((await seen.search({ query: 'what moves the sea?' })).body.hits[0].item.name, 'tides.txt');
    t.equal((await seen.send('GET', '/usage')).body.spend_usd, usage.spend_usd);
    const again = new TestAgent(url, agent.account);
    t.equal((await again.post('/agent/v1/search', { query: 'lamp' })).body.hits[0].item.name, 'paid.txt');
    t.same(await (await fetch(`${url}/.well-known/jwks.json`)).json(), keys);
  });

  t.test('a node that stood still answers nothing once another has taken over', async (t) => {
    const { start } = clusterOf('paused');
    const first = start(t, 'a');
    const firstUrl = await first.url();
    const workspace = await new TestAgent(firstUrl).rent();
    await workspace.ingest('tides.txt', 'Tides follow the moon.');
    const second = start(t, 'b');
    await second.event('slots_awaited');
    first.child.kill('SIGSTOP');
    const url = await second.url();
    const seen = new TestWorkspace(url, workspace.id, workspace.token);
    t.equal((await seen.send('DELETE', '')).status, 200);
    // It was asked while it stood still, and would find its file.
    const stale = workspace.search({ query: 'tides' }).then(
      ({ status }) => status,
      () => 'no answer',
    );
    first.child.kill('SIGCONT');
    t.not(await stale, 200);
    t.equal((await first.ended)[0], 1, 'it ends');
    t.match(await first.event('slot_lost'), { error: /lease|another process/ });
  });

  t.test('a node that comes back takes nothing of its former disk for true', async (t) => {
    const { start, dataOf } = clusterOf('back');
    const first = start(t, 'a');
    const agent = new TestAgent(await first.url());
    const kept = await agent.rent();
    await kept.ingest('old.txt', 'Old rope.');
    const disposed = await agent.rent();
    await disposed.ingest('secret.txt', 'The combination is seven.');
    const folderOf = (id: string) => readdirSync(join(dataOf('a'), 'tenants')).some((name) => name === id);
    t.ok(folderOf(disposed.id));
    const second = start(t, 'b');
    await second.event('slots_awaited');
    first.child.kill('SIGKILL');
    await first.ended;
    const url = await second.url();
    const there = ({ id, token }: TestWorkspace) => new TestWorkspace(url, id, token);
    await there(kept).ingest('new.txt', 'New sails.');
    const { receipt } = (await there(disposed).send('DELETE', '')).body;

    const third = start(t, 'a');
    t.match(await third.event('slots_awaited'), { of: 'b' });
    const stopped = performance.now();
    second.child.kill('SIGTERM');
    t.equal((await second.ended)[0], 0);
    const back = await third.url();
    t.comment(`after a stop another answers in ${Math.round(performance.now() - stopped)} ms`);
    await third.event('content_outdated');
    t.notOk(folderOf(disposed.id), 'what the other node destroyed is not here either');
    const seen = new TestWorkspace(back, kept.id, kept.token);
    for (const [query, name] of [
      ['rope', 'old.txt'],
      ['sails', 'new.txt'],
    ])
      t.equal((await seen.search({ query: query! })).body.hits[0].item.name, name);
    t.equal(
      (await new TestWorkspace(back, disposed.id, disposed.token).send('DELETE', '')).body.receipt,
      receipt,
    );
    t.ok(existsSync(dataOf('b')));
  });
}
