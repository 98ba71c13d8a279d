import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Farthing } from '../../src/client/index.ts';
import { BenchWorkspace, inParallel, payingClient, quantile } from '../rig/agent.ts';
import { compareRefusals } from './refusals.ts';
import { MeasuredServer } from './server.ts';

/**
 * Many workspaces in one server, each created by a payment over HTTP. Memory, files, start and sweep; and the time of the two refusals that
 * must not be told apart.
 */

const COUNT = Number(process.env.WORKSPACES);
const REFUSALS = Number(process.env.REFUSALS);
const ACTIVE = Math.min(100, Math.ceil(COUNT / 10));
const FILES_EACH = 3;
const IDLE_SECONDS = 10;
const IDLE_MINUTES = 600;
const ACTIVE_MINUTES = 1440;

interface Rented {
  readonly id: string;
  readonly workspace: BenchWorkspace;
}

async function rent(client: Farthing, ttlMinutes: number): Promise<Rented> {
  const { id, token } = await client.workspaces.create({ ttlMinutes });
  return { id, workspace: new BenchWorkspace(`${client.baseUrl}/agent/v1/workspaces/${id}`, token) };
}

async function rentMany(url: string, count: number, minutes: number): Promise<Rented[]> {
  const rented: Rented[] = [];
  const clients = Array.from({ length: 16 }, () => payingClient(url));
  await inParallel(
    'rent',
    Array.from({ length: count }, (_, index) => index),
    16,
    async (index) => {
      rented.push(await rent(clients[index % clients.length]!, minutes));
    },
  );
  return rented;
}

async function fill({ id, workspace }: Rented): Promise<void> {
  for (let file = 0; file < FILES_EACH; file += 1)
    await workspace.ingest(
      `${file}.txt`,
      new TextEncoder().encode(`The keeper of ${id} counts gulls, page ${file}.`),
    );
  await workspace.search({ query: 'who watches birds in the morning?' });
}

const since = (began: number) => (performance.now() - began) / 1000;
const machineOf = (server: MeasuredServer) => ({
  resident_mib: server.residentMiB,
  open_files: server.openFiles,
});

async function measureMany(folder: string, cache: string): Promise<object> {
  const data = join(folder, 'many');
  const environment = { CACHE_DIR: cache, LOCAL_BALANCE_USD: '1000000' };
  let server = await MeasuredServer.start(data, environment);
  const empty = machineOf(server);
  const began = performance.now();
  const active = await rentMany(server.url, ACTIVE, ACTIVE_MINUTES);
  await rentMany(server.url, COUNT - ACTIVE, IDLE_MINUTES);
  const created_per_second = COUNT / since(began);
  await inParallel('fill', active, 4, fill);
  const filled = machineOf(server);
  await server.kill();

  server = await MeasuredServer.start(data, { ...environment, LOG_LEVEL: 'info' });
  const again = active.map(({ id, workspace }) => ({
    id,
    workspace: new BenchWorkspace(`${server.url}/agent/v1/workspaces/${id}`, workspace.token),
  }));
  await inParallel('search', again, 4, async ({ workspace }) => {
    await workspace.search({ query: 'gulls' });
  });
  const started = { ready_ms: server.startMs, ...machineOf(server) };
  const cpu = server.cpuMs;
  await pause(IDLE_SECONDS * 1000);
  const idle_ms = (server.cpuMs - cpu) / IDLE_SECONDS;
  const sweep = await measureSweep(server, again[0]!.workspace);
  await server.kill();
  return { empty, created_per_second, filled, after_a_kill: started, idle_ms, sweep };
}

/** All idle ones expire at once; a neighbour goes on searching. */
async function measureSweep(server: MeasuredServer, neighbour: BenchWorkspace): Promise<object> {
  const calm = await searchUntil(neighbour, (index) => index >= 200);
  const began = performance.now();
  server.advance(IDLE_MINUTES * 60_000 + 1000);
  const ended = () => server.logged('workspace_disposed') >= COUNT - ACTIVE;
  const beside = await searchUntil(neighbour, ended);
  return {
    all_disposed_s: since(began),
    neighbour_p99: {
      value: quantile(beside, 0.99),
      unit: 'ms',
      peer: 'before',
      peer_value: quantile(calm, 0.99),
    },
    ...machineOf(server),
  };
}

async function searchUntil(workspace: BenchWorkspace, over: (index: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; !over(index); index += 1) {
    const before = performance.now();
    await workspace.search({ query: 'who watches birds in the morning?' });
    times.push(performance.now() - before);
  }
  return times;
}

async function measureRefusals(folder: string, cache: string): Promise<object> {
  const server = await MeasuredServer.start(join(folder, 'refusals'), { CACHE_DIR: cache });
  const { id } = await rent(payingClient(server.url), ACTIVE_MINUTES);
  const refusals = await compareRefusals(server.url, id, REFUSALS);
  await server.kill();
  return refusals;
}

export let facts = {};
const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
try {
  const cache = join(folder, 'cache');
  const refusals = await measureRefusals(folder, cache);
  facts = { refusals, many: await measureMany(folder, cache) };
} finally {
  rmSync(folder, { recursive: true, force: true });
}
