import { join } from 'node:path';
import t from 'tap';
import { type Hex, parseEther } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { Farthing } from '../../../../src/client/index.ts';
import { Journal, type JournalEntry } from '../../../../src/payment/records/journal.ts';
import { transferCall } from '../../../../src/payment/self/transfer-call.ts';
import { systemClock } from '../../../../src/protocol/clock.ts';
import { Credits } from '../../../../src/server/purchases/credits.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { noChain } from '../../../payment/chain/chain.ts';
import { addressOf, paymentOf, sign, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';
import { startPaidServer } from '../../start/payment/paid-server.ts';
import { runCommand } from './run-command.ts';

type Row = Record<string, string>;
const rowsOf = (written: string): Row[] =>
  written.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));

const reconcileWith = (environment: Record<string, string>) => async () => {
  const { status, written, explained } = await runCommand(environment, ['ledger', 'reconcile']);
  return { status, explained, lines: rowsOf(written) };
};

t.test(
  'each payment is proved on the chain; what it shows otherwise, and strangers’ transfers, are listed',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, facilitator, merchant, server } = await startPaidServer(t);
    const settings = {
      DATA_DIR: server.dataFolder,
      FACILITATOR: facilitator.url,
      PAY_TO: merchant,
      RPC_URL: chain.url,
    };
    const environment = environmentOf(settings);
    const reconcile = reconcileWith(environment);
    const agent = new TestAgent(server.url);
    await chain.mint(agent.account.address, 1_000_000n);
    await agent.rent({ ttl_minutes: 20 });
    await facilitator.behave('drops_after');
    await agent.rent({ ttl_minutes: 60 });
    await facilitator.behave('none');
    const balanced = await reconcile();
    t.match(balanced, { status: 0, explained: /^proved: 2, 0\.06 USD$/m });
    t.match(balanced.explained, /^to be sent back: 0 USD/m);
    t.same(balanced.lines, []);

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
    for (const sum of [
      /proved: 2, 0\.06 USD/,
      /missing: 1/,
      /owed: 1/,
      /stranger: 1, 0\.000005 USD/,
      /to be sent back: 0\.006 USD: 0\.006 of refused payments, 0 of refunds/,
    ])
      t.match(explained, sum);

    const again = await startTestServer(t, settings);
    const operator = wallet();
    await chain.mint(operator.address, 1_000_000n);
    const back = await chain.send(
      transferCall(
        paymentOf({ paymentSignature: v2Header(await sign(operator, { to: paid.payer, value: 6000n })) }),
      ).data,
    );
    const note = (...words: string[]) => runCommand(environment, ['ledger', 'refunded', ...words]);
    t.match(await note(paid.payer, paid.nonce, transaction), { status: 1, explained: /not 0\.006/ });
    t.match(await note(paid.payTo, paid.nonce, back), { status: 1, explained: /no payment/ });
    t.match(await note(paid.payer, paid.nonce), {
      status: 2,
      explained: /wants more: farthing admin ledger refunded PAYER NONCE TRANSACTION/,
    });
    t.match(await note(paid.payer, paid.nonce, back), { status: 0, explained: /Block \d+ has the transfer/ });
    t.match(await note(paid.payer, paid.nonce, back), { status: 1, explained: /no refund .* that is due/ });
    const after = await reconcile();
    t.same(
      after.lines.map(({ found }) => found),
      ['missing', 'stranger'],
      'what was sent back is owed no more',
    );
    t.match(after.explained, /^refunded: 1, 0\.006 USD$/m);
    const { written } = await runCommand(environment, ['ledger', 'export']);
    const refunded = written.split('\n').find((line) => line.includes(paid.nonce));
    t.match(JSON.parse(refunded!), { kind: 'refunded', refund_transaction: back });
    await again.stop();
  },
);

