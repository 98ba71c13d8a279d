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

t.test('a command pays in advance, the next ones spend it, and the rest is had back', async (t) => {
  const agent = new Agent(t.testdir({}), server.url);
  await agent.run(['wallet', 'new']);
  const prepaid = await agent.run(['wallet', 'prepay', '0.5', '--yes']);
  t.match(prepaid, { code: 0, out: `0.5 USD are prepaid at ${server.url}\n` });
  const rented = await agent.run(['workspace', 'create', '--json']);
  t.equal(rented.code, 0, rented.err);
  t.match(await agent.run(['wallet', 'balance']), { code: 0, out: /^0\.4825 USD are prepaid at http/ });
  const refund = await agent.run(['wallet', 'refund', '0.4', '--json']);
  t.match(JSON.parse(refund.out), { refund_usd: '0.4', prepaid_usd: '0.0825' }, 'a workspace cost .0175');
  t.match(await agent.run(['wallet', 'refund', '0.4']), { code: 4, err: /insufficient_funds/ });
  const longer = await agent.run(['workspace', 'extend', '--minutes', '60', '--reserve', '--yes']);
  t.match(longer, { code: 0, out: /^ws_\w+: 60 minutes more in reserve, until / }, longer.err);
  t.match(await agent.run(['workspace', 'usage']), { out: /^in reserve +60 minutes, 0\.03 USD$/m });
  t.match(await agent.run(['workspace', 'end-reserve']), {
    code: 0,
    out: /: 60 minutes were not used, 0\.03 USD are prepaid again; it ends /,
  });
  t.match(await agent.json(['workspace', 'end-reserve']), { returned_minutes: 0 });
  t.match(await agent.run(['workspace', 'extend', '--minutes', '999', '--reserve', '--yes']), {
    code: 4,
    err: /prepay adds/,
  });
  t.match(await agent.run(['wallet', 'prepay', 'lots']), {
    code: 2,
    err: '"lots" is not an amount of US dollars, such as 0.5.\n',
  });
});
