import { join } from 'node:path';
import t from 'tap';
import { agreeOnConfig } from '../../../../src/cluster/members/cluster-config.ts';
import {
  COPY_ROWS,
  DRAIN_ROWS,
  FORMAT_ROWS,
  KNOWN_ROWS,
  NODE_ROWS,
  type NodeRow,
  OWNER_ROWS,
} from '../../../../src/cluster/members/node-rows.ts';
import { Etcd } from '../../../../src/cluster/stores/etcd.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { runCommand } from './run-command.ts';

/** `farthing admin cluster status | drain | forget | finish-upgrade` on the rows that servers keep in etcd. */

const SINCE = '2030-01-01T00:00:00.000Z';

if (withoutEtcd !== undefined) {
  t.pass('servers of a cluster are listed, drained and forgotten', { skip: withoutEtcd });
} else {
  const servers = await EtcdServers.start(join(t.testdir(), 'etcd'));
  t.teardown(() => servers.stop());
  const etcd = new Etcd(servers.addresses);
  t.teardown(() => etcd.close());

  /** A cluster of its own, with its rows. */
  const open = async (name: string, slots = 4) => {
    if (slots > 0) await agreeOnConfig({ kv: etcd, cluster: name, slots, node: 'n1' });
    const put = (key: string, value: Uint8Array) => etcd.commit({ when: [], puts: [{ key, value }] });
    const url = (id: string) => `http://10.0.0.${id.slice(1)}:8402`;
    return {
      run: (...words: string[]) =>
        runCommand({ FARTHING_CLUSTER: servers.cluster(name) }, ['cluster', ...words]),
      lives: async (id: string, { ready = true, ...rest }: Partial<NodeRow> = {}) => {
        const row = { url: url(id), version: '0.1.0', weight: 1, since: SINCE, ready, ...rest };
        await put(NODE_ROWS.key(name, id), NODE_ROWS.format(row));
        await put(KNOWN_ROWS.key(name, id), KNOWN_ROWS.format({ url: url(id), since: SINCE }));
      },
      knows: (id: string, min: number, max: number) =>
        put(FORMAT_ROWS.key(name, id), FORMAT_ROWS.format({ min, max })),
      dies: (id: string) =>
        etcd.commit({
          when: [],
          deletes: [{ from: NODE_ROWS.key(name, id), to: `${NODE_ROWS.key(name, id)}\0` }],
        }),
      owns: (id: string, slot: number) =>
        put(OWNER_ROWS.key(name, String(slot)), OWNER_ROWS.format({ node: id })),
      copies: (copy: string) => put(COPY_ROWS.key(name, copy), COPY_ROWS.format({ since: SINCE })),
      draining: async () => {
        const { from, to } = DRAIN_ROWS.range(name);
        return (await etcd.range(from, to)).map(({ key }) => DRAIN_ROWS.name(name, key));
      },
    };
  };

  t.test('the servers are listed with what they have, and slots that nobody has', async (t) => {
    const { run, lives, dies, owns, copies } = await open('status');
    await lives('n1', { unable: [1, 3] });
    await lives('n2', { ready: false });
    await lives('n3');
    await dies('n3');
    await owns('n1', 0);
    await owns('n1', 2);
    for (const name of ['0/n1', '0/n2', '2/n2', '3/n3']) await copies(name);
    const { status, written } = await run('status');
    t.equal(status, 0);
    t.same(
      written.split('\n').map((line) => line.split(/ {2,}/)),
      [
        ['server', 'state', 'slots', 'follows', 'weight', 'version', 'since', 'url'],
        ['n1', 'serves', '2', '0', '1', '0.1.0', SINCE, 'http://10.0.0.1:8402'],
        ['n2', 'starts', '0', '2', '1', '0.1.0', SINCE, 'http://10.0.0.2:8402'],
        ['n3', 'away', '0', '-', '-', '-', SINCE, 'http://10.0.0.3:8402'],
        [''],
        ['4 slots, format 2; nobody has 1, 3'],
        ['n1 could not open 1, 3; its log says why.'],
        [''],
      ],
    );
  });

  t.test('the format is raised once every server that has joined knows a higher one', async (t) => {
    const { run, lives, dies, knows, owns } = await open('upgrade', 1);
    for (const id of ['n1', 'n2', 'n3']) await lives(id);
    const nothing = {
      status: 0,
      written: 'The cluster upgrade has format 2, the highest that its servers know.\n',
    };
    t.match(await run('finish-upgrade'), nothing);
    await knows('n1', 2, 3);
    t.match(
      (await run('status')).written,
      /format 2; nobody has 0\nFormat 3 waits for n2 \(knows 2\), n3 \(knows 2\)\.\n$/,
    );
    await knows('n2', 2, 3);
    await dies('n3');
    const waits = {
      status: 1,
      explained: /Format 3 waits for n3 \(knows 2\): start it with the newer Farthing, or/,
    };
    t.match(await run('finish-upgrade'), waits, 'one that is away may come back');
    t.match(await run('forget', 'n3'), { status: 0 });
    t.match(
      (await run('status')).written,
      /Every server knows format 3: "farthing admin cluster finish-upgrade"/,
    );
    const raised = 'The cluster upgrade has format 3 now: servers that do not know it cannot join.\n';
    t.match(await run('finish-upgrade'), { status: 0, written: raised });
    t.match((await run('status')).written, /1 slots, format 3; nobody has 0\n$/);
    const again = {
      status: 0,
      written: 'The cluster upgrade has format 3, the highest that its servers know.\n',
    };
    t.match(await run('finish-upgrade'), again, 'once more changes nothing');
    t.match(await run('books', join(t.testdir({}), 'copy')), {
      status: 1,
      explained: /has format 3, and this Farthing reads 2: use a newer one/,
    });
    // `n9` runs a version that does not report the formats it knows.
    await knows('n1', 3, 4);
    await knows('n2', 3, 4);
    await owns('n9', 0);
    t.match(await run('finish-upgrade'), { status: 1, explained: /Format 4 waits for n9 \(knows 3\)/ });
  });

  t.test('a drained server is shown as such, until that is undone', async (t) => {
    const { run, lives, draining } = await open('drain');
    await lives('n1');
    await lives('n2');
    t.match(await run('drain', 'n1'), { status: 0, written: /gives its slots away/ });
    t.same(await draining(), ['n1']);
    t.match((await run('status')).written, /^n1 +drains /m);
    t.match(await run('drain', 'n1'), { status: 0 }, 'once more changes nothing');
    t.match(await run('drain', 'n2'), { status: 1, explained: /No other server would take the slots of n2/ });
    t.match(await run('drain', 'n1', '--undo'), { status: 0, written: /takes slots again/ });
    t.same(await draining(), []);
  });

  t.test('only a server that is away is forgotten', async (t) => {
    const { run, lives, dies, owns, draining } = await open('forget');
    await lives('n1');
    await lives('n2');
    await run('drain', 'n2');
    t.match(await run('forget', 'n2'), { status: 1, explained: /n2 lives: stop it first/ });
    await dies('n2');
    for (const name of ['0/n2', '3/n2', '3/n1', '3/other/n2'])
      await etcd.commit({
        when: [],
        puts: [{ key: COPY_ROWS.key('forget', name), value: COPY_ROWS.format({ since: SINCE }) }],
      });
    t.match(await run('forget', 'n2'), { status: 0, written: /destroy it/ });
    const { from, to } = COPY_ROWS.range('forget');
    const copies = (await etcd.range(from, to)).map(({ key }) => COPY_ROWS.name('forget', key));
    t.same(copies, ['3/n1', '3/other/n2'], 'its disk is not looked for any more');
    t.notMatch((await run('status')).written, /n2/);
    t.same(await draining(), []);
    await owns('n3', 0);
    t.match(await run('forget', 'n3'), { status: 1, explained: /n3 has slots/ });
  });

  t.test('what is missing, or mistyped, is named', async (t) => {
    const { run, lives } = await open('empty', 0);
    t.match(await run('status'), { status: 1, explained: /has no books yet/ });
    await lives('n1');
    for (const word of ['drain', 'forget'])
      t.match(await run(word, 'n9'), { status: 1, explained: /has no server n9/ });
    t.match(await run('drain'), { status: 2, explained: /farthing admin cluster drain ID/ });
    t.match(await runCommand({}, ['cluster', 'status']), { status: 2, explained: /Set FARTHING_CLUSTER/ });
    const absent = { FARTHING_CLUSTER: 'etcd://127.0.0.1:1/nowhere' };
    t.match(await runCommand(absent, ['cluster', 'status']), {
      status: 1,
      explained: /FARTHING_CLUSTER: .*ECONNREFUSED/,
    });
  });
}
