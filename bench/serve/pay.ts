import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recoverTypedDataAddress } from 'viem';
import { BASE_USDC } from '../../src/payment/asset.ts';
import { SignatureCheck } from '../../src/payment/signature.ts';
import { parsePaymentHeader } from '../../src/payment/wire/payment-header.ts';
import { tokenDomain, transferOf, transferTypedData } from '../../test/rig/sign-transfer.ts';
import { type BenchServer, BenchWorkspace, quantile, startScript, startServer } from '../rig/agent.ts';
import { startAgreeingFacilitator } from '../rig/facilitator.ts';
import { BenchPayer, post } from '../rig/payer.ts';
import { processorTimes } from '../rig/thread-times.ts';
import { BenchCommits } from './commits.ts';

/**
 * What a payment adds to a search. One client, one request at a time; payments are signed before the
 * clock starts. What is compared is measured in turn, round by round, so that it shares whatever else the machine does.
 */

const ROUNDS = Number(process.env.ROUNDS);
const WARM_UP = 30;
const SLOW_VERIFY_MS = 100;
const SLOW_ROUNDS = Math.min(ROUNDS, 60);
const CLIENTS = 16;
const CROWD_ROUNDS = Math.ceil(ROUNDS / CLIENTS);
/** More than all searches cost. */
const PREPAID_USD = 40;
const PAY_TO = '0x00000000000000000000000000000000000fa271';
const TEXT = 'The lighthouse keeper counts gulls at dawn and writes the tide into the log.';
const PEER = join(import.meta.dirname, '../peers/express.js');
const PEER_INSTALLED = existsSync(join(import.meta.dirname, '../peers/node_modules/@x402/express'));

type Figures = Record<string, number[]>;

export const facts: Record<string, Record<string, object>> = {};
let part = '';

function beginPart(title: string): void {
  part = title;
  facts[part] = {};
}

function line(name: string, values: readonly number[] = []): void {
  facts[part]![name] = { p50_ms: quantile(values, 0.5), p95_ms: quantile(values, 0.95) };
}

function difference(name: string, ms: number): void {
  facts[part]![name] = { value: ms, unit: 'ms' };
}

const p50 = (values: readonly number[] = []) => quantile(values, 0.5);
const query = (round: number) => JSON.stringify({ query: `who counts birds in the morning, ${round}?` });

/** Runs the measurements of one round in turn, and keeps their milliseconds once it is warm. */
async function inTurn(
  rounds: number,
  measurements: Readonly<Record<string, (round: number) => Promise<number>>>,
): Promise<Figures> {
  const figures: Figures = Object.fromEntries(Object.keys(measurements).map((name) => [name, []]));
  for (let round = 0; round < WARM_UP + rounds; round++) {
    for (const [name, measure] of Object.entries(measurements)) {
      const ms = await measure(round);
      if (round >= WARM_UP) figures[name]!.push(ms);
    }
  }
  return figures;
}

/** A free search of a workspace and a paid one of a payer, over the same one file. */
async function openSearches({ url }: BenchServer) {
  const { workspace, token } = await BenchWorkspace.rentWithToken(url, 60);
  await workspace.ingest('log.txt', new TextEncoder().encode(TEXT));
  const payer = new BenchPayer();
  const ingest = await payer.headers(await BenchPayer.offer(`${url}/agent/v1/ingest`));
  await post(`${url}/agent/v1/ingest`, TEXT, { ...ingest, Prefer: 'wait=60' });
  const offer = await BenchPayer.offer(`${url}/agent/v1/search`);
  const prepaid = await payer.prepay(url, PREPAID_USD);
  const free = { url: `${workspace.url}/search`, token };
  return {
    free,
    searchFree: (round: number) => post(free.url, query(round), { Authorization: `Bearer ${token}` }),
    /** Signs, and only then starts the clock. */
    searchPaid: async (round: number) =>
      post(`${url}/agent/v1/search`, query(round), await payer.headers(offer)),
    /** The same, from money that was paid in advance. */
    searchPrepaid: async (round: number) =>
      post(`${url}/agent/v1/search`, query(round), await payer.headers(prepaid)),
    signPrepaid: () => payer.headers(prepaid),
    /** The same, signed before. */
    searchSigned: (round: number, headers: Record<string, string>) =>
      post(`${url}/agent/v1/search`, query(round), headers),
  };
}

