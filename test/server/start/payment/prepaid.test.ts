import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type FarthingError } from '../../../../src/client/index.ts';
import { PREPAID_CONTRACT } from '../../../../src/protocol/money.ts';
import { openBooks } from '../../../rig/stopped-books.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { runCommand } from '../../operator/commands/run-command.ts';

/** Prepaid money over HTTP, with the client and with an unmodified one. */

const server = await startTestServer(t, { DATA_DIR: `${t.testdir({})}/data` });
const account = privateKeyToAccount(generatePrivateKey());
const paid: { usd: string; transaction: string }[] = [];
const farthing = new Farthing({
  baseUrl: server.url,
  account,
  prepaid: true,
  budgetUsd: '1.5',
  onPayment: (payment) => paid.push(payment),
});
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: FarthingError) => error.code,
  );
const isPrepaid = ({ transaction }: { transaction: string }) => transaction.startsWith('0x9ae9a1d0');

t.test('a wallet pays once, and its later calls need no facilitator', async (t) => {
  await farthing.ingest(new File(['The lighthouse keeper oiled the lamp.'], 'lamp.txt'));
  t.notOk(isPrepaid(paid[0]!), 'nothing is prepaid yet');
  const { added_usd, prepaid_usd } = await farthing.prepay('0.2');
  t.same({ added_usd, prepaid_usd }, { added_usd: '0.2', prepaid_usd: '0.2' });
  for (let turn = 0; turn < 5; turn += 1) t.equal((await farthing.search('lamp')).hits.length, 1);
  await farthing.ingest(new File(['A second file about tides.'], 'tides.txt'));
  t.same(paid.slice(2).map(isPrepaid), Array(6).fill(true));
  t.equal(farthing.spending.spentUsd, '0.23', 'the first upload and what was paid in advance');
});

t.test(
  'an unmodified client spends it by one header, and is never charged on the chain instead',
  async (t) => {
    const agent = new TestAgent(server.url, undefined, {
      allowedAssets: [{ network: 'eip155:8453', asset: PREPAID_CONTRACT }],
    });
    const other = new Farthing({ baseUrl: server.url, account: agent.account });
    await other.prepay('0.1');
    const wallet = { 'X-Prepaid-Wallet': agent.account.address };
    await agent.ingest('one.txt', 'A text about bees.');
    for (let turn = 0; turn < 16; turn += 1) {
      const { status, headers } = await agent.post('/agent/v1/search', { query: 'bees' }, wallet);
      t.equal(status, 200);
      t.ok(isPrepaid(JSON.parse(atob(headers.get('PAYMENT-RESPONSE')!))));
    }
    const short = await agent.post('/agent/v1/search', { query: 'bees' }, wallet);
    t.match(short, {
      status: 402,
      body: { error: 'insufficient_funds', help: /POST \/agent\/v1\/prepaid adds/ },
    });
    const balance = await agent.fetch(`${server.url}/agent/v1/prepaid`);
    t.match(await balance.json(), { prepaid_usd: '0.004', refundable_usd: '0.004', charged: false });
    t.equal(balance.headers.get('PAYMENT-RESPONSE'), null, 'a signature, and no payment');
    t.equal(
      (await agent.post('/agent/v1/search', { query: 'bees' })).status,
      200,
      'on the chain, if it says so',
    );
    const unready = new TestAgent(server.url, agent.account);
    await t.rejects(unready.post('/agent/v1/search', { query: 'bees' }, wallet), /allowedAssets: true/);
  },
);

t.test(
  'who names a wallet is offered its prepaid money alone, and told whether there is enough',
  async (t) => {
    const offered = async (wallet?: string) => {
      const headers = wallet === undefined ? undefined : { 'X-Prepaid-Wallet': wallet };
      const answer = await fetch(`${server.url}/agent/v1/search`, { method: 'POST', body: '{}', headers });
      const { accepts, error } = JSON.parse(atob(answer.headers.get('PAYMENT-REQUIRED')!));
      return [error, ...accepts.map(({ asset }: { asset: string }) => asset === PREPAID_CONTRACT)];
    };
    t.same(await offered(), ['payment_required', false], 'nobody named');
    t.same(await offered(account.address), ['payment_required', true], 'it suffices');
    t.same(await offered(`0x${'1'.repeat(40)}`), ['prepaid_insufficient', true], 'it does not');
    t.same(await offered('me'), ['prepaid_insufficient', true], 'no address');
  },
);

t.test(
  'a refund leaves the balance at once, and is owed until the operator notes its transaction',
  async (t) => {
    const { id, refund_usd, prepaid_usd } = await farthing.refundPrepaid('0.1');
    t.same({ refund_usd, prepaid_usd }, { refund_usd: '0.1', prepaid_usd: '0.04' });
    t.equal(await codeOf(farthing.refundPrepaid('0.2')), 'payment_refused', 'more than there is');
    const environment = { FARTHING_DATA_DIR: server.dataFolder };
    const admin = (...words: string[]) => runCommand(environment, ['prepaid', ...words]);
    const listed = await admin('list');
    t.match(listed.written, new RegExp(`^${id}  ${account.address.toLowerCase()} +0\\.1  \\S+  due\n$`));
    t.match(listed.explained, /0\.1 USD of refunds are due/);
    t.equal((await admin('refunded', id, '0x12')).status, 1, 'no hash');
    const transaction = `0x${'ab'.repeat(32)}`;
    t.equal((await admin('refunded', id, transaction)).status, 0);
    t.match((await admin('list')).written, new RegExp(`${transaction}\n$`));
    t.equal((await admin('refunded', id, transaction)).status, 1, 'once');
    await farthing.prepay('0.1');
    const another = await farthing.refundPrepaid('0.1');
    t.match(await admin('refunded', another.id, transaction), {
      status: 1,
      explained: /noted for .* already/,
    });
  },
);

t.test('the books tell money that came in from money that was spent', async (t) => {
  await server.stop();
  const books = await openBooks(server.dataFolder);
  t.teardown(() => books.close());
  const own = [...books.ledger.entries(0)].filter(({ payer }) => payer === account.address.toLowerCase());
  const sum = (kind: string) =>
    own.filter((entry) => entry.kind === kind).reduce((total, { amount }) => total + Number(amount), 0);
  t.equal(sum('settled'), 330_000);
  t.equal(sum('prepaid'), 5 * 6000 + 30_000 + 200_000, 'searches, an upload and two refunds');
});
