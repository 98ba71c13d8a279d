import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import t, { type Test } from 'tap';
import { EtcdServers, withoutEtcd } from '../../../cluster/etcd-servers.ts';
import { makeCertificates, withoutOpenssl } from '../../../rig/certificates.ts';
import { freePorts, listening } from '../../../rig/ports.ts';
import { temporaryFolder } from '../../../rig/temporary-folder.ts';
import { TestAgent, TestWorkspace } from '../../../rig/test-server.ts';
import { clusterServerSettings, NodeProcess } from './node-process.ts';

/** Servers that reach each other over HTTPS: a TLS proxy before each, and an authority of their own. */

const absent = withoutEtcd ?? withoutOpenssl;
const SLOTS = 8;

if (absent !== undefined) {
  t.pass('servers reach each other over HTTPS', { skip: absent });
} else {
  const folder = temporaryFolder(t);
  const servers = await EtcdServers.start(join(folder, 'etcd'));
  t.teardown(() => servers.stop());
  const files = makeCertificates(join(folder, 'certificates'));
  const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)];

  /** Ends TLS before a port. */
  const terminate = async (t: Test, port: number) => {
    let handshakes = 0;
    const proxy = createServer({ cert, key }, (outside) => {
      handshakes += 1;
      const inside = connect(port, '127.0.0.1');
      outside.pipe(inside).pipe(outside);
      for (const socket of [outside, inside])
        socket
          .on('error', () => undefined)
          .once('close', () => {
            outside.destroy();
            inside.destroy();
          });
    });
    proxy.on('tlsClientError', () => undefined);
    const { url } = await listening(t, proxy, 'https');
    return { url, handshakes: () => handshakes };
  };

  t.test('a request for another server goes there and back, calls and large bodies too', async (t) => {
    const common = {
      ...clusterServerSettings(servers, folder, 'tls'),
      FARTHING_SLOTS: String(SLOTS),
      FARTHING_NODE_CA_FILE: files.ca,
    };
    const start = async (id: string) => {
      const [port] = await freePorts(1);
      const proxy = await terminate(t, port!);
      const node = new NodeProcess(t, {
        ...common,
        PORT: String(port),
        DATA_DIR: join(folder, id),
        FARTHING_NODE_ID: id,
        FARTHING_NODE_URL: proxy.url,
      });
      await node.event('ready');
      return { node, url: `http://127.0.0.1:${port}`, proxy };
    };
    const a = await start('a');
    await a.node.events('slot_taken', SLOTS);
    const b = await start('b');
    await b.node.event('slot_taken');
    const agent = new TestAgent(a.url);
    for (let count = 0; count < 6; count++) {
      const { id, token } = await agent.rent();
      const [at, elsewhere] = [new TestWorkspace(a.url, id, token), new TestWorkspace(b.url, id, token)];
      // Longer than what is held: it goes through as it comes.
      await at.ingest('tides.txt', `Tides follow the moon.${'\n'.repeat(300_000)}`);
      for (const workspace of [at, elsewhere])
        t.equal(
          (await workspace.search({ query: 'what moves the sea?' })).body.hits[0].item.name,
          'tides.txt',
        );
      const path = `/agent/v1/workspaces/${id}/extend`;
      t.equal((await new TestAgent(b.url).post(path, { ttl_minutes: 10 })).status, 200);
    }
    t.ok(a.proxy.handshakes() + b.proxy.handshakes() > 0, 'by way of TLS');
  });
}