async function localPart(commits: BenchCommits): Promise<void> {
  const server = await startServer();
  try {
    const { searchFree, searchPaid, searchPrepaid } = await openSearches(server);
    beginPart('With the local facilitator, in the server itself');
    const figures = await inTurn(ROUNDS, {
      free: async (round) => (await searchFree(round)).ms,
      paid: async (round) => (await searchPaid(round)).ms,
      prepaid: async (round) => (await searchPrepaid(round)).ms,
      commit: () => commits.once(),
    });
    line('workspace search, free', figures.free);
    line('paid search', figures.paid);
    line('prepaid search', figures.prepaid);
    line('one durable commit', figures.commit);
    difference('the payment adds', p50(figures.paid) - p50(figures.free));
    difference('prepaid, it adds', p50(figures.prepaid) - p50(figures.free));
    difference(
      'without the commit that it waits for after its work',
      p50(figures.paid) - p50(figures.free) - p50(figures.commit),
    );
  } finally {
    await server.stop();
  }
}

/** Clients at once, one search each, in turn with as many whose payments were signed before. */
async function crowdPart(): Promise<void> {
  const server = await startServer({ TENANT_REQUESTS_PER_SECOND: '100000' });
  try {
    const { searchFree, signPrepaid, searchSigned } = await openSearches(server);
    beginPart(`With ${CLIENTS} clients at once`);
    const [free, prepaid]: [number[], number[]] = [[], []];
    const processor = { free: 0, prepaid: 0 };
    for (let round = -2; round < CROWD_ROUNDS; round++) {
      const signed = await Promise.all(Array.from({ length: CLIENTS }, signPrepaid));
      const kinds = [
        ['free', free, () => signed.map((_, index) => searchFree(round * CLIENTS + index))],
        [
          'prepaid',
          prepaid,
          () => signed.map((headers, index) => searchSigned(round * CLIENTS + index, headers)),
        ],
      ] as const;
      for (const [kind, times, ask] of round % 2 === 0 ? kinds : kinds.toReversed()) {
        const before = processorMs(server.pid);
        const asked = await Promise.all(ask());
        if (round < 0) continue;
        times.push(...asked.map(({ ms }) => ms));
        processor[kind] += processorMs(server.pid) - before;
      }
    }
    line('workspace search, free', free);
    line('prepaid search', prepaid);
    difference('prepaid, it adds', p50(prepaid) - p50(free));
    difference('processor time of a free one', processor.free / free.length);
    difference('processor time of a prepaid one', processor.prepaid / prepaid.length);
  } finally {
    await server.stop();
  }
}

/** Of all threads so far. */
function processorMs(pid: number): number {
  return Object.values(processorTimes(pid)).reduce((sum, ms) => sum + ms, 0);
}

async function signaturePart(): Promise<void> {
  const payer = new BenchPayer();
  const check = new SignatureCheck();
  const [ours, viems]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const payload = await payer.sign({ payTo: PAY_TO, amount: '6000', asset: BASE_USDC.displayedAddress });
    const v1 = { x402Version: 1, scheme: 'exact', network: 'base', payload };
    const xPayment = Buffer.from(JSON.stringify(v1)).toString('base64');
    const payment = { ...parsePaymentHeader({ xPayment })!.payment, asset: BASE_USDC };
    let before = performance.now();
    if (check.verdictOn(payment) !== 'valid') throw new Error('a good signature was refused');
    ours.push(performance.now() - before);
    before = performance.now();
    await recoverTypedDataAddress({
      ...transferTypedData(tokenDomain(BASE_USDC), transferOf(payload.authorization)),
      signature: payload.signature,
    });
    viems.push(performance.now() - before);
  }
  beginPart('EIP-712 hash, recovery and comparison of one payment');
  line('natively', ours);
  line('viem (recoverTypedDataAddress)', viems);
}

