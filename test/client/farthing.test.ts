import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { JSONWebKeySet } from 'jose';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, FarthingError, type IngestProgress, verifyReceipt } from '../../src/client/index.ts';
import { freePorts, listening } from '../rig/ports.ts';
import { startTestServer } from '../rig/test-server.ts';

const samples = join(import.meta.dirname, '../../samples');
/** One server for all: each test has a wallet of its own. */
const { url } = await startTestServer(t);
const wallet = () => privateKeyToAccount(generatePrivateKey());

t.test('a path, a Blob and a stream are ingested, found, shown, and a receipt is verified', async (t) => {
  const payments: string[] = [];
  const farthing = new Farthing({
    baseUrl: `${url}/`,
    account: wallet(),
    onPayment: ({ usd }) => payments.push(usd),
  });
  t.match(await farthing.search('nothing there yet'), { hits: [], charged: false });
  t.match(farthing.spending, { spentUsd: '0', heldUsd: '0.006', leftUsd: null });
  const stages: IngestProgress[] = [];
  const pdf = await farthing.ingest(join(samples, 'almanac.pdf'), { onProgress: (one) => stages.push(one) });
  t.match(pdf, { item: { name: 'almanac.pdf', state: 'searchable', media_type: 'application/pdf' } });
  t.ok(pdf.item.segments > 0);
  t.match(stages[0], { stage: 'sending', bytesTotal: pdf.item.bytes });
  t.match(stages.at(-1), { stage: 'searchable', progress: 1 });
  const found = await farthing.search({ query: 'how do insects tell each other where food is?', k: 3 });
  t.match(found.hits[0], { item: { name: 'almanac.pdf' }, locator: { page: Number } });
  t.match(await farthing.item(pdf.item.id), { id: pdf.item.id, pages: Number });
  t.match(await farthing.ingest(join(samples, 'almanac.pdf')), { duplicate: true, charged: false });
  t.same(payments, ['0.03', '0.006', '0.002'], 'what cost nothing was not charged');
  t.equal(farthing.spending.spentUsd, '0.038');

  const { workspace, record } = await farthing.workspaces.rent({ ttlMinutes: 20, spendLimitUsd: 1 });
  t.match(record, { ttl_minutes: 20, spend_limit_usd: '1', price_usd: '0.02' });
  t.notOk('capability_token' in record);
  async function* pieces() {
    yield new TextEncoder().encode('A puffin is no ');
    yield new TextEncoder().encode('gull.');
  }
  const followed = await workspace.ingest(join(samples, 'almanac.pdf'), { onProgress: () => undefined });
  t.same(followed.item, await workspace.item(followed.item.id), 'told as it is at its end');
  await workspace.ingest(pieces(), { name: 'puffin – größe.txt' });
  await workspace.ingest(new Response('A tern dives.').body!, { name: 'tern.txt' });
  const same = new Farthing({ baseUrl: url }).workspaces.open(workspace);
  t.match((await same.search('puffin')).hits[0], { item: { name: 'puffin – größe.txt' } });
  const picture = new Uint8Array(await new Response(await fetchFile('chelsea.png')).arrayBuffer());
  await same.ingest(new File([picture], 'chelsea.png'));
  t.match((await same.search({ image: picture, k: 1 })).hits[0], { item: { name: 'chelsea.png' } });
  t.match(await same.grep('a (PUFFIN|tern)', { ignoreCase: true, maxLines: 1 }), {
    lines: [{ item: { name: 'puffin – größe.txt' }, text: 'A puffin is no gull.', highlights: [[0, 8]] }],
    truncated: true,
  });
  t.match(await same.usage(), { searches: 2, ingests: 4, items: 4 });
  t.match(await same.history(), {
    entries: [{ image_sha256: createHash('sha256').update(picture).digest('hex') }, { query: 'puffin' }],
  });
  const first = await same.items({ limit: 2 });
  t.equal((await same.items({ limit: 2, after: first.next! })).items.length, 2);
  await t.rejects(same.extend(), { code: 'wallet_missing' });
  t.match(await workspace.extend({ ttlMinutes: 5 }), { ttl_minutes: 5, spend_usd: '0.0225' });
  const disposal = await same.dispose();
  t.match(disposal.claims, { workspace: workspace.id, reason: 'deleted', items: 4 });
  t.same((await workspace.dispose()).claims, disposal.claims, 'asked again, the same');
  const keys = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
  const [head, , signature] = disposal.receipt.split('.');
  await t.rejects(verifyReceipt(`${head}.${btoa('{}')}.${signature}`, keys), { code: 'receipt_invalid' });
  await t.rejects(verifyReceipt(disposal.receipt, keys, 'ws_other'), { code: 'receipt_invalid' });
  await t.rejects(same.usage(), { code: 'workspace_unauthorized', status: 401 });
});

async function fetchFile(name: string): Promise<Blob> {
  const { openAsBlob } = await import('node:fs');
  return openAsBlob(join(samples, name));
}

