import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { makeCertificates, withoutOpenssl } from '../rig/certificates.ts';
import { freePorts } from '../rig/ports.ts';
import { startTestServer, TestAgent } from '../rig/test-server.ts';

/** The proxy's configuration as the page for operators has it, in Debian's nginx: `NGINX_BINARY=/path/to/nginx` where it is not installed. */

const NGINX = [process.env.NGINX_BINARY, '/usr/sbin/nginx'].find((path) => path && existsSync(path));
const absent = NGINX === undefined ? 'nginx is not installed (NGINX_BINARY=/path/to/nginx)' : undefined;
const skip = absent ?? withoutOpenssl ?? false;
const page = readFileSync(resolve(import.meta.dirname, '../../docs/operating.md'), 'utf8');

/** The documented server block, its addresses replaced by the test's. */
async function startNginx(t: Pick<Test, 'teardown'>, folder: string, port: number, upstream: string) {
  mkdirSync(folder, { recursive: true });
  const { cert, key } = makeCertificates(join(folder, 'certificates'));
  const block = /```nginx\n([\s\S]*?)```/
    .exec(page)![1]!
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('http://127.0.0.1:8402', upstream)
    .replace('server_name', `ssl_certificate ${cert};\n  ssl_certificate_key ${key};\n  server_name`);
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const configuration = join(folder, 'nginx.conf');
  writeFileSync(
    configuration,
    `daemon off; pid ${folder}/pid; error_log stderr warn; worker_processes 1;\n` +
      `events { worker_connections 256; }\nhttp { access_log off; ${own.join(' ')}\n${block}\n}\n`,
  );
  const nginx = spawn(NGINX!, ['-p', folder, '-c', configuration], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(nginx, 'exit');
  t.teardown(() => {
    nginx.kill('SIGTERM');
    return ended;
  });
  return { ended };
}

t.test(
  'behind nginx payments, uploads and tokens pass; no forwarded header is believed',
  { skip },
  async (t) => {
    const [port = 0] = await freePorts(1);
    const url = `https://127.0.0.1:${port}`;
    const server = await startTestServer(t, { BASE_URL: url });
    const folder = join(server.dataFolder, '../nginx');
    const { ended } = await startNginx(t, folder, port, server.url);
    // The certificate is the test's own.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.teardown(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    });
    await answering(url, ended);

    const agent = new TestAgent(url);
    const ingested = await agent.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
    t.match(ingested, { status: 200, body: { charged: true } });
    const found = await agent.post('/agent/v1/search', { query: 'who counts gulls?' });
    t.match(found, { status: 200, body: { charged: true, hits: [{ item: { name: 'gulls.txt' } }] } });
    t.ok(found.headers.get('x-payment-response'), 'the receipt comes through');

    const quoted = await fetch(`${url}/agent/v1/search`, {
      method: 'POST',
      body: '{"query":"x"}',
      headers: {
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'http',
        Forwarded: 'host=evil.example',
      },
    });
    t.equal(quoted.status, 402);
    t.match(await quoted.json(), { resource: `${url}/agent/v1/search` }, 'quotes name BASE_URL alone');

    const workspace = await agent.rent({ ttl_minutes: 15 });
    const large = 'Salt marshes protect the coast. '.repeat(1_200);
    t.match(await workspace.ingest('marsh.txt', large), { status: 200 });
    t.match(await workspace.search({ query: 'what protects the coast?' }), {
      status: 200,
      body: { hits: [{}] },
    });
    const padded = Buffer.from(JSON.stringify({ x402Version: 1, padding: 'x'.repeat(8_500) })).toString(
      'base64',
    );
    const refused = await fetch(`${url}/agent/v1/search`, {
      method: 'POST',
      body: '{}',
      headers: { 'X-PAYMENT': padded },
    });
    t.equal(refused.status, 402, 'a payment header of 12 kB reaches the server');
    await refused.arrayBuffer();
    t.match(await workspace.send('DELETE', ''), { status: 200 });
  },
);

/** Until it takes connections, or has ended. */
async function answering(url: string, ended: Promise<unknown>): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (!over) {
    const answer = await fetch(`${url}/healthz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await pause(50);
  }
  throw new Error('nginx ended before it answered');
}
