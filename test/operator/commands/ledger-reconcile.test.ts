import { join } from 'node:path';
import t from 'tap';
import { Journal, type JournalEntry } from '../../../src/payment/records/journal.ts';
import { transferCall } from '../../../src/payment/self/transfer-call.ts';
import { openStore } from '../../../src/state/store.ts';
import { noChain } from '../../payment/chain/chain.ts';
import { startPaidServer } from '../../payment/chain/paid-server.ts';
import { paymentOf, sign, v2Header, wallet } from '../../payment/rig/payments.ts';
import { environmentOf } from '../../rig/environment.ts';
import { TestAgent } from '../../rig/test-server.ts';
import { runCommand } from './run-command.ts';

t.test(
  'each payment is proved on the chain; what it shows otherwise, and strangers’ transfers, are listed',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, facilitator, merchant, server } = await startPaidServer(t);
    const environment = environmentOf({
      DATA_DIR: server.dataFolder,
      FACILITATOR: facilitator.url,
      PAY_TO: merchant,
      RPC_URL: chain.url,
    });
    const reconcile = async () => {
      const { status, written, explained } = await runCommand(environment, ['ledger', 'reconcile']);
      const lines = written.split('\n').filter((line) => line !== '');
      return { status, explained, lines: lines.map((line) => JSON.parse(line) as Record<string, string>) };
    };
    const agent = new TestAgent(server.url);
    await chain.mint(agent.account.address, 1_000_000n);
    await agent.rent({ ttl_minutes: 20 });
    await facilitator.behave('drops_after');
    await agent.rent({ ttl_minutes: 60 });
    await facilitator.behave('none');
    t.same(await reconcile(), { status: 0, explained: 'proved: 2, 0.06 USD\n', lines: [] });

    await chain.mint(merchant, 5n);
    const stranger = wallet();
    await chain.mint(stranger.address, 6000n);
    const paid = paymentOf({ paymentSignature: v2Header(await sign(stranger, { to: merchant })) });
    const transaction = await chain.send(transferCall(paid).data);
    await server.stop();
    const store = openStore(join(server.dataFolder, 'state'));
    const row = (nonce: string, time: number): Omit<JournalEntry, 'kind'> => ({
      time,
      network: paid.asset.network,
      asset: paid.asset.address,
      payer: paid.payer,
      payTo: paid.payTo,
      nonce,
      amount: '6000',
      route: 'POST /agent/v1/search',
      requestHash: 'a',
    });
    const journal = new Journal(store);
    await store.transaction(() => {
      journal.append({ ...row(paid.nonce, Date.now()), kind: 'refused', reason: 'insufficient_funds' });
      const lied = `0x${'c'.repeat(64)}`;
      journal.append({ ...row(`0x${'1'.repeat(64)}`, Date.now()), kind: 'settled', transaction: lied });
    });
    await store.close();

    const { status, explained, lines } = await reconcile();
    t.equal(status, 1);
    t.match(
      lines.toSorted((a, b) => (a.found! < b.found! ? -1 : 1)),
      [
        { found: 'missing', chain: 'unused', kind: 'settled', nonce: /^0x1{64}$/, amount_usd: '0.006' },
        { found: 'owed', chain: 'settled', kind: 'refused', nonce: paid.nonce, payer: paid.payer },
        { found: 'stranger', amount_usd: '0.000005', from: `0x${'0'.repeat(40)}` },
      ],
    );
    t.equal(lines.length, 3, `${transaction} is known`);
    for (const sum of [/proved: 2, 0\.06 USD/, /missing: 1/, /owed: 1/, /stranger: 1, 0\.000005 USD/])
      t.match(explained, sum);
  },
);

t.test('without a node nothing can be proved', async (t) => {
  const { status, explained } = await runCommand({}, ['ledger', 'reconcile']);
  t.equal(status, 2);
  t.match(explained, /FARTHING_RPC_URL: name a node/);
});