t.test(
  'with gas, prepaid money, refunds and credits the books balance; a refund that the chain lacks is told',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, merchant, server, environment } = await startPaidServer(t, { FACILITATOR: 'self' });
    const settings = environmentOf({ ...environment, DATA_DIR: server.dataFolder });
    const reconcile = reconcileWith(settings);
    const gasWallet = privateKeyToAddress(environment.GAS_KEY as Hex);
    const gasBefore = await chain.control.getBalance({ address: gasWallet });
    const account = wallet();
    await chain.mint(account.address, 1_000_000n);
    const farthing = new Farthing({ baseUrl: server.url, account, maxPriceUsd: '1' });
    await farthing.workspaces.create({ ttlMinutes: 20 });
    await farthing.prepay('0.5');
    const first = await farthing.refundPrepaid('0.1');
    const second = await farthing.refundPrepaid('0.2');

    const { written } = await runCommand(settings, ['ledger', 'export', '--format', 'jsonl']);
    const rows = rowsOf(written);
    const settled = rows.filter(({ kind }) => kind === 'settled');
    t.equal(settled.length, 2);
    t.match(settled, [
      { facilitator: 'self', fee_usd: '0' },
      { facilitator: 'self', fee_usd: '0' },
    ]);
    const spent = settled.reduce((sum, { gas_eth }) => sum + parseEther(gas_eth!), 0n);
    t.equal(spent, gasBefore - (await chain.control.getBalance({ address: gasWallet })), 'all of the gas');
    t.equal(
      settled.reduce((sum, { amount }) => sum + BigInt(amount!), 0n),
      await chain.balance(merchant),
      'all of the income',
    );

    const operator = wallet();
    await chain.mint(operator.address, 1_000_000n);
    const back = paymentOf({
      paymentSignature: v2Header(await sign(operator, { to: account.address, value: 100_000n })),
    });
    const paid = await chain.send(transferCall(back).data);
    t.match(await runCommand(settings, ['prepaid', 'refunded', first.id, paid]), { status: 0 });
    t.match(await runCommand(settings, ['ledger', 'refunded', account.address, settled[0]!.nonce!, paid]), {
      status: 1,
      explained: /moved 0\.1 USDC to .*, not 0\.12/,
    });
    const balanced = await reconcile();
    t.equal(balanced.status, 0);
    t.match(balanced.lines, [{ found: 'refund_due', refund: second.id, amount_usd: '0.2' }]);
    for (const sum of [
      /^proved: 2, 0\.52 USD$/m,
      /^prepaid: 2, 0\.3 USD$/m,
      /^refunded: 1, 0\.1 USD$/m,
      /^refund_due: 1, 0\.2 USD$/m,
      /^prepaid and not spent: 0\.2 USD of 1 wallets$/m,
      /^credits: 0 uploads of 0 wallets$/m,
      /^to be sent back: 0\.2 USD: 0 of refused payments, 0\.2 of refunds that are due$/m,
    ])
      t.match(balanced.explained, sum);

    await server.stop();
    const store = openStore(join(server.dataFolder, 'state'));
    const steps = store.table<object>('prepaid_steps');
    const lied = { ...steps.get(second.id), state: 'refunded', transaction: paid };
    const credits = new Credits({ store, clock: systemClock });
    await store.transaction(() => steps.put(second.id, lied));
    await credits.newCredit(addressOf(account), 'job_1');
    await credits.newCredit(addressOf(account), 'job_2');
    await store.close();
    const faulty = await reconcile();
    t.equal(faulty.status, 1);
    const [one, other] = [first.id, second.id].toSorted();
    const detail = /^it moved 0\.1 USDC to 0x.*, not 0\.3$/;
    t.match(faulty.lines, [
      { found: 'refund_missing', refund: one, transaction: paid, detail },
      { found: 'refund_missing', refund: other, transaction: paid },
      { found: 'credit', payer: addressOf(account), uploads: 2 },
    ]);
    t.match(faulty.explained, /^credits: 2 uploads of 1 wallets$/m);
  },
);

t.test('without a node nothing can be proved', async (t) => {
  const { status, explained } = await runCommand({}, ['ledger', 'reconcile']);
  t.equal(status, 2);
  t.match(explained, /FARTHING_RPC_URL: name a node/);
});
