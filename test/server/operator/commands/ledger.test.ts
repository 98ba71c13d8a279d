import { join } from 'node:path';
import t from 'tap';
import { Journal, type JournalEntry } from '../../../../src/payment/records/journal.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { PAY_TO } from '../../../payment/rig/payments.ts';
import { temporaryFolder } from '../../../rig/temporary-folder.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { runCommand } from './run-command.ts';

const command = (environment: Record<string, string>, ...args: string[]) =>
  runCommand(environment, ['ledger', ...args]);

type Facts = Pick<JournalEntry, 'kind'> & Partial<JournalEntry>;

const entry = (nonce: string, facts: Facts): JournalEntry => ({
  time: 1,
  network: 'eip155:8453',
  asset: PAY_TO,
  payer: PAY_TO,
  payTo: PAY_TO,
  nonce,
  amount: '6000',
  route: 'POST /agent/v1/search',
  requestHash: 'a',
  ...facts,
});

t.test(
  'the books of a server, running or stopped, are exported as CSV and as lines of JSON, with totals',
  async (t) => {
    const server = await startTestServer(t);
    const environment = { FARTHING_DATA_DIR: server.dataFolder };
    const agent = new TestAgent(server.url);
    await agent.rent({ ttl_minutes: 20 });
    await agent.rent({ ttl_minutes: 60 });
    const running = await command(environment, 'export');
    await server.stop();

    const lines = await command(environment, 'export', '--format', 'jsonl');
    t.equal(lines.status, 0);
    t.same(running, lines, 'the same while it runs');
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
        facilitator: 'local',
        gas_eth: '0',
        fee_usd: '0',
        refund_transaction: '',
      },
      { kind: 'settled', amount: '40000', amount_usd: '0.04' },
    ]);
    t.match(lines.explained, /settled: 2, 0\.06 USD/);
    const table = (await command(environment, 'export', '--format', 'csv')).written.trimEnd().split('\r\n');
    t.equal(table.length, 3);
    t.match(table[0], /^time,kind,amount,amount_usd,network,/);
    t.match(table[1], /^\d{4}-[^,]+,settled,20000,0\.02,eip155:8453,/);
    t.equal((await command(environment, 'export', '--since', '2999-01-01')).written, '');
  },
);

t.test('a payment is one row, with its last state', async (t) => {
  const folder = temporaryFolder(t);
  const store = openStore(join(folder, 'state'));
  const journal = new Journal(store);
  await store.transaction(() => {
    journal.append(entry('1', { kind: 'pending', time: 1 }));
    journal.append(entry('2', { kind: 'refused', reason: 'insufficient_funds', time: 2 }));
    journal.append(entry('3', { kind: 'settled', time: 3 }));
    journal.append(entry('1', { kind: 'settled', time: 4 }), { resolves: true });
    journal.append(entry('2', { kind: 'settled', time: 5 }));
    journal.append(entry('4', { kind: 'pending', time: 6 }));
  });
  await store.close();
  const { written } = await command({ FARTHING_DATA_DIR: folder }, 'export', '--format', 'csv');
  const rows = written
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','));
  t.same(
    rows.map((row) => `${row[8]} ${row[1]}`),
    ['3 settled', '1 settled', '2 settled', '4 pending'],
  );
});

t.test('who settled, and what it cost, is told as far as it is known', async (t) => {
  const folder = temporaryFolder(t);
  const store = openStore(join(folder, 'state'));
  const journal = new Journal(store);
  const rows: Record<string, Facts> = {
    'self,0.0000008,0,,0.0024,0.0036': {
      kind: 'settled',
      facilitator: 'self',
      gasWei: '800000000000',
      gasUnits: '2400',
    },
    'self,unknown,0,,unknown,unknown': { kind: 'settled', facilitator: 'self' },
    'https://pay.example/x402,0,unknown,,0,unknown': {
      kind: 'settled',
      facilitator: 'https://pay.example/x402',
    },
    'unknown,unknown,unknown,,unknown,unknown': { kind: 'settled' },
    'unknown,0.000000000000000007,unknown,,unknown,unknown': { kind: 'settled', gasWei: '7' },
    ',0,0,,0,0.006': { kind: 'prepaid' },
    'self,0.000000000000000009,0,,0.000001,-0.000001': {
      kind: 'refused',
      facilitator: 'self',
      gasWei: '9',
      gasUnits: '1',
    },
    ',,,,,': { kind: 'refused' },
    'self,0.000000000000000003,0,0xab,unknown,unknown': {
      kind: 'refunded',
      facilitator: 'self',
      gasWei: '3',
      refund: '0xab',
    },
  };
  await store.transaction(() => {
    for (const [index, facts] of Object.values(rows).entries()) journal.append(entry(`${index}`, facts));
  });
  await store.close();
  const { written } = await command({ FARTHING_DATA_DIR: folder }, 'export', '--format', 'csv');
  const [head, ...lines] = written.trimEnd().split('\r\n');
  t.match(head, /,facilitator,gas_eth,fee_usd,refund_transaction,gas_usd,margin_usd$/);
  t.same(
    lines.map((line) => line.split(',').slice(-6).join(',')),
    Object.keys(rows),
  );
});

t.test('pending settlements that left the journal are resolved, and not listed', async (t) => {
  const folder = temporaryFolder(t);
  const store = openStore(join(folder, 'state'));
  const journal = new Journal(store);
  await store.transaction(() => {
    journal.append(entry('1', { kind: 'pending', time: 0 }));
    journal.append(entry('1', { kind: 'settled', time: 0 }), { resolves: true });
  });
  await journal.prune(Date.now(), { keepDays: 1, entriesMax: 10 });
  await store.close();
  const { explained } = await command({ FARTHING_DATA_DIR: folder }, 'export');
  t.match(explained, /^settled: 1, 0\.006 USD, 1 of them no longer in the journal$/m);
  t.match(explained, /^pending: 0, 0 USD$/m);
});
