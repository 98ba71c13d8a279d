import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { payerTenantId } from '../../../src/protocol/id.ts';
import { leadsTo } from '../../../src/server/state/book-folders.ts';
import { startTestServer, TestAgent, TestWorkspace } from '../../rig/test-server.ts';
import { runCommand } from '../operator/commands/run-command.ts';

/** One server with several slots, as a client and an operator see it. */

const SLOTS = 4;
const dataFolder = join(t.testdir({}), 'data');
const environment = { FARTHING_SLOTS: String(SLOTS), DATA_DIR: dataFolder, METRICS_PORT: '0' };
const server = await startTestServer(t, environment);
const slotOfPayer = (agent: TestAgent) => leadsTo(payerTenantId(agent.account.address), SLOTS);

/** A payer of each slot. */
const agents = await Promise.all(
  Array.from({ length: SLOTS }, async (_, slot) => {
    for (;;) {
      const agent = new TestAgent(server.url);
      if (slotOfPayer(agent) === slot) return agent;
    }
  }),
);

const admin = (...words: string[]) => runCommand({ FARTHING_DATA_DIR: dataFolder }, words);
const workspaces: TestWorkspace[] = [];

t.test('a workspace and its jobs are in the slot of the payer, whose ids lead there', async (t) => {
  for (const [slot, agent] of agents.entries()) {
    const workspace = await agent.rent();
    workspaces.push(workspace);
    t.equal(leadsTo(workspace.id, SLOTS), slot);
    const uploaded = await workspace.ingest('tides.txt', `Tides follow the moon, in slot ${slot}.`);
    t.equal(leadsTo(uploaded.body.job_id, SLOTS), slot);
    const found = await workspace.search({ query: 'what moves the sea?' });
    t.match(found.body.hits[0].snippet, new RegExp(`in slot ${slot}`));
    t.ok(existsSync(join(dataFolder, 'slots', String(slot), 'tenants', workspace.id)));
  }
  const listed = (await admin('workspaces', 'list')).written.trim().split('\n');
  t.same(
    listed.map((line) => line.split(/\s/)[0]),
    workspaces.map(({ id }) => id).sort(),
    'the operator has one list, in order',
  );
  const { written } = await admin('workspaces', 'show', workspaces[2]!.id);
  t.equal(JSON.parse(written).id, workspaces[2]!.id);
});

t.test('an upload that is paid for is found by its payer and its job, whatever the slot', async (t) => {
  for (const agent of agents) {
    const { body } = await agent.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
    t.equal(leadsTo(body.job_id, SLOTS), slotOfPayer(agent));
    t.equal((await agent.get(`/agent/v1/jobs/${body.job_id}`)).body.state, 'searchable');
    t.equal((await agent.get(`/agent/v1/items/${body.item.id}`)).body.name, 'gulls.txt');
    const { hits } = (await agent.post('/agent/v1/search', { query: 'who watches birds?' })).body;
    t.equal(hits.length, 1);
  }
});

t.test('a payer of any slot may extend a workspace of any other', async (t) => {
  const workspace = await agents[0]!.rent({ ttl_minutes: 10 });
  for (const agent of agents) {
    const { status } = await agent.post(`/agent/v1/workspaces/${workspace.id}/extend`, { ttl_minutes: 20 });
    t.equal(status, 200);
  }
  const { ttl_seconds_left, spend_usd } = (await workspace.send('GET', '/usage')).body;
  t.ok(ttl_seconds_left > (10 + 4 * 20 - 1) * 60);
  t.equal(Number(spend_usd), 0.01 + 0.0005 * (10 + 4 * 20));
  const { status } = await agents[1]!.post(`/agent/v1/workspaces/ws_${'0'.repeat(32)}/extend`, {});
  t.equal(status, 401);
});

t.test('a backup of the running server has all slots, and a server starts from it', async (t) => {
  const copy = join(t.testdir({}), 'copy');
  const { status, explained } = await admin('backup', copy);
  t.equal(status, 0, explained);
  const later = await agents[3]!.rent();
  const again = await startTestServer(t, { ...environment, DATA_DIR: copy });
  const search = ({ id, token }: TestWorkspace) =>
    new TestWorkspace(again.url, id, token).search({ query: 'what moves the sea?' });
  t.equal((await search(later)).status, 401, 'what came later is not in it');
  for (const workspace of workspaces) t.equal((await search(workspace)).body.hits.length, 1);
});

t.test('the ledger of a stopped server is one, in order of time', async (t) => {
  await server.stop();
  const { status, written, explained } = await admin('ledger', 'export');
  t.equal(status, 0, explained);
  const entries = written
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(new Set(entries.map(({ payer }) => payer)).size, SLOTS);
  const times = entries.map(({ time }) => time);
  t.same(times, times.toSorted());
  t.match(explained, new RegExp(`settled: ${entries.length}, `));
});

t.test('a start with another number of slots is refused, and the folder is as it was', async (t) => {
  for (const slots of ['1', '5'])
    await t.rejects(startTestServer(t, { ...environment, FARTHING_SLOTS: slots }), {
      message: /was made with 4/,
    });
  t.equal(readFileSync(join(dataFolder, 'slots/count'), 'utf8'), '4\n');
});
