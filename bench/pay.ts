import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { BASE_USDC } from '../src/payment/asset.ts';
import { parsePaymentHeader } from '../src/payment/payment-header.ts';
import { SignatureCheck } from '../src/payment/signature.ts';
import { openStore } from '../src/state/store.ts';
import { BenchWorkspace, quantile, startServer } from './agent.ts';

/** What a payment adds to a search: `make bench-pay`. One client; payments are signed before the clock starts. */

const ROUNDS = Number(process.env.ROUNDS || 300);
const WARM_UP = 30;
const SLOW_VERIFY_MS = 100;
const SLOW_ROUNDS = 40;
const TEXT = 'The lighthouse keeper counts gulls at dawn and writes the tide into the log.';
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;
const DOMAIN = {
  name: BASE_USDC.name,
  version: BASE_USDC.version,
  chainId: BASE_USDC.chainId,
  verifyingContract: BASE_USDC.address,
};

async function payTo(url: string): Promise<`0x${string}`> {
  const challenge = (await (await fetch(`${url}/agent/v1/search`, { method: 'POST' })).json()) as {
    accepts: { payTo: `0x${string}` }[];
  };
  return challenge.accepts[0]!.payTo;
}

async function signed(account: PrivateKeyAccount, to: `0x${string}`, value: bigint) {
  const nonce: `0x${string}` = `0x${randomBytes(32).toString('hex')}`;
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 290);
  const message = { from: account.address, to, value, validAfter: 0n, validBefore, nonce };
  const signature = await account.signTypedData({
    domain: DOMAIN,
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const authorization = {
    from: account.address,
    to,
    value: `${value}`,
    validAfter: '0',
    validBefore: `${validBefore}`,
    nonce,
  };
  const payment = {
    x402Version: 1,
    scheme: 'exact',
    network: 'base',
    payload: { signature, authorization },
  };
  return { header: Buffer.from(JSON.stringify(payment)).toString('base64'), message, signature };
}

interface Timed {
  readonly ms: number;
  readonly timing: Record<string, number>;
}

async function post(url: string, body: string, headers: Record<string, string>): Promise<Timed> {
  const before = performance.now();
  const response = await fetch(url, { method: 'POST', body, headers });
  const answer = (await response.json()) as { timing?: Record<string, number>; charged?: boolean };
  const ms = performance.now() - before;
  if (!response.ok) throw new Error(`${url} was answered ${response.status}: ${JSON.stringify(answer)}`);
  return { ms, timing: answer.timing ?? {} };
}

const line = (name: string, values: readonly number[]) =>
  console.log(
    `${name.padEnd(52)} p50 ${quantile(values, 0.5).toFixed(2).padStart(7)}   p95 ${quantile(values, 0.95).toFixed(2).padStart(7)} ms`,
  );

/** A payer with one file in its index, and a way to buy a search with a payment that is already signed. */
async function openPayer(url: string) {
  const account = privateKeyToAccount(generatePrivateKey());
  const to = await payTo(url);
  const ingest = await signed(account, to, 30_000n);
  await post(`${url}/agent/v1/ingest`, TEXT, { 'X-PAYMENT': ingest.header, Prefer: 'wait=60' });
  return {
    sign: () => signed(account, to, 6000n),
    buy: (header: string, query: string) =>
      post(`${url}/agent/v1/search`, JSON.stringify({ query }), { 'X-PAYMENT': header }),
  };
}

async function localPart(): Promise<void> {
  const server = await startServer();
  try {
    const workspace = await BenchWorkspace.rent(server.url, 60);
    await workspace.ingest('log.txt', new TextEncoder().encode(TEXT));
    const payer = await openPayer(server.url);
    const [free, paid]: [number[], number[]] = [[], []];
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const query = `who counts birds in the morning, ${round}?`;
      const { header } = await payer.sign();
      const before = performance.now();
      await workspace.search({ query });
      const freeMs = performance.now() - before;
      const paidMs = (await payer.buy(header, query)).ms;
      if (round < WARM_UP) continue;
      free.push(freeMs);
      paid.push(paidMs);
    }
    line('workspace search, free', free);
    line('paid search, local facilitator', paid);
    console.log(
      `${'  the payment adds'.padEnd(52)} p50 ${(quantile(paid, 0.5) - quantile(free, 0.5)).toFixed(2).padStart(7)} ms`,
    );
  } finally {
    await server.stop();
  }
}

