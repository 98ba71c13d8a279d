import { join } from 'node:path';
import t from 'tap';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { eventually } from '../../../rig/eventually.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

const BYTES_MAX = 24 * 2 ** 20;
const base64 = (text: string) => Buffer.from(text).toString('base64');

if (withoutEtcd !== undefined) {
  t.pass('a server whose etcd is full', { skip: withoutEtcd });
} else {
  t.test(
    'an etcd that is full refuses every request, uncharged, until an operator has made room',
    async (t) => {
      const folder = t.testdir({});
      const servers = await EtcdServers.start(join(folder, 'etcd'), { bytesMax: BYTES_MAX });
      t.teardown(() => servers.stop());
      const server = await startTestServer(t, {
        DATA_DIR: join(folder, 'data'),
        FARTHING_CLUSTER: servers.cluster('full'),
      });
      const agent = new TestAgent(server.url);
      const workspace = await agent.rent();
      const [address] = servers.addresses as [string];
      const ask = async (path: string, question: object, at = address): Promise<Record<string, unknown>> => {
        const response = await fetch(at + path, { method: 'POST', body: JSON.stringify(question) });
        return { ok: response.ok, ...((await response.json()) as object) };
      };
      const value = base64('x'.repeat(2 ** 20));
      for (let number = 0; ; number++)
        if (!(await ask('/v3/kv/put', { key: base64(`fill/${number}`), value })).ok) break;
      await eventually(async () => (await workspace.send('GET', '/usage')).status === 503);
      t.match(await agent.post('/agent/v1/workspaces', {}), {
        status: 503,
        body: { code: 'books_unavailable', charged: false },
      });

      await ask('/v3/kv/deleterange', { key: base64('fill/'), range_end: base64('fill0') });
      const { header } = (await ask('/v3/kv/range', { key: base64('a') })) as {
        header: { revision: string };
      };
      await ask('/v3/kv/compaction', { revision: header.revision, physical: true });
      for (const member of servers.addresses) await ask('/v3/maintenance/defragment', {}, member);
      const { alarms = [] } = (await ask('/v3/maintenance/alarm', { action: 'GET' })) as {
        alarms?: object[];
      };
      t.ok(alarms.length > 0);
      for (const alarm of alarms) await ask('/v3/maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
      await eventually(async () => (await workspace.send('GET', '/usage')).status === 200);
      t.equal((await agent.post('/agent/v1/workspaces', {})).status, 201);
    },
  );
}