t.test('over a limit nothing is signed', async (t) => {
  let signatures = 0;
  const { address, signTypedData } = wallet();
  const account = {
    address,
    signTypedData: (message: Parameters<typeof signTypedData>[0]) => {
      signatures += 1;
      return signTypedData(message);
    },
  };
  const dear = new Farthing({ baseUrl: url, account, maxPriceUsd: 0.005 });
  await t.rejects(dear.search('gulls'), { code: 'price_over_limit', facts: { price_usd: '0.006' } });
  const poor = new Farthing({ baseUrl: url, account, budgetUsd: '0.03' });
  await t.rejects(poor.workspaces.create({ ttlMinutes: 60 }), { code: 'budget_exceeded' });
  const asked: string[] = [];
  const careful = new Farthing({
    baseUrl: url,
    account,
    approve: ({ usd }) => {
      asked.push(usd);
      return usd === '0.03';
    },
  });
  await t.rejects(careful.search('gulls'), { code: 'payment_declined' });
  t.equal(signatures, 0);
  await careful.ingest(new Blob(['A gull.']));
  t.equal(signatures, 1);
  t.same(asked, ['0.006', '0.03']);
});

t.test('an uncharged call’s authorization pays for the next one', async (t) => {
  const farthing = new Farthing({ baseUrl: url, account: wallet(), budgetUsd: '0.036' });
  for (let index = 0; index < 5; index++) t.equal((await farthing.search('nothing there')).charged, false);
  await t.rejects(farthing.search({ query: 'x', k: 5000 }), { code: 'field_invalid', status: 400 });
  await t.rejects(farthing.ingest(new Blob(['PK\u0003\u0004 no such type'])), FarthingError);
  await farthing.ingest(new Blob(['A gull.']));
  t.equal((await farthing.search('gull')).charged, true);
  t.match(farthing.spending, { spentUsd: '0.036', heldUsd: '0', leftUsd: '0' });
});

t.test('a wallet that speaks EIP-1193 is asked for its address, its chain and one signature', async (t) => {
  const account = wallet();
  const asked: string[] = [];
  const signer = {
    chain: '0x1',
    async request({ method, params }: { method: string; params?: unknown }): Promise<unknown> {
      asked.push(method);
      if (method === 'eth_requestAccounts') return [account.address];
      if (method === 'eth_chainId') return signer.chain;
      if (method === 'wallet_switchEthereumChain') {
        signer.chain = (params as [{ chainId: string }])[0].chainId;
        return null;
      }
      const [from, typed] = params as [string, string];
      t.equal(from, account.address);
      return account.signTypedData(JSON.parse(typed));
    },
  };
  const farthing = new Farthing({ baseUrl: url, signer });
  t.match(await farthing.ingest(new Blob(['A gull.'])), { charged: true });
  t.match(await farthing.search('gull'), { charged: true });
  t.same(asked, [
    'eth_requestAccounts',
    'eth_chainId',
    'wallet_switchEthereumChain',
    'eth_signTypedData_v4',
    'eth_chainId',
    'eth_signTypedData_v4',
  ]);
});

t.test('many files go up a few at once; refused ones are counted; a run resumes', async (t) => {
  const workspace = await new Farthing({ baseUrl: url, account: wallet() }).workspaces.create();
  const done = new Map<string, unknown>();
  const log = {
    has: (key: string) => done.has(key),
    add: (key: string, outcome: unknown) => void done.set(key, outcome),
  };
  const files = Array.from({ length: 9 }, (_, index) => new File([`Gull ${index}.`], `gull-${index}.txt`));
  const bad = { source: new Blob(['']), name: 'empty.txt' };
  const stop = new AbortController();
  const first = workspace.ingestMany(files, {
    log,
    concurrency: 2,
    signal: stop.signal,
    onOutcome: () => done.size >= 4 && stop.abort(),
  });
  await t.rejects(first, { name: 'AbortError' });
  const before = done.size;
  t.ok(before >= 4 && before < 9);
  const same = new File(['Gull 0.'], 'same.txt');
  const summary = await workspace.ingestMany([...files, bad, same], { log });
  t.match(summary, {
    skipped: before,
    duplicates: Number,
    failed: [{ key: 'empty.txt', error: { code: 'file_empty' } }],
  });
  t.ok(summary.duplicates >= 1);
  t.equal((await workspace.usage()).items, 9);
  const gone = new Farthing({ baseUrl: url }).workspaces.open({ id: workspace.id, token: 'fws_wrong' });
  await t.rejects(
    gone.ingestMany(files),
    { code: 'workspace_unauthorized' },
    'an error that ends the run is not counted per file',
  );
});

t.test('an absent server and a foreign one are told apart', async (t) => {
  const [port] = await freePorts(1);
  const absent = new Farthing({ baseUrl: `http://127.0.0.1:${port}`, account: wallet(), attemptsMax: 2 });
  await t.rejects(absent.search('gull'), { code: 'server_unreachable' });
  const other = createServer((_request, response) => response.writeHead(404).end('{"hello": "world"}'));
  const wrong = new Farthing({ baseUrl: (await listening(t, other)).url, account: wallet() });
  await t.rejects(wrong.search('gull'), { code: 'answer_unexpected', status: 404 });
  await t.rejects(wrong.ingest('/no/such/file'), { code: 'source_unreadable' });
  await t.rejects(wrong.search({}), { code: 'search_empty' });
});

/** For what fails on this side of the wire: it is told as that, and never counts as spent. */
const clientOf = (baseUrl = url) =>
  new Farthing({
    baseUrl,
    account: wallet(),
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
      const reply = await fetch(url + request.url, { method: request.method!, headers, body });
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
