import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { clusterSettings } from '../../../cluster/cluster-settings.ts';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { eventually } from '../../../rig/eventually.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../../rig/test-server.ts';

/** A server with its state in etcd and its content in objects, after the loss of its whole disk. */

if (withoutEtcd !== undefined) {
  t.pass('a server with its content in objects', { skip: withoutEtcd });
} else {
  const folder = t.testdir({});
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());
  const environmentOf = (name: string) => ({
    DATA_DIR: join(folder, name),
    FARTHING_SLOTS: '2',
    ...clusterSettings(servers, folder, name),
  });
  const filesBelow = (path: string) =>
    readdirSync(path, { recursive: true, encoding: 'utf8' })
      .map((name) => join(path, name))
      .filter((name) => statSync(name).isFile());

  t.test('the whole disk is lost: files, indexes, tokens and receipts come back', async (t) => {
    const environment = environmentOf('lost');
    const first = await startTestServer(t, environment);
    const agent = new TestAgent(first.url);
    const workspace = await agent.rent();
    await workspace.ingest('tides.txt', 'Tides follow the moon.');
    await workspace.ingest('gulls.txt', `${'The keeper counts gulls at dawn. '.repeat(400)}`);
    const removed = await workspace.ingest('removed.txt', 'A heron stands in the reeds.');
    await workspace.send('DELETE', `/items/${removed.body.item.id}`);
    const ended = await agent.rent();
    await ended.ingest('old.txt', 'Old rope.');
    const { receipt } = (await ended.send('DELETE', '')).body;
    const keys = await (await fetch(`${first.url}/.well-known/jwks.json`)).json();
    const before = (await workspace.send('GET', '/items')).body;
    await first.stop();
    rmSync(environment.DATA_DIR, { recursive: true });

    const second = await startTestServer(t, environment);
    const seen = new TestWorkspace(second.url, workspace.id, workspace.token);
    // The time of the loss is given back: they expire later.
    const without = ({ items }: typeof before) =>
      items.map(({ expires_at: _, ...item }: { expires_at: string }) => item);
    t.same(without((await seen.send('GET', '/items')).body), without(before));
    t.equal((await seen.search({ query: 'what moves the sea?' })).body.hits[0].item.name, 'tides.txt');
    t.equal((await seen.search({ query: 'gulls' })).body.hits[0].item.name, 'gulls.txt');
    const gone = (await seen.search({ query: 'heron', families: ['raw'] })).body;
    t.same(
      gone.hits.filter((hit: { snippet?: string }) => /heron/.test(hit.snippet ?? '')),
      [],
    );
    const [item] = before.items;
    const file = await fetch(`${second.url}/agent/v1/workspaces/${workspace.id}/items/${item.id}/content`, {
      headers: { Authorization: `Bearer ${workspace.token}` },
    });
    t.equal(await file.text(), 'Tides follow the moon.');
    t.equal(
      (await new TestWorkspace(second.url, ended.id, ended.token).send('DELETE', '')).body.receipt,
      receipt,
    );
    t.same(await (await fetch(`${second.url}/.well-known/jwks.json`)).json(), keys);
    await seen.ingest('later.txt', 'The harbour freezes in winter.');
    t.equal(
      (await seen.search({ query: 'when does the harbour freeze?' })).body.hits[0].item.name,
      'later.txt',
    );
  });

  t.test(
    'plaintext is neither in the objects nor in etcd, and after the end no object is left',
    async (t) => {
      const environment = environmentOf('sealed');
      const server = await startTestServer(t, environment);
      const secrets = ['Zanzibarquartz', 'Kumquatlantern'];
      const workspace = await new TestAgent(server.url).rent();
      await workspace.ingest(`${secrets[1]}.txt`, `${secrets[0]} shines. `.repeat(500));
      const objects = join(folder, 'sealed-objects');
      t.ok(filesBelow(objects).length >= 2, 'the file and its index part');
      for (const path of [...filesBelow(objects), ...filesBelow(join(folder, 'etcd'))]) {
        const bytes = readFileSync(path);
        for (const secret of secrets) t.notOk(bytes.includes(secret), `${secret} in ${path}`);
      }
      const { claims } = (await workspace.send('DELETE', '')).body;
      t.same(claims.copies, { objects_left: 0, key_destroyed: true });
      t.same(filesBelow(objects), []);
      for (const path of [environment.DATA_DIR, join(folder, 'etcd')].flatMap(filesBelow)) {
        const bytes = readFileSync(path);
        for (const secret of secrets) t.notOk(bytes.includes(secret), `${secret} in ${path}`);
      }
    },
  );

  t.test('etcd stands still: every request is refused, uncharged, until it is there again', async (t) => {
    const environment = environmentOf('away');
    const server = await startTestServer(t, environment);
    const agent = new TestAgent(server.url);
    const workspace = await agent.rent();
    await workspace.ingest('tides.txt', 'Tides follow the moon.');
    await agent.ingest('gulls.txt', 'The keeper counts gulls.');
    servers.pause();
    try {
      // The first ones wait, until the log is known to lag.
      const first = await Promise.all([
        agent.post('/agent/v1/search', { query: 'gulls' }),
        agent.rent().catch(String),
      ]);
      t.match(first[0], { status: 503, body: { code: /settlement_pending|books_unavailable/ } });
      t.match(first[1], /503/);
      // One that writes nothing is answered until then.
      t.match(await workspace.search({ query: 'moon' }), {
        status: 503,
        body: { code: 'books_unavailable', charged: false },
      });
      const refused = await agent.post('/agent/v1/search', { query: 'gulls' });
      t.match(refused, { status: 503, body: { code: 'books_unavailable', charged: false } });
      t.equal(refused.headers.get('retry-after'), '5');
      t.equal((await fetch(`${server.url}/readyz`)).status, 503);
      t.equal((await fetch(`${server.url}/healthz`)).status, 200);
    } finally {
      servers.resume();
    }
    await eventually(async () => (await workspace.search({ query: 'moon' })).status === 200);
    const searched = await agent.post('/agent/v1/search', { query: 'gulls' });
    t.match(searched, { status: 200, body: { charged: true } });
    t.equal((await fetch(`${server.url}/readyz`)).status, 200);
  });

  t.test(
    'the object store is away: uploads are refused, uncharged, and searches of what is here go on',
    async (t) => {
      const environment = environmentOf('stored');
      const objects = join(folder, 'stored-objects');
      const server = await startTestServer(t, environment);
      const agent = new TestAgent(server.url);
      const workspace = await agent.rent();
      const kept = await workspace.ingest('tides.txt', 'Tides follow the moon.');
      const ending = await agent.rent();
      await ending.ingest('rope.txt', 'Old rope.');
      renameSync(objects, `${objects}-away`);
      t.match(await workspace.ingest('gulls.txt', 'The keeper counts gulls.'), {
        status: 503,
        body: { code: 'objects_unavailable', charged: false },
      });
      t.match(await agent.ingest('gulls.txt', 'The keeper counts gulls.'), {
        status: 503,
        body: { code: 'objects_unavailable', charged: false },
      });
      t.equal((await workspace.search({ query: 'moon' })).body.hits.length, 1);
      t.match(await ending.send('DELETE', ''), { status: 503, body: { code: 'objects_unavailable' } });
      t.equal((await ending.search({ query: 'rope' })).status, 401, 'it has ended');
      renameSync(`${objects}-away`, objects);
      await eventually(async () => (await ending.send('DELETE', '')).body.claims?.copies.objects_left === 0);
      t.match(await workspace.ingest('gulls.txt', 'The keeper counts gulls.'), { status: 200 });
      t.ok(kept.body.item.id);
    },
  );

  t.test(
    'a start refuses a missing cluster key, a store that is not there, and books of another kind',
    async (t) => {
      const environment = environmentOf('refused');
      const server = await startTestServer(t, environment);
      const workspace = await new TestAgent(server.url).rent();
      await workspace.ingest('tides.txt', 'Tides follow the moon.');
      await server.stop();
      const { FARTHING_CLUSTER_KEY: key } = environment;
      const other = randomBytes(32).toString('hex');
      await t.rejects(startTestServer(t, { ...environment, FARTHING_CLUSTER_KEY: other }), {
        message: /FARTHING_CLUSTER_KEY: the key [0-9a-f]{16} of former starts is missing/,
      });
      await t.rejects(
        startTestServer(t, { ...environment, FARTHING_OBJECTS: `file://${join(folder, 'absent')}` }),
        { message: /FARTHING_OBJECTS: the store does not answer/ },
      );
      await t.rejects(startTestServer(t, { ...environment, FARTHING_OBJECTS: '' }), {
        message: /FARTHING_OBJECTS: the files of these books lie in objects/,
      });
      // A new key comes first; the former one is needed once.
      const rotated = { ...environment, FARTHING_CLUSTER_KEY: `${other}\n${key}` };
      await (await startTestServer(t, rotated)).stop();
      rmSync(environment.DATA_DIR, { recursive: true });
      const last = await startTestServer(t, { ...environment, FARTHING_CLUSTER_KEY: other });
      const seen = new TestWorkspace(last.url, workspace.id, workspace.token);
      t.equal((await seen.search({ query: 'moon' })).body.hits.length, 1);
    },
  );
}
