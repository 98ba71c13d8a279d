import t from 'tap';
import { TestAgent } from '../../rig/test-server.ts';
import { noChain } from '../chain/chain.ts';
import { startPaidServer } from '../chain/paid-server.ts';

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
