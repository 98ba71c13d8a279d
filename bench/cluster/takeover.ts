import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { leadsTo } from '../../src/server/state/book-folders.ts';
import { clusterSettings } from '../../test/cluster/cluster-settings.ts';
import { EtcdServers, withoutEtcd } from '../../test/cluster/etcd-servers.ts';
import { ClusterNode } from '../../test/payment/crash/cluster-node.ts';
import { BARE_ENVIRONMENT } from '../../test/rig/environment.ts';
import { freePorts } from '../../test/rig/ports.ts';
import { BenchWorkspace } from '../rig/agent.ts';

/**
 * How long a client waits whose workspace's server is gone. Three servers share their slots, with
 * a lease of five seconds. One of them is killed, and after that one is stopped, in turns; each of several workspaces is asked without a
 * pause at the servers that stay. Its longest answer is the time for which its slot was with nobody. ROWS: Segments of the workspace
 * whose first search at its new owner is timed. FARTHING_STANDBY_BYTES_MAX=0: nobody follows, and its index comes from the object store.
 */

const [ROUNDS, ROWS] = [Number(process.env.ROUNDS), Number(process.env.ROWS)];
const COLD_ROUNDS = Number(process.env.COLD_ROUNDS);
const NODES = 3;
const SLOTS = 24;
const LEASE_SECONDS = 5;
const WORKSPACES = 12;
const SETTLED_MS = 1500;
/** Between two questions of one client: they share the processor with what is measured. */
const ASK_MS = 20;

interface Asked {
  readonly slowest: number;
  readonly refused: number;
  readonly answers: number;
}

/** Asks for a workspace's usage at one server after the other until `isOver`. */
async function ask(
  workspace: BenchWorkspace,
  urls: readonly string[],
  isOver: () => boolean,
): Promise<Asked> {
  let [slowest, refused, answers] = [0, 0, 0];
  for (let turn = 0; !isOver(); turn++) {
    const began = performance.now();
    const url = workspace.url.replace(/^http:\/\/[^/]+/, urls[turn % urls.length]!);
    const response = await fetch(`${url}/usage`, { headers: workspace.headers });
    await response.arrayBuffer();
    slowest = Math.max(slowest, performance.now() - began);
    answers += 1;
    if (response.status !== 200) refused += 1;
    await pause(ASK_MS);
  }
  return { slowest, refused, answers };
}

export let facts = {};
if (withoutEtcd !== undefined) throw new Error(withoutEtcd);
const folder = mkdtempSync(join(tmpdir(), 'farthing-takeover-'));
const etcd = await EtcdServers.start(join(folder, 'etcd'));
const ports = await freePorts(NODES);
mkdirSync(join(folder, 'cache'));
const settings = {
  ...BARE_ENVIRONMENT,
  BASE_URL: 'http://127.0.0.1:8402',
  DEMO: '0',
  LOG_LEVEL: 'info',
  CACHE_DIR: join(folder, 'cache'),
  QUERY_WORKERS: '1',
  INGEST_WORKERS: '1',
  CLUSTER_LEASE_SECONDS: String(LEASE_SECONDS),
  SLOTS: String(SLOTS),
  ...(process.env.FARTHING_STANDBY_BYTES_MAX && {
    STANDBY_BYTES_MAX: process.env.FARTHING_STANDBY_BYTES_MAX,
  }),
  ...clusterSettings(etcd, folder, 'takeover'),
};
const nodes = ports.map((port, index) => {
  const peerUrl = `http://127.0.0.1:${port}`;
  const dataFolder = join(folder, `node-${index}`);
  return new ClusterNode({ id: `n${index}`, port, peerUrl, dataFolder, settings });
});
try {
  await Promise.all(nodes.map((node) => node.ready));
  await pause(2 * SETTLED_MS);
  const workspaces: BenchWorkspace[] = [];
  for (let count = 0; count < WORKSPACES; count++)
    workspaces.push(await BenchWorkspace.rent(nodes[0]!.url, 600));
  const waits = { killed: [] as number[], stopped: [] as number[] };
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++)
    for (const how of ['killed', 'stopped'] as const) {
      const gone = nodes[round % NODES]!;
      const urls = nodes.filter((node) => node !== gone).map(({ url }) => url);
      // Those whose slots stay where they are answer at once.
      let isOver = false;
      const asking = workspaces.map((workspace) => ask(workspace, urls, () => isOver));
      await pause(SETTLED_MS / 2);
      // It stays away until others have its slots.
      if (how === 'killed') gone.kill({ awayMs: 1000 * LEASE_SECONDS + SETTLED_MS });
      else gone.restart();
      await gone.ready;
      await pause(SETTLED_MS);
      isOver = true;
      const asked = await Promise.all(asking);
      refused += asked.reduce((sum, each) => sum + each.refused, 0);
      waits[how].push(Math.max(...asked.map(({ slowest }) => slowest)));
      console.log(`${round + 1} of ${ROUNDS}, ${how}: ${Math.round(waits[how].at(-1)!)} ms`);
    }
  facts = {
    unavailable_ms: { killed: waits.killed, stopped: waits.stopped },
    refused,
    ...(ROWS > 0 && { cold_first_search_ms: await coldSearch() }),
  };
} finally {
  for (const node of nodes) node.destroy();
  await etcd.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
}

/** The first search of a large workspace after its slot has moved. */
async function coldSearch() {
  const workspace = await BenchWorkspace.rent(nodes[0]!.url, 600);
  const words = 'keeper lamp tide gull rope mast reef bell fog oil glass stair wind storm log boat'.split(
    ' ',
  );
  const files = 20;
  for (let file = 0; file < files; file++) {
    const rows = Array.from({ length: ROWS / files }, (_, row) => {
      const number = file * (ROWS / files) + row;
      const picked = Array.from(
        { length: 40 },
        (_, at) => words[(number * 7 + at * (1 + (number % 5))) % words.length],
      );
      return `Entry ${number}: ${picked.join(' ')}.`;
    });
    await workspace.ingest(`log-${file}.txt`, new TextEncoder().encode(rows.join('\n\n')));
  }
  const id = workspace.url.split('/').at(-1)!;
  const said = (...words: readonly string[]) =>
    nodes
      .map((_, index) => readFileSync(join(folder, `node-${index}.log`), 'utf8').split('\n'))
      .flatMap((lines) => lines.filter((line) => words.every((word) => line.includes(word)))).length;
  const moves = () => said('"slot_taken"', `"slot":${leadsTo(id, SLOTS)},`);
  const restorations = () => said('"index_restored"', id);
  const search = {
    method: 'POST',
    headers: workspace.headers,
    body: '{"query":"fog bell","families":["raw"]}',
  };
  /** Where the index was there, and where it came from the objects. */
  const milliseconds: Record<'followed' | 'fetched', number[]> = { followed: [], fetched: [] };
  for (let round = 0; round < COLD_ROUNDS; round++) {
    const gone = nodes[round % NODES]!;
    const movesBefore = moves();
    gone.restart();
    await gone.ready;
    await pause(SETTLED_MS);
    const before = restorations();
    const began = performance.now();
    const response = await fetch(`${workspace.url}/search`, search);
    const { hits } = (await response.json()) as { hits?: readonly unknown[] };
    if (!hits?.length) throw new Error(`the search was answered ${response.status}, without hits`);
    // Its server may have been another one.
    if (moves() === movesBefore) continue;
    milliseconds[restorations() > before ? 'fetched' : 'followed'].push(
      Math.round(performance.now() - began),
    );
  }
  return milliseconds;
}
