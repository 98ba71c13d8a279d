import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { books, objects } from '../../../../src/cluster/operate/examine.ts';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { freePorts } from '../../../rig/ports.ts';
import '../../../rig/teardown-order.ts';

/** Settings of a server over a folder of the test's, which is never made. */
const settingsOf = (environment: Record<string, string>) =>
  readConfig(environmentOf({ DATA_DIR: join(t.testdirName, 'data'), ...environment }));

t.test('an etcd that is not there is a problem, and each member is named', async (t) => {
  const [port] = await freePorts(1);
  const [reads, member] = await books(settingsOf({ FARTHING_CLUSTER: `etcd://127.0.0.1:${port}` }));
  t.match(reads, { check: 'books', state: 'problem', remedy: /FARTHING_CLUSTER/ });
  t.match(member, { check: 'etcd member', state: 'warning', found: new RegExp(`127.0.0.1:${port}`) });
});

t.test('an object store is tried, and nothing is left in it', async (t) => {
  const folder = join(t.testdir({}), 'objects');
  mkdirSync(folder);
  const environment = {
    FARTHING_CLUSTER: 'etcd://127.0.0.1:2379',
    FARTHING_OBJECTS: `file://${folder}`,
    FARTHING_CLUSTER_KEY: randomBytes(32).toString('hex'),
  };
  t.match(await objects(settingsOf(environment)), [
    { check: 'objects', state: 'ok' },
    { check: 'cluster key', state: 'ok', found: /^[0-9a-f]{16}$/ },
  ]);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  t.same(files, []);
  const former = `${environment.FARTHING_CLUSTER_KEY} ${randomBytes(32).toString('hex')}`;
  const [, keys] = await objects(settingsOf({ ...environment, FARTHING_CLUSTER_KEY: former }));
  t.match(keys, { state: 'warning', found: /1 former/, remedy: /Destroy/ });

  const [port] = await freePorts(1);
  const away = `s3://bucket?endpoint=http://127.0.0.1:${port}`;
  const access = { FARTHING_OBJECTS_KEY_ID: 'GK0', FARTHING_OBJECTS_SECRET: 'unknown' };
  const [lost] = await objects(settingsOf({ ...environment, ...access, FARTHING_OBJECTS: away }));
  t.match(lost, { state: 'problem', found: /ECONNREFUSED/ });
});

t.test(
  'a real etcd: its majority, its members, and one that is away',
  { skip: withoutEtcd ?? false },
  async (t) => {
    const servers = await EtcdServers.start(t.testdir({}));
    t.teardown(() => servers.stop());
    const { members } = servers;
    const [unused] = await freePorts(1);
    const cluster = `etcd://${[...members, `127.0.0.1:${unused}`].join()}/doctor`;
    const [reads, ...each] = await books(settingsOf({ FARTHING_CLUSTER: cluster }));
    t.match(reads, { state: 'ok', found: /majority.* ms/ });
    for (const [index, finding] of each.slice(0, 3).entries())
      t.match(finding, { state: /^(ok|warning)$/, found: `${members[index]}: 3.` });
    t.match(each[0], { found: /MiB used, a sync to its disk takes [0-9.]+ ms/ });
    t.match(each[3], { state: 'warning', found: /ECONNREFUSED/ });
  },
);
