import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { onlyDeep } from '../rig/deep.ts';
import { ServedProcess } from '../rig/served-process.ts';
import { startTestServer, TestAgent } from '../rig/test-server.ts';
import type { HostileCase } from './case.ts';
import { hostileCases } from './cases.ts';
import { leftOver, listenForNobody, memoryOf } from './surroundings.ts';

/** Every hostile file and request is sent to a server, one after the other. `make hostile` prints what came of each, the costly ones too. */

const SECRET = 'zanzibar-canary-words-that-nobody-may-find';
const SAMPLE_EVERY_MS = 25;
const isShown = process.env.HOSTILE !== undefined;

t.test('hostile files and requests end with a code, leave nothing and reach nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-hostile-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  // In a process of its own its memory can be told from that of whoever makes bombs.
  const server = isShown
    ? await ServedProcess.start(t, { data, log: join(folder, 'log'), environment: { LOG_LEVEL: 'error' } })
    : await startTestServer(t, { DATA_DIR: data });
  const pid = server instanceof ServedProcess ? server.pid : process.pid;
  const canary = join(folder, 'canary.txt');
  writeFileSync(canary, SECRET);
  const outside = readdirSync(folder);
  const trap = await listenForNobody();
  t.teardown(trap.close);
  const agent = new TestAgent(server.url);
  const attacker = await agent.rent({ ttl_minutes: 600 });
  const target = {
    url: server.url,
    workspace: attacker.id,
    token: attacker.token,
    trapPort: trap.port,
    canary,
  };
  const cases = hostileCases(isShown || !onlyDeep);
  const sendOne = async ({ name, expect, send }: HostileCase) => {
    const peak = { server: 0, children: 0 };
    const look = setInterval(() => {
      const now = memoryOf(pid);
      peak.server = Math.max(peak.server, now.server);
      peak.children = Math.max(peak.children, now.children);
    }, SAMPLE_EVERY_MS);
    const began = performance.now();
    const outcome = await send(target).finally(() => clearInterval(look));
    const seconds = (performance.now() - began) / 1000;
    const figures = [seconds.toFixed(2), peak.server.toFixed(0), peak.children.toFixed(0)].join(' | ');
    if (isShown) console.log(`| ${name} | ${outcome} | ${figures} |`);
    t.ok(expect.includes(outcome), `${name}: ${outcome}`);
  };
  if (isShown)
    console.log(`load ${loadavg()[0]!.toFixed(1)}\n| case | outcome | seconds | server MiB | reader MiB |`);
  const waiting = cases.filter(({ waits }) => waits).map(sendOne);
  for (const one of cases.filter(({ waits }) => !waits)) await sendOne(one);
  await Promise.all(waiting);
  const { items } = (await attacker.send('GET', '/items?limit=200')).body;
  const kept = items.filter(({ state }: { state: string }) => state !== 'failed');
  const ids = kept.map(({ id }: { id: string }) => id);
  t.same(leftOver(data, attacker.id, ids), [], 'nothing is left on the disk');
  t.same(readdirSync(folder), outside, 'nothing appeared beside the data folder');
  t.equal(trap.connections(), 0, 'nobody connected anywhere');
  const { hits } = (await attacker.search({ query: SECRET, families: ['raw'] })).body;
  t.notOk(
    hits.some(({ snippet = '' }: { snippet?: string }) => snippet.includes('zanzibar-canary')),
    'the file outside was not read',
  );
});
