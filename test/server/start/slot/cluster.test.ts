import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { openLoggedStores } from '../../../../src/cluster/log/logged-stores.ts';
import { openSlotLogs } from '../../../../src/cluster/log/slot-logs.ts';
import { Etcd } from '../../../../src/cluster/stores/etcd.ts';
import { behind } from '../../../../src/cluster/stores/kv.ts';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { spawnBuilt } from '../built-process.ts';

/** A server with its state in etcd, after the loss of its own copy, and after another has taken its place. */

if (withoutEtcd !== undefined) {
  t.pass('a server with its books in etcd', { skip: withoutEtcd });
} else {
  const folder = t.testdir({});
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());
  const environmentOf = (name: string) => ({
    DATA_DIR: join(folder, name),
    FARTHING_SLOTS: '3',
    FARTHING_CLUSTER: servers.cluster(name),
  });

  t.test('a server whose slots another process claims ends at once, by its next write', async (t) => {
    const environment = { ...environmentOf('fenced'), LOG_LEVEL: 'error' };
    const { child, ended } = spawnBuilt(t, environment);
    const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
    t.match((await lines.next()).value, /"event":"ready"/);
    const kv = new Etcd(servers.addresses);
    t.teardown(() => kv.close());
    await openSlotLogs({ kv, cluster: 'fenced', node: 'n1', slots: 3, onLost: () => undefined });
    // At the latest its clock writes.
    t.equal((await ended)[0], 1);
    let last = '';
    for (let next = await lines.next(); !next.done; next = await lines.next()) last = next.value;
    t.match(JSON.parse(last), { event: 'slot_lost', error: /belongs to another process/ });
  });

  t.test('a long log is replaced by a snapshot, from which the books are made again', async (t) => {
    const environment = environmentOf('trimmed');
    const settings = readConfig({ FARTHING_CLUSTER: environment.FARTHING_CLUSTER, FARTHING_SLOTS: '1' });
    const states = [join(folder, 'trimmed')];
    const events: object[] = [];
    const open = async () => {
      const [store] = await openLoggedStores({
        settings,
        folders: states,
        log: (event) => events.push(event),
        onLost: (_slot, error) => t.fail(String(error)),
      });
      return { store: store!, texts: store!.table<string>('texts') };
    };
    const kv = new Etcd(servers.addresses);
    t.teardown(() => kv.close());
    const countOf = async (kind: string) => {
      const prefix = `/farthing/trimmed/${kind}/0/`;
      return (await kv.range(prefix, behind(prefix))).length;
    };
    const first = await open();
    for (let number = 0; number < 30; number++)
      await Promise.all([
        first.texts.put(`kept ${number}`, 'x'.repeat(50_000)),
        first.texts.put('replaced', String(number)),
      ]);
    t.equal(await countOf('log'), 60);
    const trimmed = first.store.trim();
    await first.texts.put('meanwhile', 'y');
    await trimmed;
    await first.store.trim();
    t.ok((await countOf('log')) <= 1, 'at most what came meanwhile');
    t.ok((await countOf('part')) >= 3);
    await first.texts.put('afterwards', 'z');
    await first.store.close();
    rmSync(states[0]!, { recursive: true });

    const second = await open();
    t.equal(second.texts.count(), 33);
    t.same(['replaced', 'meanwhile', 'afterwards'].map(second.texts.get), ['29', 'y', 'z']);
    await second.store.close();
    const third = await open();
    t.equal(third.texts.count(), 33, 'a copy that the log leads over is kept');
    await third.store.close();
    t.notOk(JSON.stringify(events).includes('log_not_trimmed'));
  });

  t.test('a node with another name, and a folder with books of its own, are refused', async (t) => {
    const environment = environmentOf('refused');
    const server = await startTestServer(t, environment);
    await server.stop();
    await t.rejects(startTestServer(t, { ...environment, FARTHING_NODE_ID: 'n2' }), {
      message: /belongs to the node "n1"/,
    });
    const single = { DATA_DIR: join(folder, 'single') };
    const alone = await startTestServer(t, single);
    await new TestAgent(alone.url).rent();
    await alone.stop();
    await t.rejects(startTestServer(t, { ...single, FARTHING_CLUSTER: servers.cluster('single') }), {
      message: /written without a cluster/,
    });
    t.ok(existsSync(join(single.DATA_DIR, 'state')));
  });
}
