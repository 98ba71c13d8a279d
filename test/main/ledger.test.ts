import t from 'tap';
import { type CommandIo, ledgerCommand } from '../../src/main/ledger.ts';
import { startTestServer, TestAgent } from '../test-server.ts';

async function command(environment: CommandIo['environment'], ...args: string[]) {
  const output = { written: '', explained: '' };
  const status = await ledgerCommand(args, {
    environment,
    write: (text) => {
      output.written += text;
    },
    explain: (line) => {
      output.explained += `${line}\n`;
    },
  });
  return { status, ...output };
}

t.test('the books of a stopped server are exported as CSV and as lines of JSON, with totals', async (t) => {
  const server = await startTestServer(t);
  const environment = { DATA_DIR: server.dataFolder };
  const agent = new TestAgent(server.url);
  await agent.rent({ ttl_minutes: 20 });
  await agent.rent({ ttl_minutes: 60 });
  const refused = await command(environment, 'export');
  t.equal(refused.status, 1);
  t.match(refused.explained, /a running server is using this folder/);
  await server.stop();

  const lines = await command(environment, 'export', '--format', 'jsonl');
  t.equal(lines.status, 0);
  const entries = lines.written
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
  t.match(entries, [
    {
      kind: 'settled',
      amount: '20000',
      amount_usd: '0.02',
      payer: agent.account.address.toLowerCase(),
      route: 'POST /agent/v1/workspaces',
      transaction: /^0x/,
    },
    { kind: 'settled', amount: '40000', amount_usd: '0.04' },
  ]);
  t.match(lines.explained, /settled: 2, 0\.06 USD/);
  const table = (await command(environment, 'export', '--format', 'csv')).written.trimEnd().split('\r\n');
  t.equal(table.length, 3);
  t.match(table[0], /^time,kind,amount,amount_usd,network,/);
  t.match(table[1], /^\d{4}-[^,]+,settled,20000,0\.02,eip155:8453,/);
  t.equal((await command(environment, 'export', '--since', '2999-01-01')).written, '');
});

t.test('a wrong use is explained', async (t) => {
  const environment = { DATA_DIR: `${t.testdir({})}/nothing` };
  for (const args of [
    [],
    ['import'],
    ['export', '--format', 'xml'],
    ['export', '--since', 'tuesday'],
    ['export', '-x'],
  ])
    t.match(
      await command(environment, ...args),
      { status: 2, explained: /farthing ledger export/ },
      args.join(' '),
    );
  t.match(await command(environment, 'export'), { status: 1, explained: /no books/ });
  t.match(await command({ PORT: 'x' }, 'export'), { status: 2, explained: /PORT/ });
});
