import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { OWNER_ROWS } from '../../src/cluster/members/node-rows.ts';
import { ranked } from '../../src/cluster/members/placement.ts';
import { Etcd } from '../../src/cluster/stores/etcd.ts';
import { payerTenantId } from '../../src/protocol/id.ts';
import { leadsTo } from '../../src/server/state/book-folders.ts';
import { clusterSettings } from '../../test/cluster/cluster-settings.ts';
import { EtcdServers, withoutEtcd } from '../../test/cluster/etcd-servers.ts';
import { freePorts } from '../../test/rig/ports.ts';
import { BenchWorkspace, quantile, type StartedServer, startServer } from '../rig/agent.ts';
import { startAgreeingFacilitator } from '../rig/facilitator.ts';
import { BenchPayer } from '../rig/payer.ts';
import { untilIdle } from '../rig/process-tree.ts';
import { WireClient } from '../rig/wire-client.ts';
import { change, medians, type Parts, type Rig, used } from './parts.ts';

/**
 * Milliseconds of each request, and processor time of it and of nothing, by process. One server without a cluster; one, two and
 * three that share their slots, asked at the owner and at another server; three of which none stands by. Objects lie in a folder, so that the store's
 * share is the servers'. The processes' use without requests is subtracted.
 */

const ROUNDS = Number(process.env.ROUNDS);
/** Names of the layouts that are measured. */
const ONLY = new RegExp(process.env.ONLY ?? '');
const IDLE_SECONDS = Number(process.env.IDLE_SECONDS);
const SLOTS = 24;
const PAY_TO = '0x00000000000000000000000000000000000fa271';
const CLUSTER = 'capacity';
const LINE = 'The lighthouse keeper counts gulls at dawn and writes the tide into the log';
const UNLIMITED = { TENANT_REQUESTS_PER_SECOND: '1000000' };

interface Layout {
  readonly name: string;
  /** 0: without a cluster. */
  readonly servers: number;
  readonly settings?: Record<string, string>;
}

const LAYOUTS: readonly Layout[] = [
  { name: 'no cluster', servers: 0 },
  ...[1, 2, 3].map((servers) => ({ name: `${servers} in a cluster`, servers })),
  { name: '3, none stands by', servers: 3, settings: { STANDBY_BYTES_MAX: '0' } },
];

/** Kinds of requests for what the first server has. */
async function kindsAt(rig: Rig, ownerOf: (id: string) => number) {
  const { url } = rig.servers[0]!;
  const isFirst = (id: string) => ownerOf(id) === 0;
  let workspace = await BenchWorkspace.rent(url, 240);
  while (!isFirst(workspace.url.split('/').at(-1)!)) workspace = await BenchWorkspace.rent(url, 240);
  let payer = new BenchPayer();
  while (!isFirst(payerTenantId(payer.account.address))) payer = new BenchPayer();
  const text = Array.from({ length: 100 }, (_, line) => `${LINE}, ${line}.`).join('\n\n');
  await workspace.ingest('log.txt', new TextEncoder().encode(text));
  const path = new URL(workspace.url).pathname;
  const search = await BenchPayer.offer(`${url}/agent/v1/search`);
  const query = (number: number) =>
    JSON.stringify({ query: `who counts birds in the morning, ${number}?`, k: 10 });
  const upload = { ...workspace.headers, Prefer: 'wait=60' };
  const paidUpload = await BenchPayer.offer(`${url}/agent/v1/ingest`);
  const client = await WireClient.open(url);
  const headers = { ...(await payer.headers(paidUpload)), Prefer: 'wait=60' };
  await client.send('POST', '/agent/v1/ingest', headers, text);
  client.close();
  return {
    'workspace search': {
      count: 60,
      ask: async (number: number) => [`${path}/search`, workspace.headers, query(number)] as const,
    },
    'paid search': {
      count: 30,
      ask: async (number: number) =>
        ['/agent/v1/search', await payer.headers(search), query(number)] as const,
    },
    upload: {
      count: 15,
      ask: async (number: number) =>
        [`${path}/ingest`, upload, `${LINE}, for the ${number}th time.`] as const,
    },
  };
}

/** Milliseconds of processor a second without requests, and questions a second that etcd answers. */
async function idle(rig: Rig) {
  for (const { pid } of rig.servers) await untilIdle(pid);
  const [before, questions] = [used(rig, 0), (await rig.etcd?.questions()) ?? 0];
  await pause(1000 * IDLE_SECONDS);
  const rate = change(before, used(rig, 0), IDLE_SECONDS);
  return { rate, questions: (((await rig.etcd?.questions()) ?? 0) - questions) / IDLE_SECONDS };
}