/** The durable commits of the same store on the same disk, one after the other. */
async function commitPart(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const store = openStore(folder);
  const table = store.table<object>('bench');
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now();
    await store.transaction(() => {
      table.put(`payment/${round}`, { state: 'reserved', nonce: randomBytes(32).toString('hex') });
      table.put(`open/${round}`, { one: 1 });
    });
    values.push(performance.now() - before);
  }
  await store.close();
  rmSync(folder, { recursive: true, force: true });
  line('one durable commit (a paid search waits for two)', values);
}

async function signaturePart(): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey());
  const to: `0x${string}` = '0x00000000000000000000000000000000000fa271';
  const check = new SignatureCheck(BASE_USDC);
  const [ours, viems]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const { header, message, signature } = await signed(account, to, 6000n);
    const { payment } = parsePaymentHeader({ xPayment: header })!;
    let before = performance.now();
    if (check.judge(payment) !== 'valid') throw new Error('a good signature was refused');
    ours.push(1000 * (performance.now() - before));
    before = performance.now();
    await recoverTypedDataAddress({
      domain: DOMAIN,
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message,
      signature,
    });
    viems.push(1000 * (performance.now() - before));
  }
  console.log(
    `signature check: ours p50 ${quantile(ours, 0.5).toFixed(0)} µs, p95 ${quantile(ours, 0.95).toFixed(0)} µs; viem p50 ${quantile(viems, 0.5).toFixed(0)} µs`,
  );
}

/** A facilitator that agrees to everything, slowly: encode and scan must disappear behind it. */
async function slowPart(): Promise<void> {
  const facilitator = createServer(async (request, response) => {
    const body = await textOf(request);
    const reply = (answer: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    if (request.url === '/supported')
      return reply({ kinds: [{ x402Version: 1, scheme: 'exact', network: 'base' }], extensions: [] });
    const { payload } = (
      JSON.parse(body) as { paymentPayload: { payload: { authorization: { from: string } } } }
    ).paymentPayload;
    const payer = payload.authorization.from;
    if (request.url === '/verify') {
      await after(SLOW_VERIFY_MS);
      return reply({ isValid: true, payer });
    }
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    return reply({ success: true, payer, transaction, network: 'base' });
  });
  await new Promise<void>((resolve) => facilitator.listen(0, '127.0.0.1', resolve));
  const server = await startServer({
    FACILITATOR_URL: `http://127.0.0.1:${(facilitator.address() as AddressInfo).port}`,
    PAY_TO: '0x00000000000000000000000000000000000fa271',
  });
  try {
    const payer = await openPayer(server.url);
    const figures: Record<string, number[]> = { total: [], verify: [], settle: [], work: [], over: [] };
    for (let round = 0; round < SLOW_ROUNDS; round++) {
      const { header } = await payer.sign();
      const { ms, timing } = await payer.buy(header, `who counts birds in the morning, ${round}?`);
      figures.total!.push(ms);
      figures.verify!.push(timing.verify_ms!);
      figures.settle!.push(timing.settle_ms!);
      figures.work!.push(timing.encode_ms! + timing.scan_ms! + timing.fuse_ms!);
      figures.over!.push(ms - timing.verify_ms! - timing.settle_ms!);
    }
    console.log(`a facilitator that takes ${SLOW_VERIFY_MS} ms to verify:`);
    line('  paid search, round trip', figures.total!);
    line('  verify', figures.verify!);
    line('  settle', figures.settle!);
    line('  encode + scan + fuse, hidden in verify', figures.work!);
    line('  round trip over verify + settle', figures.over!);
  } finally {
    await server.stop();
    facilitator.closeAllConnections();
    facilitator.close();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

console.log(`${cpus()[0]!.model}, ${cpus().length} cores, Node ${process.version}`);
await localPart();
await commitPart();
await signaturePart();
await slowPart();
console.log('Express with @x402/express is not compared: those packages are not installed here.');
