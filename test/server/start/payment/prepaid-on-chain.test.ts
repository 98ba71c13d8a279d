import t from 'tap';
import { Farthing } from '../../../../src/client/index.ts';
import { noChain } from '../../../payment/chain/chain.ts';
import { wallet } from '../../../payment/rig/payments.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { runCommand } from '../../operator/commands/run-command.ts';
import { startPaidServer } from './paid-server.ts';

t.test(
  'money in advance that a facilitator says it moved, and did not, is neither spent nor had back',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, facilitator, merchant, server, booksAtEnd } = await startPaidServer(t);
    const agent = new TestAgent(server.url);
    await chain.mint(agent.account.address, 5_000_000n);
    const prepay = () => agent.post('/agent/v1/prepaid', { usd: 0.5 });
    await facilitator.behave('never');
    t.match(await prepay(), { status: 503, body: { code: 'settlement_pending' } }, 'a node is asked first');
    t.equal(await chain.balance(merchant), 0n);
    await facilitator.behave('none');
    let added = await prepay();
    while (added.body.code === 'settlement_pending') added = await prepay();
    t.equal(added.status, 200);
    const { totals } = await booksAtEnd();
    t.equal(
      await chain.balance(merchant),
      BigInt(totals.settled.amount),
      'the books hold what the chain shows',
    );
  },
);

t.test(
  'play money in advance is neither spent, had back nor owed once its server is paid in money',
  { skip: noChain ?? false },
  async (t) => {
    const DATA_DIR = `${t.testdir({})}/data`;
    const account = wallet();
    const client = (baseUrl: string) => new Farthing({ baseUrl, account, prepaid: true, maxPriceUsd: '10' });
    const listed = async () =>
      (await runCommand({ FARTHING_DATA_DIR: DATA_DIR }, ['prepaid', 'list'])).explained;
    const play = await startTestServer(t, { DATA_DIR });
    await client(play.url).prepay('5');
    await client(play.url).refundPrepaid('1');
    t.match(await listed(), /1 wallets have 4 USD prepaid; 1 USD of refunds are due/);
    await play.stop();

    const { chain, merchant, server } = await startPaidServer(t, { DATA_DIR });
    t.match(await listed(), /0 wallets have 0 USD prepaid; 0 USD of refunds are due/);
    await t.rejects(client(server.url).refundPrepaid('1'), { code: 'payment_refused' });
    await t.rejects(client(server.url).workspaces.create({ ttlMinutes: 20 }), { code: 'payment_refused' });
    await chain.mint(account.address, 1_000_000n);
    await client(server.url).prepay('0.5');
    t.match(await listed(), /1 wallets have 0\.5 USD prepaid/);
    await client(server.url).workspaces.create({ ttlMinutes: 20 });
    t.equal(await chain.balance(merchant), 500_000n, 'the rent was paid in advance');
    await server.stop();

    const again = await startTestServer(t, { DATA_DIR });
    t.match(await listed(), /1 wallets have 4 USD prepaid; 1 USD of refunds are due/, 'each has its own');
    await again.stop();
  },
);