/** Encode and scan must disappear behind the verification; beside it the same search behind @x402/express. */
async function remotePart(commits: BenchCommits): Promise<void> {
  const facilitator = await startAgreeingFacilitator();
  const server = await startServer({ FACILITATOR: facilitator.url, PAY_TO });
  let peer: BenchServer | undefined;
  try {
    const { free, searchFree, searchPaid, searchPrepaid } = await openSearches(server);
    peer = PEER_INSTALLED ? await startPeer(facilitator.url, free) : undefined;
    const peerPayer = new BenchPayer();
    const peerOffer = peer && (await BenchPayer.offer(`${peer.url}/paid`));
    for (const [verifyMs, rounds] of [
      [0, ROUNDS],
      [SLOW_VERIFY_MS, SLOW_ROUNDS],
    ] as const) {
      facilitator.verifyMs = verifyMs;
      beginPart(`With a facilitator over HTTP that takes ${verifyMs} ms to verify`);
      const stages: Figures = { verify: [], settle: [], work: [], over: [] };
      const figures = await inTurn(rounds, {
        free: async (round) => (await searchFree(round)).ms,
        paid: async (round) => {
          const { ms, timing } = await searchPaid(round);
          if (round >= WARM_UP) keepStages(stages, ms, timing);
          return ms;
        },
        prepaid: async (round) => (await searchPrepaid(round)).ms,
        commit: () => commits.once(),
        ...(peer && {
          peerFree: async (round: number) => (await post(`${peer!.url}/free`, query(round), {})).ms,
          peerPaid: async (round: number) =>
            (await post(`${peer!.url}/paid`, query(round), await peerPayer.headers(peerOffer!))).ms,
        }),
      });
      report(figures, stages);
    }
  } finally {
    await peer?.stop();
    await server.stop();
    facilitator.close();
  }
}

function keepStages(stages: Figures, ms: number, timing: Readonly<Record<string, number>>): void {
  const of = (name: string) => timing[name] ?? Number.NaN;
  stages.verify!.push(of('verify_ms'));
  stages.settle!.push(of('settle_ms'));
  stages.work!.push(of('encode_ms') + of('scan_ms') + of('fuse_ms'));
  stages.over!.push(ms - of('verify_ms') - of('settle_ms'));
}

function report(figures: Figures, stages: Figures): void {
  line('workspace search, free', figures.free);
  line('paid search', figures.paid);
  line('prepaid search', figures.prepaid);
  line('its verify', stages.verify);
  line('its settle', stages.settle);
  line('its encode + scan + fuse', stages.work);
  line('one durable commit', figures.commit);
  line('round trip over verify + settle', stages.over);
  difference('without the two commits around the settlement', p50(stages.over) - 2 * p50(figures.commit));
  difference('the payment adds', p50(figures.paid) - p50(figures.free));
  difference('prepaid, it adds', p50(figures.prepaid) - p50(figures.free));
  if (!figures.peerPaid) {
    console.log('Express with @x402/express is not installed: not measured');
    return;
  }
  line('Express, its handler alone (the free search above, proxied)', figures.peerFree);
  line('Express with @x402/express around it', figures.peerPaid);
  difference('the payment adds (Express)', p50(figures.peerPaid) - p50(figures.peerFree));
}

/** Its handler hands the search on to Farthing's own free one. */
function startPeer(facilitatorUrl: string, search: { url: string; token: string }): Promise<BenchServer> {
  return startScript(PEER, {
    FACILITATOR: facilitatorUrl,
    SEARCH_URL: search.url,
    SEARCH_TOKEN: search.token,
    PAY_TO,
  });
}

const commits = new BenchCommits();
try {
  await localPart(commits);
  await crowdPart();
  await signaturePart();
  await remotePart(commits);
} finally {
  await commits.close();
}
