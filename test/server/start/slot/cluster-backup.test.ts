import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { clusterSettings } from '../../../cluster/cluster-settings.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { farthing } from '../../operator/commands/farthing-command.ts';
import { runCommand } from '../../operator/commands/run-command.ts';

/** A backup of a running server whose content lies in objects: a folder that needs neither etcd nor objects. */

const FILES = {
  'tides.txt': 'Tides follow the moon.',
  'gulls.txt': 'The keeper counts gulls at dawn. '.repeat(400),
};

if (withoutEtcd !== undefined) {
  t.pass('a backup of a server with its content in objects', { skip: withoutEtcd });
} else {
  const folder = t.testdir({});
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());
  const clusterOf = (name: string) => ({ FARTHING_SLOTS: '2', ...clusterSettings(servers, folder, name) });
  const data = join(folder, 'data');
  const copy = join(folder, 'copy');
  const again = join(folder, 'again');
  let workspace: TestWorkspace;
  let receipt: string;
  let payer: TestAgent;

  /** Checks that a server over the copy has everything. */
  const mustHaveAll = async (t: Test, url: string) => {
    const seen = new TestWorkspace(url, workspace.id, workspace.token);
    t.equal((await seen.search({ query: 'what moves the sea?' })).body.hits[0].item.name, 'tides.txt');
    const { items } = (await seen.send('GET', '/items')).body;
    t.same(items.map(({ name }: { name: string }) => name).sort(), Object.keys(FILES).sort());
    for (const { id, name } of items) {
      const file = await fetch(`${url}/agent/v1/workspaces/${workspace.id}/items/${id}/content`, {
        headers: { Authorization: `Bearer ${workspace.token}` },
      });
      t.equal(await file.text(), FILES[name as keyof typeof FILES]);
    }
    const paid = await new TestAgent(url, payer.account).post('/agent/v1/search', { query: 'heron' });
    t.equal(paid.body.hits[0].item.name, 'paid.txt');
  };

  t.test('it starts alone with everything, though the server had nothing of it on its disk', async (t) => {
    const cluster = clusterOf('first');
    const first = await startTestServer(t, { ...cluster, DATA_DIR: data });
    payer = new TestAgent(first.url);
    workspace = await payer.rent({ ttl_minutes: 600 });
    for (const [name, text] of Object.entries(FILES)) await workspace.ingest(name, text);
    await payer.ingest('paid.txt', 'A heron stands in the reeds.');
    const ended = await payer.rent();
    receipt = (await ended.send('DELETE', '')).body.receipt;
    await first.stop();
    rmSync(data, { recursive: true });

    const second = await startTestServer(t, { ...cluster, DATA_DIR: data });
    t.match(await farthing(data, ['backup', copy]), { code: 0, err: '' });
    await second.stop();
    rmSync(join(folder, 'first-objects'), { recursive: true });
    t.match(await farthing(again, ['restore', copy]), { code: 0 });
    const alone = await startTestServer(t, { DATA_DIR: again, FARTHING_SLOTS: '2' });
    await mustHaveAll(t, alone.url);
    const seen = new TestWorkspace(alone.url, ended.id, ended.token);
    t.equal((await seen.send('DELETE', '')).body.receipt, receipt);
    await alone.stop();
  });

  t.test('it can become another cluster, with other objects and another key', async (t) => {
    const environment = { ...clusterOf('second'), DATA_DIR: again };
    const imported = await runCommand(environmentOf(environment), ['cluster', 'import']);
    t.match(imported, { status: 0, explained: '' });
    rmSync(again, { recursive: true });
    const server = await startTestServer(t, environment);
    await mustHaveAll(t, server.url);
  });
}
