import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing } from '../../src/client/index.ts';
import { listening } from '../rig/ports.ts';
import { startTestServer } from '../rig/test-server.ts';

/** What fails on this side of the wire is told as that, and never counts as spent. */

const server = await startTestServer(t);
const clientOf = (baseUrl = server.url) =>
  new Farthing({
    baseUrl,
    account: privateKeyToAccount(generatePrivateKey()),
    budgetUsd: '1',
    attemptsMax: 2,
  });
const NOTHING = { spentUsd: '0', leftUsd: '1' };

t.test('a folder given as a file is told, before anything is signed', async (t) => {
  const client = clientOf();
  await t.rejects(client.ingest(t.testdir({})), {
    code: 'source_unreadable',
    message: /it is a folder; ingestFolder and syncFolder/,
  });
  await t.rejects(client.ingest(join(t.testdir({}), 'nowhere.txt')), { code: 'source_unreadable' });
  t.match(client.spending, NOTHING);
});

/** Passes requests on; `before` is called with those that only ask the price. */
async function relay(t: Test, before: () => void): Promise<string> {
  const relay = createServer((request, response) => {
    if (request.headers['payment-signature'] === undefined) before();
    const pieces: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', async () => {
      const headers = new Headers();
      for (const name of ['payment-signature', 'content-type', 'content-disposition', 'idempotency-key'])
        if (request.headers[name]) headers.set(name, String(request.headers[name]));
      const body = Buffer.concat(pieces);
      const reply = await fetch(server.url + request.url, { method: request.method!, headers, body });
      for (const [name, value] of reply.headers)
        if (!/^(content-length|transfer-encoding|connection)$/.test(name)) response.setHeader(name, value);
      response.writeHead(reply.status).end(Buffer.from(await reply.arrayBuffer()));
    });
  });
  return (await listening(t, relay)).url;
}

t.test('a file that vanishes before it is sent was not paid for', async (t) => {
  const file = join(t.testdir({}), 'vanishing.txt');
  writeFileSync(file, 'Tides follow the moon. '.repeat(20_000));
  const through = await relay(t, () => rmSync(file, { force: true }));
  const client = clientOf(through);
  await t.rejects(client.ingest(file), { code: 'source_unreadable' });
  t.match(client.spending, { ...NOTHING, leftUsd: '0.97', heldUsd: '0.03' });
  const after = await client.ingest(new Blob(['Fog horns.']), { name: 'horn.txt', wait: false });
  t.equal(after.charged, true);
  t.match(client.spending, { spentUsd: '0.03', heldUsd: '0' }, 'its payment is used for the next one');
});
