import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { PAY_TO, sign, v1Header } from '../../../payment/rig/payments.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** Wallets without money: nothing of what they send is taken beyond 1 MiB, announced or not. */

const MEBIBYTE = 2 ** 20;
const PRICE = 30_000n;
const server = await startTestServer(t, { PAY_TO, LOCAL_BALANCE_USD: '0.04' });
const incoming = join(server.dataFolder, 'incoming');

/** Has spent what a new wallet has. */
async function emptyWallet(): Promise<TestAgent> {
  const agent = new TestAgent(server.url);
  const { body } = await agent.ingest('notes.txt', `What was bought by ${agent.account.address}.`);
  if (!body.charged) throw new Error('the wallet had no money to begin with');
  // A payer who is owed an answer is believed. Once this request is over, that answer is known to have arrived.
  await agent.get(`/agent/v1/items/item_${'0'.repeat(32)}`);
  return agent;
}

const paymentOf = async ({ account }: TestAgent) =>
  `X-PAYMENT: ${v1Header(await sign(account, { value: PRICE }))}\r\n`;

/** Sends a head and pieces, waits for an answer, and sends nothing more. */
function begin(headers: string, pieces: readonly Buffer[] = []): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, server.host);
    socket.once('data', (piece) => {
      socket.destroy();
      resolve(piece.toString('latin1'));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed without an answer')));
    socket.write(`POST /agent/v1/ingest HTTP/1.1\r\nHost: here\r\n${headers}\r\n`);
    for (const piece of pieces) socket.write(piece);
  });
}

const chunk = (bytes: number) =>
  Buffer.concat([
    Buffer.from(`${bytes.toString(16)}\r\n`),
    Buffer.alloc(bytes, 'word '),
    Buffer.from('\r\n'),
  ]);

async function nothingIsLeft(t: Test): Promise<void> {
  while ((await readdir(incoming)).length > 0) await new Promise((next) => setImmediate(next));
  t.pass('nothing of it is on the disk');
}

t.test('an announced upload is verified before any of it is taken', async (t) => {
  const payment = await paymentOf(await emptyWallet());
  const answer = await begin(`${payment}Content-Length: ${2 * MEBIBYTE}\r\n`, [Buffer.from('word')]);
  t.match(answer, /^HTTP\/1\.1 402 [\s\S]*insufficient_funds/);
  await nothingIsLeft(t);
});

t.test('a chunked upload is verified before more than 1 MiB is taken', async (t) => {
  const payment = await paymentOf(await emptyWallet());
  const answer = await begin(
    `${payment}Transfer-Encoding: chunked\r\n`,
    Array.from({ length: 8 }, () => chunk(256 * 1024)),
  );
  t.match(answer, /^HTTP\/1\.1 402 [\s\S]*insufficient_funds/);
  await nothingIsLeft(t);
});

t.test('so is the picture of a search', async (t) => {
  const agent = await emptyWallet();
  await agent.post('/agent/v1/search', { query: 'what was bought?' });
  const picture = Buffer.alloc(2 * MEBIBYTE).toString('base64');
  // It is no picture, which nobody gets to know.
  t.match(await agent.post('/agent/v1/search', { image_b64: picture }), {
    status: 402,
    body: { error: 'insufficient_funds' },
  });
});

t.test('a wallet with money uploads as much as it likes, in one purchase', async (t) => {
  const words = Buffer.alloc(
    3 * MEBIBYTE,
    'gulls at dawn, counted by the keeper of the lighthouse. ',
  ).toString();
  const { status, body } = await new TestAgent(server.url).ingest('long.txt', words, { Prefer: '' });
  t.match([status, body.charged], [200, true]);
  const chunked = new TestAgent(server.url);
  const pieces = Array.from({ length: 8 }, (_, index) => chunk(256 * 1024 + index));
  const answer = await begin(`${await paymentOf(chunked)}Transfer-Encoding: chunked\r\n`, [
    ...pieces,
    Buffer.from('0\r\n\r\n'),
  ]);
  t.match(answer, /^HTTP\/1\.1 200 [\s\S]*"charged":true/);
});

t.test('HEAD with a payment is answered like one without', async (t) => {
  const agent = new TestAgent(server.url);
  const { body } = await agent.ingest('tea.txt', 'Green tea is steeped at eighty degrees.');
  const payment = v1Header(await sign(agent.account, { value: 2000n }));
  const path = `${server.url}/agent/v1/items/${body.item.id}`;
  const head = await fetch(path, { method: 'HEAD', headers: { 'X-PAYMENT': payment } });
  t.equal(head.status, 402);
  t.equal(head.headers.get('X-PAYMENT-RESPONSE'), null);
  t.equal((await fetch(path, { headers: { 'X-PAYMENT': payment } })).status, 200, 'the payment was free');
});

t.test('a disk that is nearly full takes no uploads, and everything else', async (t) => {
  const full = await startTestServer(t, { FREE_DISK_BYTES_MIN: String(2 ** 40) });
  const agent = new TestAgent(full.url);
  t.match(await agent.ingest('tea.txt', 'Green tea.'), { status: 507, body: { code: 'storage_full' } });
  const workspace = await agent.rent();
  t.match(await workspace.ingest('tea.txt', 'Green tea.'), { status: 507, body: { charged: false } });
  t.equal((await workspace.search({ query: 'tea' })).status, 200);
});
