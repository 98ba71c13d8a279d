import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { clusterSettings } from '../../../cluster/cluster-settings.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { freePorts } from '../../../rig/ports.ts';
import { temporaryFolder } from '../../../rig/temporary-folder.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { runCommand } from '../../operator/commands/run-command.ts';
import { clusterServerSettings, NodeProcess } from './node-process.ts';

/** `farthing admin cluster backup`: a folder for one server, of what several have in etcd and in the object store. */

const SLOTS = 6;
const LONG = 'The keeper counts gulls at dawn. '.repeat(400);

const claimsOf = (receipt: string) =>
  JSON.parse(Buffer.from(receipt.split('.')[1]!, 'base64url').toString()) as { kept: { what: string }[] };

if (withoutEtcd !== undefined) {
  t.pass('a cluster is backed up', { skip: withoutEtcd });
} else {
  const folder = temporaryFolder(t);
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());
  const common = {
    ...clusterServerSettings(servers, folder, 'shared'),
    FARTHING_SLOTS: String(SLOTS),
    FARTHING_DATA_DIR: join(folder, 'none'),
  };
  const nodes: { readonly node: NodeProcess; readonly url: string }[] = [];
  for (const id of ['a', 'b', 'c']) {
    const [port] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const node = new NodeProcess(t, {
      ...common,
      PORT: String(port),
      FARTHING_DATA_DIR: join(folder, id),
      FARTHING_NODE_ID: id,
      FARTHING_NODE_URL: url,
    });
    nodes.push({ node, url });
  }
  for (const { node } of nodes) await node.event('ready');
  await nodes[2]!.node.event('slot_taken');
  const [{ url }, { url: second }] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const [copy, later] = [join(folder, 'copy'), join(folder, 'later')];
  const payer = new TestAgent(url);
  const kept = new Map<TestWorkspace, Map<string, string>>();
  let ended: TestWorkspace;
  let endedReceipt: string;

  const mustHaveAll = async (t: Test, at: string) => {
    for (const [{ id, token }, files] of kept) {
      const seen = new TestWorkspace(at, id, token);
      const { items } = (await seen.send('GET', '/items?limit=200')).body;
      for (const [name, text] of files) {
        const item = items.find((one: { name: string }) => one.name === name);
        t.ok(item, `${name} is there`);
        const content = await fetch(`${at}/agent/v1/workspaces/${id}/items/${item.id}/content`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        t.equal(await content.text(), text);
      }
      t.equal((await seen.search({ query: 'what moves the sea?' })).body.hits[0].item.name, 'tides.txt');
    }
    const paid = await new TestAgent(at, payer.account).post('/agent/v1/search', { query: 'heron' });
    t.equal(paid.body.hits[0].item.name, 'paid.txt');
    const seen = new TestWorkspace(at, ended.id, ended.token);
    t.equal((await seen.send('DELETE', '')).body.receipt, endedReceipt);
    t.same(
      await (await fetch(`${at}/.well-known/jwks.json`)).json(),
      await keys,
      'its receipts are signed with the same key',
    );
  };
  const keys = fetch(`${url}/.well-known/jwks.json`).then((answer) => answer.json());

  t.test('it has every file that was answered before, while files come and workspaces end', async (t) => {
    for (let count = 0; count < 4; count++) {
      const workspace = await payer.rent({ ttl_minutes: 600 });
      const files = new Map([
        ['tides.txt', 'Tides follow the moon.'],
        ['gulls.txt', LONG],
      ]);
      for (const [name, text] of files) await workspace.ingest(name, text);
      kept.set(workspace, files);
    }
    await payer.ingest('paid.txt', 'A heron stands in the reeds.');
    ended = await payer.rent();
    endedReceipt = (await ended.send('DELETE', '')).body.receipt;
    let over = false;
    let answered = 0;
    const uploads = [...kept.keys()].map(async ({ id, token }, index) => {
      const other = new TestWorkspace(index % 2 === 0 ? second : url, id, token);
      for (let number = 0; !over; number++) {
        const { status } = await other.ingest(`${number}.txt`, `The rope number ${number}.`);
        t.equal(status, 200);
        answered += 1;
      }
    });
    const deletions = (async () => {
      while (!over) {
        const short = await payer.rent();
        await short.ingest('short.txt', LONG);
        t.equal((await short.send('DELETE', '')).status, 200);
      }
    })();
    while (answered < 8) await Promise.race([...uploads, new Promise(setImmediate)]);
    const before = Date.now();
    const backup = await runCommand(common, ['cluster', 'backup', copy]);
    over = true;
    await Promise.all([...uploads, deletions]);
    t.comment(`${answered} uploads meanwhile, ${Date.now() - before} ms`);
    t.match(backup, { status: 0, explained: '', written: /is a backup of shared with [0-9]+ tenants/ });
    t.equal(statSync(copy).mode & 0o777, 0o700);
    t.same(
      readdirSync(folder).filter((name) => name.includes('draft')),
      [],
    );
    const names = readdirSync(copy, { recursive: true }).map(String);
    t.same(
      names.filter((name) => /kept\.json|later|lock\.mdb/.test(name)),
      [],
      'nothing of its making is in it',
    );
  });

  t.test('a receipt names it from then on', async (t) => {
    const [[first]] = [...kept] as [[TestWorkspace, Map<string, string>]];
    const taken = ({ what }: { what: string }) => /operator took a backup/.test(what);
    t.notOk(claimsOf(endedReceipt).kept.some(taken));
    const { receipt } = (await first.send('DELETE', '')).body;
    t.ok(claimsOf(receipt).kept.some(taken));
    const young = await payer.rent();
    t.notOk(claimsOf((await young.send('DELETE', '')).body.receipt).kept.some(taken), 'it was not there yet');
  });

  t.test('it is made of etcd and objects alone, once the servers are dead', async (t) => {
    for (const { node } of nodes) {
      node.child.kill('SIGKILL');
      await node.ended;
    }
    t.match(await runCommand(common, ['cluster', 'backup', later]), { status: 0 });
    t.match(await runCommand(common, ['cluster', 'backup', later]), {
      status: 1,
      explained: /exists already/,
    });
  });

  t.test('one server starts from it, without etcd and objects', async (t) => {
    const server = await startTestServer(t, { DATA_DIR: copy, FARTHING_SLOTS: String(SLOTS) });
    await mustHaveAll(t, server.url);
    const [first] = kept.keys();
    const { receipt } = (await new TestWorkspace(server.url, first!.id, first!.token).send('DELETE', ''))
      .body;
    t.ok(claimsOf(receipt).kept.some(({ what }) => /operator took a backup/.test(what)));
    await server.stop();
    kept.delete(first!);
  });

  t.test('it becomes another cluster', async (t) => {
    const other = {
      ...clusterSettings(servers, folder, 'other'),
      FARTHING_SLOTS: String(SLOTS),
      DATA_DIR: later,
    };
    t.match(await runCommand(environmentOf(other), ['cluster', 'import']), { status: 0, explained: '' });
    const server = await startTestServer(t, { ...other, DATA_DIR: join(folder, 'fresh') });
    await mustHaveAll(t, server.url);
    await server.stop();
  });
}
