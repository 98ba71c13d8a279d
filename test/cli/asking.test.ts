import { join } from 'node:path';
import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import { Agent } from './cli-agent.ts';
import { noTerminal, runInTerminal } from './terminal.ts';

t.setTimeout(600_000);
const server = await startTestServer(t);
const QUESTION = 'Pay 0.07 USD? [y/N]';
const CREATE = ['workspace', 'create', '--minutes', '120'];

t.test(
  'a person at the terminal is asked to approve a price above the limit',
  { skip: noTerminal },
  async (t) => {
    const agent = new Agent(t.testdir({}), server.url);
    await agent.run(['wallet', 'new']);
    const no = await runInTerminal(agent, CREATE, [{ to: QUESTION, reply: 'n\n' }]);
    t.match(no, { code: 4, out: /was not approved/ });
    const yes = await runInTerminal(agent, CREATE, [{ to: QUESTION, reply: 'y\n' }]);
    t.match(yes, { code: 0, out: /ws_\w+: yours for 120 minutes, until / });
    t.match(yes.out, /Paid 0\.07 USD\./);
    const cheap = await runInTerminal(agent, ['workspace', 'create', '--minutes', '15']);
    t.equal(cheap.code, 0);
    t.notMatch(cheap.out, /Pay /, 'below the limit nobody is asked');
    const limit = await runInTerminal(agent, [...CREATE, '--ask-above', '0.1']);
    t.notMatch(limit.out, /Pay /);
  },
);

t.test('an upload and its job have a bar in a terminal', { skip: noTerminal }, async (t) => {
  const agent = new Agent(t.testdir({ files: { 'gull.txt': 'A gull.', 'tern.txt': 'A tern.' } }), server.url);
  await agent.run(['wallet', 'new']);
  await agent.run(['workspace', 'create']);
  const { code, out } = await runInTerminal(agent, ['ingest', '-r', join(agent.home, 'files')]);
  t.equal(code, 0);
  t.match(out, /2 files, 14 bytes, into ws_\w+ \(14 minutes left\)/);
  t.match(out, /[█░]{24} \d+ of 2 /);
  t.match(out, /2 files made searchable/);
});
