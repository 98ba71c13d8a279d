import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { onlyDeep } from '../rig/deep.ts';
import { startTestServer, TestAgent } from '../rig/test-server.ts';
import type { HostileCase } from './case.ts';
import { hostileCases } from './cases.ts';
import { leftOver, listenForNobody } from './surroundings.ts';

const SECRET = 'zanzibar-canary-words-that-nobody-may-find';

t.test('hostile files and requests end with a code, leave nothing and reach nothing', async (t) => {
  const folder = t.testdir({});
  const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
  const canary = join(folder, 'canary.txt');
  writeFileSync(canary, SECRET);
  const outside = readdirSync(folder);
  const trap = await listenForNobody();
  t.teardown(trap.close);
  const agent = new TestAgent(server.url);
  const attacker = await agent.rent({ ttl_minutes: 60 });
  const target = {
    url: server.url,
    workspace: attacker.id,
    token: attacker.token,
    trapPort: trap.port,
    canary,
  };
  const cases = hostileCases().filter(({ costly }) => !(costly && onlyDeep));
  const sendOne = async ({ name, expect, send }: HostileCase) => {
    const outcome = await send(target);
    t.ok(expect.includes(outcome), `${name}: ${outcome}`);
  };
  const waiting = cases.filter(({ waits }) => waits).map(sendOne);
  for (const one of cases.filter(({ waits }) => !waits)) await sendOne(one);
  await Promise.all(waiting);
  const { items } = (await attacker.send('GET', '/items?limit=200')).body;
  const kept = items.filter(({ state }: { state: string }) => state !== 'failed');
  const ids = kept.map(({ id }: { id: string }) => id);
  t.same(leftOver(server.dataFolder, attacker.id, ids), [], 'nothing is left on the disk');
  t.same(readdirSync(folder), outside, 'nothing appeared beside the data folder');
  t.equal(trap.connections(), 0, 'nobody connected anywhere');
  const { hits } = (await attacker.search({ query: SECRET, families: ['raw'] })).body;
  t.notOk(
    hits.some(({ snippet = '' }: { snippet?: string }) => snippet.includes('zanzibar-canary')),
    'the file outside was not read',
  );
});
