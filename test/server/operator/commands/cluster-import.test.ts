import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { clusterSettings } from '../../../cluster/cluster-settings.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { runCommand } from './run-command.ts';

/** A single server's folder becomes a cluster's: `farthing admin cluster import`. */

if (withoutEtcd !== undefined) {
  t.pass('a folder is brought into a cluster', { skip: withoutEtcd });
} else {
  const folder = t.testdir({});
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());
  const alone = { DATA_DIR: join(folder, 'data'), FARTHING_SLOTS: '2' };
  const together = {
    ...alone,
    ...clusterSettings(servers, folder, 'imported'),
  };
  const real = { FACILITATOR: 'http://127.0.0.1:9', PAY_TO: `0x${'1'.repeat(40)}` };
  const runImport = (environment: Record<string, string>) =>
    runCommand(environmentOf(environment), ['cluster', 'import']);

  const first = await startTestServer(t, alone);
  const agent = new TestAgent(first.url);
  const workspace = await agent.rent();
  await workspace.ingest('tides.txt', 'Tides follow the moon.');
  await workspace.ingest('gulls.txt', `${'The keeper counts gulls at dawn. '.repeat(400)}`);
  const ended = await agent.rent();
  const { receipt } = (await ended.send('DELETE', '')).body;
  const keys = await (await fetch(`${first.url}/.well-known/jwks.json`)).json();

  t.test('what is missing, or in the way, is named, and nothing is written', async (t) => {
    t.match(await runImport(alone), { status: 2, explained: /FARTHING_CLUSTER/ });
    t.match(await runImport(together), { status: 1, explained: /a running server uses this folder/ });
    await first.stop();
    const absent = { ...together, FARTHING_OBJECTS: `file://${join(folder, 'absent')}` };
    t.match(await runImport(absent), { status: 1, explained: /FARTHING_OBJECTS: .*absent/ });
    t.match(await runImport({ ...together, ...real }), { status: 1, explained: /books are in play money/ });
  });

  t.test('all of it is there after the import, also when the disk is lost', async (t) => {
    t.match(await runImport(together), {
      status: 0,
      written: /with [0-9]+ tenants is in the cluster imported/,
    });
    t.match(await runImport(together), { status: 1, explained: /has books already/ });
    for (const isLost of [false, true]) {
      if (isLost) rmSync(alone.DATA_DIR, { recursive: true });
      const server = await startTestServer(t, together);
      const seen = new TestWorkspace(server.url, workspace.id, workspace.token);
      t.equal((await seen.search({ query: 'what moves the sea?' })).body.hits[0].item.name, 'tides.txt');
      const { items } = (await seen.send('GET', '/items')).body;
      t.same(items.map(({ name }: { name: string }) => name).sort(), ['gulls.txt', 'tides.txt']);
      for (const { id, name } of items) {
        const file = await fetch(`${server.url}/agent/v1/workspaces/${workspace.id}/items/${id}/content`, {
          headers: { Authorization: `Bearer ${workspace.token}` },
        });
        t.match(await file.text(), name === 'tides.txt' ? 'Tides follow the moon.' : /gulls at dawn/);
      }
      const again = new TestWorkspace(server.url, ended.id, ended.token);
      t.equal((await again.send('DELETE', '')).body.receipt, receipt);
      t.same(await (await fetch(`${server.url}/.well-known/jwks.json`)).json(), keys);
      await seen.ingest(`later-${isLost}.txt`, `The harbour freezes in winter, ${isLost}.`);
      await seen.send('DELETE', `/items/${(await seen.send('GET', '/items')).body.items.at(-1).id}`);
      await server.stop();
    }
  });

  t.test('a server in another money does not join', async (t) => {
    const other = { ...together, ...real, DATA_DIR: join(folder, 'other') };
    await t.rejects(startTestServer(t, other), { message: /"imported" are in play money/ });
  });
}
