import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Farthing } from '../../src/client/index.ts';
import { BenchWorkspace, inParallel, payingClient, quantile } from '../rig/agent.ts';
import { compareFlood } from './flood.ts';
import { compareRefusals } from './refusals.ts';
import { MeasuredServer } from './server.ts';

/**
 * Many workspaces in one server, each created by a payment over HTTP: `make bench NAME=workspaces`, or
 * `make bench NAME=workspaces WORKSPACES=500` for a smaller run. Memory, files, start and sweep; a flood beside quiet
 * neighbours; and the time of the two refusals that must not be told apart.
 */

const COUNT = Number(process.env.WORKSPACES || 10_000);
const ACTIVE = Math.min(100, Math.ceil(COUNT / 10));
const FILES_EACH = 3;
const IDLE_SECONDS = 10;
const IDLE_MINUTES = 600;
const ACTIVE_MINUTES = 1440;
const QUIET = 20;
/** Requests a second that the flooded server allows one Tenant: the machine can serve them beside the quiet ones. */
const LIMIT = Number(process.env.LIMIT || 20);
const SECONDS = Number(process.env.FLOOD_SECONDS || 30);
const REFUSALS = Number(process.env.REFUSALS || 3000);

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

const show = (name: string, value: string) => console.log(`  ${name.padEnd(44)} ${value}`);
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

async function measureMany(folder: string, cache: string): Promise<void> {
  const data = join(folder, 'many');
  const environment = { CACHE_DIR: cache, LOCAL_BALANCE_USD: '1000000' };
  let server = await MeasuredServer.start(data, environment);
  console.log(`\n${COUNT} workspaces, ${ACTIVE} of them with ${FILES_EACH} files:`);
  show('empty: resident memory, open files', `${server.residentMiB.toFixed(0)} MiB, ${server.openFiles}`);
  const before = performance.now();
  const active = await rentMany(server.url, ACTIVE, ACTIVE_MINUTES);
  await rentMany(server.url, COUNT - ACTIVE, IDLE_MINUTES);
  const rate = (COUNT / (performance.now() - before)) * 1000;
  show('created by payments', `${seconds(before)}, ${rate.toFixed(0)} a second`);
  await inParallel('fill', active, 4, fill);
  show('filled: resident memory, open files', `${server.residentMiB.toFixed(0)} MiB, ${server.openFiles}`);
  await server.kill();

  server = await MeasuredServer.start(data, { ...environment, LOG_LEVEL: 'info' });
  show('start with all of them, after a kill', `${server.startMs} ms`);
  const again = active.map(({ id, workspace }) => ({
    id,
    workspace: new BenchWorkspace(`${server.url}/agent/v1/workspaces/${id}`, workspace.token),
  }));
  await inParallel('search', again, 4, async ({ workspace }) => {
    await workspace.search({ query: 'gulls' });
  });
  show(
    `${ACTIVE} active: resident memory, open files`,
    `${server.residentMiB.toFixed(0)} MiB, ${server.openFiles}`,
  );
  const cpu = server.cpuMs;
  await pause(IDLE_SECONDS * 1000);
  show(
    'idle, swept each second: processor',
    `${((server.cpuMs - cpu) / IDLE_SECONDS).toFixed(1)} ms a second`,
  );
  await measureSweep(server, again[0]!.workspace);
  await server.kill();
}

/** All idle ones expire at once; a neighbour goes on searching. */
async function measureSweep(server: MeasuredServer, neighbour: BenchWorkspace): Promise<void> {
  const calm = await searchUntil(neighbour, (index) => index >= 200);
  const before = performance.now();
  server.advance(IDLE_MINUTES * 60_000 + 1000);
  const ended = () => server.logged('workspace_disposed') >= COUNT - ACTIVE;
  const beside = await searchUntil(neighbour, ended);
  show(`${COUNT - ACTIVE} expired at once: all disposed in`, seconds(before));
  const times = (values: readonly number[]) =>
    `${quantile(values, 0.5).toFixed(1)}, ${quantile(values, 0.99).toFixed(1)} ms`;
  show('a neighbour’s searches p50, p99: before', times(calm));
  show('                               meanwhile', times(beside));
  show(
    'afterwards: resident memory, open files',
    `${server.residentMiB.toFixed(0)} MiB, ${server.openFiles}`,
  );
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

async function measureNeighbours(folder: string, cache: string): Promise<void> {
  const server = await MeasuredServer.start(join(folder, 'neighbours'), {
    CACHE_DIR: cache,
    TENANT_REQUESTS_PER_SECOND: String(LIMIT),
  });
  const rented = await rentMany(server.url, QUIET + 1, ACTIVE_MINUTES);
  await inParallel('fill', rented, 2, fill);
  const [flooding, ...quiet] = rented.map(({ workspace }) => workspace);
  console.log(
    `\none tenant at 10 × its ${LIMIT} requests a second beside ${QUIET} quiet ones, one search a second each:`,
  );
  await compareFlood(quiet, flooding!, { limit: LIMIT, seconds: SECONDS, perSecond: 1 });
  console.log('\nGET …/usage refused:');
  await compareRefusals(server.url, rented[0]!.id, REFUSALS);
  await server.kill();
}

const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
try {
  console.log(
    `${cpus()[0]!.model}, ${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`,
  );
  const cache = join(folder, 'cache');
  await measureNeighbours(folder, cache);
  await measureMany(folder, cache);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
