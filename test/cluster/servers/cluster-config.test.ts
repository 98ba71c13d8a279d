import { join } from 'node:path';
import t, { type Test } from 'tap';
import { agreeOnConfig, raiseFormat, readUpgrade } from '../../../src/cluster/members/cluster-config.ts';
import { Membership } from '../../../src/cluster/members/membership.ts';
import { Etcd } from '../../../src/cluster/stores/etcd.ts';
import type { Kv } from '../../../src/cluster/stores/kv.ts';
import { EtcdServers, withoutEtcd } from '../etcd-servers.ts';
import { MemoryKv } from '../memory-kv.ts';

/** Formats of this Farthing, and of one that does not exist: it knows a format more. */
const NOW = { min: 2, max: 2 };
const FAKE_FUTURE = { min: 2, max: 3 };

let clusters = 0;

function contract(name: string, open: (t: Test) => Kv): void {
  const cluster = (t: Test) => {
    clusters += 1;
    const options = { kv: open(t), cluster: `config-${process.pid}-${clusters}`, slots: 4 };
    const joins = (node: string, formats = NOW, kv = options.kv) =>
      agreeOnConfig({ ...options, kv, node, formats });
    return { ...options, joins };
  };

  t.test(`${name}: the first process decides, and the others are refused what they cannot do`, async (t) => {
    const { kv, cluster: id, joins } = cluster(t);
    t.equal(await readUpgrade(kv, id), undefined);
    t.equal(await raiseFormat(kv, id), undefined);
    t.same(await joins('n1'), { format: 2, slots: 4 });
    t.same(
      await joins('n2', FAKE_FUTURE),
      { format: 2, slots: 4 },
      'in the format in use, with a newer Farthing',
    );
    await t.rejects(joins('n3', { min: 3, max: 4 }), {
      message: `the cluster "${id}" has format 2, and this Farthing reads 3 to 4: use an older one`,
    });
    await t.rejects(agreeOnConfig({ kv, cluster: id, slots: 5, node: 'n4' }), {
      message: /has 4 slots, not 5/,
    });
    t.match(await readUpgrade(kv, id), { possible: undefined, newest: 3, behind: new Map([['n1', 2]]) });
    t.same(
      await cluster(t).joins('n1', FAKE_FUTURE),
      { format: 3, slots: 4 },
      'a new cluster has the newest',
    );
  });

  t.test(`${name}: a raise takes all who have joined, and refuses others from then on`, async (t) => {
    const { kv, cluster: id, joins } = cluster(t);
    await joins('n1');
    await joins('n2', FAKE_FUTURE);
    t.equal((await raiseFormat(kv, id))!.config.format, 2);
    t.same(await joins('n1', FAKE_FUTURE), { format: 2, slots: 4 });
    t.match(await readUpgrade(kv, id), { possible: 3, behind: new Map() });
    t.same(await joins('n1'), { format: 2, slots: 4 }, 'until then going back is possible');
    t.equal((await raiseFormat(kv, id))!.config.format, 2);
    await joins('n1', FAKE_FUTURE);
    for (const attempt of ['first', 'once more'])
      t.match(await raiseFormat(kv, id), { config: { format: 3, slots: 4 }, possible: undefined }, attempt);
    await t.rejects(joins('n3'), { message: /has format 3, and this Farthing reads 2: use a newer one/ });
    t.notOk((await readUpgrade(kv, id))!.behind.has('n3'), 'and leaves nothing behind');
  });

  t.test(`${name}: a server that joins while the format is raised is seen`, async (t) => {
    const { kv, cluster: id, joins } = cluster(t);
    await joins('n1', NOW);
    await joins('n1', FAKE_FUTURE);
    const meanwhile: Kv = Object.create(kv);
    let once: (() => Promise<unknown>) | undefined = () => joins('n2');
    meanwhile.commit = async (transaction) => {
      const work = once;
      once = undefined;
      await work?.();
      return kv.commit(transaction);
    };
    meanwhile.ranges = (ranges) => kv.ranges(ranges);
    t.match(await raiseFormat(meanwhile, id), { config: { format: 2 }, behind: new Map([['n2', 2]]) });
    await joins('n2', FAKE_FUTURE);
    // And the other way round: it is raised while one joins.
    once = () => raiseFormat(kv, id);
    await t.rejects(joins('n3', NOW, meanwhile), { message: /has format 3/ });
  });

  t.test(`${name}: a server that runs learns of a raise`, async (t) => {
    const { kv, cluster: id, joins } = cluster(t);
    await joins('n1', NOW);
    await joins('n1', FAKE_FUTURE);
    const events: object[] = [];
    const row = { url: 'http://n1', version: '1', weight: 1, since: '', ready: true };
    const membership = await Membership.join({
      kv,
      cluster: id,
      node: 'n1',
      row,
      lease: { id: await leaseOf(kv) },
      log: (event) => void events.push(event),
      lookMs: 1,
    });
    t.teardown(() => membership.close());
    t.equal(membership.view.format, 2);
    await raiseFormat(kv, id);
    while (membership.view.format === 2) await membership.looked;
    t.equal(membership.view.format, 3);
    t.same(events, [{ event: 'format_raised', format: 3 }]);
  });
}

/** A memory engine without leases takes any. */
function leaseOf(kv: Kv): Promise<string> {
  return kv instanceof Etcd ? kv.grant(60) : Promise.resolve('l1');
}

contract('memory', () => new MemoryKv());

if (withoutEtcd !== undefined) {
  t.pass('formats in a real etcd', { skip: withoutEtcd });
} else {
  const servers = await EtcdServers.start(join(t.testdir(), 'etcd'));
  t.teardown(() => servers.stop());
  contract('etcd', (t) => {
    const etcd = new Etcd(servers.addresses);
    t.teardown(() => etcd.close());
    return etcd;
  });
}
