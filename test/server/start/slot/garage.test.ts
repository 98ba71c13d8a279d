import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { GarageServer, withoutGarage } from '../../../cluster/objects/garage-server.ts';
import { eventually } from '../../../rig/eventually.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../../rig/test-server.ts';

/** A server whose content is in a real S3 server, which is full, stands still, and has everything when the disk is lost. */

const absent = withoutEtcd ?? withoutGarage;
const REFUSED = { status: 503, body: { code: 'objects_unavailable', charged: false } };

if (absent !== undefined) {
  t.pass('a server with its content in a bucket', { skip: absent });
} else {
  const folder = t.testdir({});
  const [etcd, garage] = [
    await EtcdServers.start(join(folder, 'etcd')),
    await GarageServer.start(join(folder, 'garage')),
  ];
  t.teardown(() => Promise.all([etcd.stop(), garage.stop()]));
  await garage.bucket('content');
  const environment = {
    DATA_DIR: join(folder, 'data'),
    FARTHING_CLUSTER: etcd.cluster('garage'),
    FARTHING_CLUSTER_KEY: randomBytes(32).toString('hex'),
    ...garage.settings('content'),
  };

  t.test(
    'a bucket that is full, or stands still, refuses uploads, uncharged; the rest goes on',
    async (t) => {
      const server = await startTestServer(t, environment);
      const agent = new TestAgent(server.url);
      const workspace = await agent.rent();
      await workspace.ingest('tides.txt', 'Tides follow the moon.');
      await garage.limit('content', 1);
      t.match(await agent.ingest('full.txt', 'A bucket that is full.'), REFUSED);
      t.equal((await workspace.search({ query: 'moon' })).body.hits.length, 1);
      await garage.limit('content', undefined);
      await eventually(
        async () => (await workspace.ingest('room.txt', 'There is room again.')).status === 200,
      );

      garage.pause();
      try {
        t.match(await workspace.ingest('paused.txt', 'A bucket that stands still.'), REFUSED);
        t.match(await agent.ingest('paused.txt', 'A bucket that stands still.'), REFUSED);
        t.equal((await workspace.search({ query: 'moon' })).status, 200);
        t.equal((await agent.post('/agent/v1/workspaces', {})).status, 201);
      } finally {
        garage.resume();
      }
      await eventually(async () => (await workspace.ingest('again.txt', 'It moves again.')).status === 200);
      await server.stop();
      rmSync(environment.DATA_DIR, { recursive: true });
      const second = await startTestServer(t, environment);
      const seen = new TestWorkspace(second.url, workspace.id, workspace.token);
      t.equal((await seen.send('GET', '/items')).body.items.length, 3);
      t.same((await seen.send('DELETE', '')).body.claims.copies, { objects_left: 0, key_destroyed: true });
    },
  );
}
