import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ServedProcess } from '../rig/served-process.ts';
import { TestAgent } from '../rig/test-server.ts';
import { hostileCases } from './cases.ts';
import type { Target } from './requests.ts';
import type { SearchOrder } from './searcher.ts';
import { leftOver, listenForNobody, memoryOf } from './surroundings.ts';

/**
 * `make hostile`: sends every hostile file and request to a server while other tenants search it, and prints what came of each. Ends with
 * status 1 when an outcome is not among those expected, when something is left on the disk, or when anything was reached outside.
 * HOSTILE_SECONDS: how long the others are measured alone before.
 */
const ALONE_SECONDS = Number(process.env.HOSTILE_SECONDS || 20);
const OTHERS = 4;
const PER_SECOND = 20;
const SAMPLE_EVERY_MS = 25;
const SECRET = 'zanzibar-canary-words-that-nobody-may-find';

const teardowns: (() => unknown)[] = [];
const faults: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'farthing-hostile-'));
try {
  await run();
} finally {
  for (const undo of teardowns.reverse()) await undo();
  rmSync(folder, { recursive: true, force: true });
}
for (const fault of faults) console.log(`FAULT: ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);

async function run(): Promise<void> {
  const data = join(folder, 'data');
  const canary = join(folder, 'canary.txt');
  writeFileSync(canary, SECRET);
  const trap = await listenForNobody();
  teardowns.push(trap.close);
  const server = await ServedProcess.start(
    { teardown: (undo: () => unknown) => void teardowns.push(undo) } as never,
    { data, log: join(folder, 'log'), environment: { LOG_LEVEL: 'error' } },
  );
  const agent = new TestAgent(server.url);
  const attacker = await agent.rent({ ttl_minutes: 600 });
  const tokens: { id: string; token: string }[] = [];
  for (let index = 0; index < OTHERS; index++) {
    const other = await agent.rent({ ttl_minutes: 600 });
    const notes = Array.from(
      { length: 40 },
      (_, at) => `Note ${at} of ${index}: the harbour, boats and tides.`,
    );
    await other.ingest('notes.md', notes.join('\n\n'));
    tokens.push(other);
  }
  const outside = readdirSync(folder).sort().join(' ');
  const order: SearchOrder = {
    url: server.url,
    tokens: tokens.map(({ id, token }) => ({ id, token })),
    perSecond: PER_SECOND,
  };
  const thread = new Worker(resolve(import.meta.dirname, 'searcher.ts'), { workerData: order });
  const reported = (what: 'report' | 'over'): Promise<number[]> =>
    new Promise((done) => {
      thread.once('message', done);
      thread.postMessage(what);
    });
  await pause(3_000);
  await reported('report');
  await pause(ALONE_SECONDS * 1000);
  const alone = await reported('report');

  const target: Target = {
    url: server.url,
    workspace: attacker.id,
    token: attacker.token,
    trapPort: trap.port,
    canary,
  };
  console.log(
    `load before ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}\n`,
  );
  console.log(row(['case', 'outcome', 'seconds', 'server MiB', 'reader MiB', 'others p99 ms']));
  const during: number[] = [];
  for (const { name, expect, send } of hostileCases()) {
    const peak = { server: 0, children: 0 };
    const look = setInterval(() => {
      const now = memoryOf(server.pid);
      peak.server = Math.max(peak.server, now.server);
      peak.children = Math.max(peak.children, now.children);
    }, SAMPLE_EVERY_MS);
    const began = performance.now();
    const outcome = await send(target).catch((error: unknown) => `fault: ${String(error)}`);
    const seconds = (performance.now() - began) / 1000;
    clearInterval(look);
    const times = await reported('report');
    during.push(...times);
    console.log(
      row([
        name,
        outcome,
        seconds.toFixed(2),
        peak.server.toFixed(0),
        peak.children.toFixed(0),
        quantile(times, 0.99).toFixed(1),
      ]),
    );
    if (!expect.includes(outcome)) faults.push(`${name}: ${outcome}, not ${expect.join(' or ')}`);
  }
  await reported('over');

  const [before, beside] = [quantile(alone, 0.99), quantile(during, 0.99)];
  console.log(
    `\nothers' searches: p99 ${before.toFixed(1)} ms alone (${alone.length}), ${beside.toFixed(1)} ms during (${during.length}): ${(beside / before).toFixed(2)} ×`,
  );
  if (beside > 2 * before) faults.push(`the others' p99 is ${(beside / before).toFixed(2)} × theirs alone`);
  const items = await everyItem(attacker);
  // Previews of nothing, uploads of nothing: all that lies there belongs to an item that is shown.
  const left = leftOver(data, attacker.id, items);
  console.log(`left on the disk: ${left.length === 0 ? 'nothing' : left.join(', ')}`);
  if (left.length > 0) faults.push(`left on the disk: ${left.join(', ')}`);
  const found = (await attacker.search({ query: SECRET, families: ['raw'] })).body.hits as {
    snippet?: string;
  }[];
  const leaked = found.some((hit) => hit.snippet?.includes('zanzibar-canary'));
  console.log(`the file that nobody may read was ${leaked ? 'READ' : 'not read'}`);
  if (leaked) faults.push('the canary was read');
  if (readdirSync(folder).sort().join(' ') !== outside)
    faults.push('something appeared beside the data folder');
  console.log(`connections to the trap: ${trap.connections()}`);
  if (trap.connections() > 0) faults.push('something connected to the trap');
  console.log(
    `a decoder that was made to try: ${tryFromDecoder(trap.port)}; connections: ${trap.connections()}`,
  );
  if (trap.connections() > 0) faults.push('a confined decoder connected');
  const alive = await agent.ingest('after.txt', 'Still here after all of this.');
  if (alive.body.job?.state !== 'searchable') faults.push('the server does not read any more');
}

/** What test/extract/process/attack.ts reports of a connection from a reader that was taken over. */
function tryFromDecoder(port: number): string {
  for (const name of ['inside', 'outside']) {
    mkdirSync(join(folder, name));
    copyFileSync('samples/chelsea.png', join(folder, name, 'picture.png'));
  }
  const attack = resolve(import.meta.dirname, '../extract/process/attack.ts');
  const args = [
    '--disable-sigusr1',
    '--disable-warning=ExperimentalWarning',
    attack,
    join(folder, 'inside'),
    join(folder, 'outside'),
    String(port),
    String(process.pid),
  ];
  const { outcomes } = JSON.parse(execFileSync(process.execPath, args, { env: {}, encoding: 'utf8' })) as {
    outcomes: Record<string, boolean>;
  };
  return outcomes['a connection is made'] ? 'IT CONNECTED' : 'refused by the kernel';
}

async function everyItem(workspace: {
  send(
    method: string,
    path: string,
  ): Promise<{ body: { items: { id: string; state: string }[]; next: string | null } }>;
}): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await workspace.send('GET', `/items?limit=200${after && `&after=${after}`}`);
    ids.push(...body.items.filter(({ state }) => state !== 'failed').map(({ id }) => id));
    if (body.next === null) return ids;
    after = body.next;
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function row([name = '', outcome = '', ...figures]: readonly string[]): string {
  return `${name.padEnd(52)} ${outcome.padEnd(24)} ${figures.map((figure) => figure.padStart(13)).join('')}`;
}
