import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSlotLogs } from '../../src/cluster/log/slot-logs.ts';
import { Etcd } from '../../src/cluster/stores/etcd.ts';
import { EtcdServers, withoutEtcd } from '../../test/cluster/etcd-servers.ts';
import { BenchWorkspace, quantile, startServer } from '../rig/agent.ts';
import { startAgreeingFacilitator } from '../rig/facilitator.ts';
import type { Figure } from '../rig/figures.ts';
import { BenchPayer, post } from '../rig/payer.ts';

/**
 * What books in etcd cost. A server with its books on its disk and one with them in
 * a three-node etcd on the same machine, request by request in turns; then appends a second of the log alone.
 */

const ROUNDS = Number(process.env.ROUNDS);
const WARM_UP = 10;
const PAY_TO = '0x00000000000000000000000000000000000fa271';
const TEXT = 'The lighthouse keeper counts gulls at dawn and writes the tide into the log.';
const APPEND_MS = 5000;
const APPEND_BYTES = 1024;

type Requests = Readonly<Record<string, (round: number) => Promise<number>>>;

/** The requests that are timed, at one server. */
async function requestsAt(url: string): Promise<Requests> {
  const workspace = await BenchWorkspace.rent(url, 60);
  await workspace.ingest('log.txt', new TextEncoder().encode(TEXT));
  const payer = new BenchPayer();
  const paid = async (path: string, body: string, prefer = {}) => {
    const headers = await payer.headers(await BenchPayer.offer(url + path));
    return (await post(url + path, body, { ...headers, ...prefer })).ms;
  };
  await paid('/agent/v1/ingest', TEXT, { Prefer: 'wait=60' });
  const search = (round: number) => JSON.stringify({ query: `who counts birds in the morning, ${round}?` });
  return {
    'workspace search': async (round) =>
      (await post(`${workspace.url}/search`, search(round), workspace.headers)).ms,
    'paid search': (round) => paid('/agent/v1/search', search(round)),
    'workspace rented': () => paid('/agent/v1/workspaces', '{}'),
    'upload accepted': (round) => paid('/agent/v1/ingest', `${TEXT} ${round}`),
  };
}

async function compare(cluster: string, settings: Record<string, string>): Promise<Record<string, Figure>> {
  const alone = await startServer(settings);
  const logged = await startServer({ ...settings, CLUSTER: cluster });
  try {
    const [one, other] = [await requestsAt(alone.url), await requestsAt(logged.url)];
    const times = new Map(
      Object.keys(one).map((name) => [name, { alone: [] as number[], etcd: [] as number[] }]),
    );
    for (let round = 0; round < WARM_UP + ROUNDS; round++)
      for (const [name, { alone, etcd }] of times) {
        const [a, b] = [await one[name]!(round), await other[name]!(round)];
        if (round < WARM_UP) continue;
        alone.push(a);
        etcd.push(b);
      }
    return Object.fromEntries(
      Array.from(times, ([name, { alone, etcd }]) => {
        const [value, peer_value] = [quantile(etcd, 0.5), quantile(alone, 0.5)];
        return [name, { value, unit: 'ms', peer: 'books on the disk', peer_value }];
      }),
    );
  } finally {
    await logged.stop();
    await alone.stop();
  }
}

/** Entries a second, each slot with one entry on its way at a time. */
async function appends(addresses: readonly string[], slots: number): Promise<number> {
  const kv = new Etcd(addresses);
  try {
    const options = { kv, cluster: `appends-${slots}`, node: 'n1', slots, onLost: () => undefined };
    const logs = await openSlotLogs(options);
    const until = performance.now() + APPEND_MS;
    let count = 0;
    await Promise.all(
      logs.map(async (log) => {
        for (; performance.now() < until; count++) await log.append(Buffer.alloc(APPEND_BYTES)).safe;
      }),
    );
    return Math.round((1000 * count) / APPEND_MS);
  } finally {
    kv.close();
  }
}

export const facts: Record<string, object> = {};
if (withoutEtcd !== undefined) throw new Error(withoutEtcd);
const folder = mkdtempSync(join(tmpdir(), 'farthing-cluster-'));
const servers = await EtcdServers.start(folder);
const facilitator = await startAgreeingFacilitator();
try {
  facts.local_facilitator = await compare(servers.cluster('local'), {});
  const remote = { FACILITATOR: facilitator.url, PAY_TO };
  facts.facilitator_over_http = await compare(servers.cluster('remote'), remote);
  const appended: Record<string, number> = {};
  for (const slots of [1, 32, 96]) appended[`${slots} slots`] = await appends(servers.addresses, slots);
  facts.appends_per_second = appended;
} finally {
  facilitator.close();
  await servers.stop();
  rmSync(folder, { recursive: true, force: true });
}