async function measure(rig: Rig, ownerOf: (id: string) => number) {
  const kinds = await kindsAt(rig, ownerOf);
  const { rate, questions } = await idle(rig);
  const found = new Map<string, Parts[]>();
  const times = new Map<string, number[]>();
  let number = 0;
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, { count, ask }] of Object.entries(kinds))
      for (const through of rig.servers.length > 1 ? [0, 1] : [0]) {
        const asks = [];
        for (let at = 0; at < count; at++) asks.push(await ask(number++));
        const client = await WireClient.open(rig.servers[through]!.url);
        const key = through === 0 ? name : `${name}, passed on`;
        const ms: number[] = [];
        const [before, began] = [used(rig, through), performance.now()];
        for (const [path, headers, body] of asks) {
          const answer = await client.send('POST', path, headers, body);
          if (answer.status >= 300) throw new Error(`${name} was answered ${answer.status}: ${answer.body}`);
          ms.push(answer.ms);
        }
        const seconds = (performance.now() - began) / 1000;
        const parts = change(before, used(rig, through), count);
        client.close();
        // The first server's idle rate is the owner's; the others have the same rate each.
        const others = rig.servers.length - 1;
        const shares = {
          passing_on: through === 0 ? 0 : 1 / others,
          others: through === 0 ? 1 : (others - 1) / others,
        };
        const idled: Parts = {
          owner: rate.owner!,
          passing_on: others === 0 ? 0 : rate.others! * shares.passing_on,
          others: others === 0 ? 0 : rate.others! * shares.others,
          etcd: rate.etcd!,
        };
        const net = Object.entries(parts).map(([part, ms]) => [part, ms - (idled[part]! * seconds) / count]);
        if (round === 0) continue;
        found.set(key, [...(found.get(key) ?? []), Object.fromEntries(net) as Parts]);
        times.set(key, [...(times.get(key) ?? []), ...ms]);
      }
  const requests = Object.fromEntries(Array.from(found, ([key, all]) => [key, medians(all)]));
  return {
    idle_ms_a_second: medians([rate]),
    etcd_questions_a_second: Math.round(questions),
    processor_ms: requests,
    p50_ms: Object.fromEntries(Array.from(times, ([key, ms]) => [key, quantile(ms, 0.5)])),
  };
}

/** Servers that have the slots that are placed with them. */
async function inLayout({ name, servers, settings = {} }: Layout, facilitatorUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-capacity-'));
  const etcd = servers > 0 ? await EtcdServers.start(join(folder, 'etcd')) : undefined;
  const started: StartedServer[] = [];
  try {
    const common = { FACILITATOR: facilitatorUrl, PAY_TO, ...UNLIMITED, ...settings };
    const ids = Array.from({ length: Math.max(1, servers) }, (_, index) => `n${index}`);
    const shared = etcd && {
      ...clusterSettings(etcd, folder, CLUSTER),
      SLOTS: String(SLOTS),
      CLUSTER_LEASE_SECONDS: '5',
    };
    const ports = await freePorts(ids.length);
    for (const [index, NODE_ID] of ids.entries()) {
      const url = `http://127.0.0.1:${ports[index]}`;
      const own = shared
        ? { ...shared, NODE_ID, NODE_URL: url, BASE_URL: `http://127.0.0.1:${ports[0]}` }
        : {};
      started.push(await startServer({ ...common, ...own, PORT: String(ports[index]) }));
    }
    const nodes = ids.map((id) => ({ id, weight: 1 }));
    const owners = Array.from({ length: SLOTS }, (_, slot) => ranked(slot, nodes)[0]!);
    if (etcd) await untilOwned(etcd, owners);
    console.log(`${name}: started`);
    return await measure({ servers: started, etcd }, (id) =>
      etcd ? ids.indexOf(owners[leadsTo(id, SLOTS)]!) : 0,
    );
  } finally {
    await Promise.all(started.map((server) => server.stop()));
    await etcd?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilOwned(etcd: EtcdServers, owners: readonly string[]): Promise<void> {
  const kv = new Etcd(etcd.addresses);
  const { from, to } = OWNER_ROWS.range(CLUSTER);
  const isSo = async () => {
    const rows = await kv.range(from, to);
    const has = new Map(
      rows.map(({ key, value }) => [OWNER_ROWS.name(CLUSTER, key), OWNER_ROWS.parse(key, value).node]),
    );
    return owners.every((owner, slot) => has.get(String(slot)) === owner);
  };
  while (!(await isSo())) await pause(200);
  kv.close();
}

if (withoutEtcd !== undefined) throw new Error(withoutEtcd);
const facilitator = await startAgreeingFacilitator();
export const facts: Record<string, object> = {};
try {
  for (const layout of LAYOUTS.filter(({ name }) => ONLY.test(name)))
    facts[layout.name] = await inLayout(layout, facilitator.url);
} finally {
  facilitator.close();
}
