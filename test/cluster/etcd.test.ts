import t from 'tap';
import { openSlotLogs } from '../../src/cluster/log/slot-logs.ts';
import { Etcd } from '../../src/cluster/stores/etcd.ts';
import { untilAnswered } from '../../src/cluster/stores/kv.ts';
import { EtcdServers, withoutEtcd } from './etcd-servers.ts';
import { slotLogContract } from './slot-log-contract.ts';
import '../rig/teardown-order.ts';

if (withoutEtcd !== undefined) {
  t.pass('the contract of the slots’ logs, with etcd', { skip: withoutEtcd });
} else {
  const servers = await EtcdServers.start(t.testdir({}));
  t.teardown(() => servers.stop());
  slotLogContract('etcd', (t) => {
    const kv = new Etcd(servers.addresses);
    t.teardown(() => kv.close());
    return kv;
  });

  t.test('etcd: members that are killed in turn lose no entry', async (t) => {
    const kv = new Etcd(servers.addresses);
    t.teardown(() => kv.close());
    const options = { kv, cluster: 'killed', node: 'n1', slots: 4, onLost: () => undefined };
    const logs = await openSlotLogs(options);
    for (const log of logs) for await (const _ of (await log.open(undefined)).entries);
    let killing = true;
    const killed = (async () => {
      for (const member of [0, 1, 2]) {
        await servers.killAndRestart(member);
        await servers.ready();
      }
      killing = false;
    })();
    let written = 0;
    for (; killing || written % 4 !== 0; written++)
      await logs[written % 4]!.append(Buffer.from(String(written))).safe;
    await killed;
    const found: number[] = [];
    for (const log of await openSlotLogs(options))
      for await (const entry of (await log.open(undefined)).entries) found.push(Number(Buffer.from(entry)));
    t.same(
      found.toSorted((a, b) => a - b),
      Array.from({ length: written }, (_, index) => index),
    );
  });

  t.test('a watch tells of its ranges alone, and goes on at another member', async (t) => {
    const kv = new Etcd(servers.addresses, { answerMsMax: 500 });
    t.teardown(() => kv.close());
    let told = Promise.withResolvers<void>();
    let count = 0;
    const range = (name: string) => ({ from: `watched/${name}/`, to: `watched/${name}0` });
    const end = kv.watch([range('a'), range('b')], () => {
      count += 1;
      told.resolve();
    });
    const put = (key: string) => kv.commit({ when: [], puts: [{ key, value: Buffer.from('x') }] });
    const next = async (change: () => Promise<unknown>) => {
      told = Promise.withResolvers();
      await change();
      await told.promise;
    };
    await told.promise;
    // Each range says once that it is watched.
    for (const name of ['a', 'b']) await next(() => put(`watched/${name}/1`));
    const lease = await kv.grant(2);
    await next(() => kv.commit({ when: [], puts: [{ key: 'watched/b/2', value: Buffer.from('x'), lease }] }));
    await next(() => kv.revoke(lease));
    const before = count;
    await put('watched/c/1');
    await next(() => put('watched/a/1'));
    t.ok(count > before);
    // One of them is the member that is asked: a busy machine may have made it another than the first. The others may have to
    // choose a leader before they answer.
    const patient = <T>(ask: () => Promise<T>) => untilAnswered(ask, () => undefined);
    for (const member of servers.addresses.keys()) {
      servers.pause(member);
      try {
        told = Promise.withResolvers();
        let isTold = false;
        const seen = told.promise.then(() => {
          isTold = true;
        });
        // A member may answer once more before it is paused.
        while (!isTold) await Promise.race([seen, patient(() => put('watched/a/1'))]);
      } finally {
        servers.resume(member);
      }
    }
    end();
    const ended = count;
    await patient(() => put('watched/a/1'));
    await patient(() => kv.range('a', 'b'));
    t.equal(count, ended, 'nothing is told once it has ended');
  });
}
