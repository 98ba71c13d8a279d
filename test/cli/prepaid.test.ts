import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import { Agent } from './cli-agent.ts';

t.test('a command pays in advance, the next ones spend it, and the rest is had back', async (t) => {
  const folder = t.testdir({});
  const server = await startTestServer(t, { DATA_DIR: `${folder}/data` });
  const agent = new Agent(folder, server.url);
  await agent.run(['wallet', 'new']);
  const prepaid = await agent.run(['wallet', 'prepay', '0.5', '--yes']);
  t.match(prepaid, { code: 0, out: `0.5 USD are prepaid at ${server.url}\n` });
  const rented = await agent.run(['workspace', 'create', '--json']);
  t.equal(rented.code, 0, rented.err);
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
