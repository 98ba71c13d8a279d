import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { BASE_USDC, COINS } from '../../../src/payment/asset.ts';
import type { Settlement } from '../../../src/payment/facilitator/facilitator.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { eventually } from '../../rig/eventually.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { type Chain, feedOf, noChain, startChain } from '../chain/chain.ts';
import { addressOf, PAY_TO, PRICE, wallet } from '../rig/payments.ts';
import { openSelfRig, pay, TERMS } from './self-rig.ts';

/** Gas of this server's own settlements: what it may cost, what several payments share, and who is hurt by one that fails. */

type Rig = Awaited<ReturnType<typeof openSelfRig>>;

const skip = noChain ?? false;
/** The first is settled alone; so many others wait for each other. */
const together = (count: number) => ({
  settings: { SETTLED_TOGETHER_MAX: String(count) },
  paces: { gatherMs: 60_000 },
});
const UPLOAD = 30_000n;
const GWEI = 10n ** 9n;

async function payments(chain: Chain, count: number): Promise<Payment[]> {
  const made: Payment[] = [];
  while (made.length < count) made.push(await pay(chain));
  return made;
}

const gasOf = (settlements: readonly Settlement[]) =>
  settlements.map((told) => BigInt(('by' in told && told.by?.gasWei) || 0));
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);

/** Has the network ask for a base fee, and the server know. */
async function asksFor({ chain, settler }: Rig, baseFee: bigint, isDear: boolean): Promise<void> {
  await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee });
  await chain.control.mine({ blocks: 1 });
  await eventually(async () => {
    await settler.read();
    return (settler.tooDear(PRICE) !== undefined) === isDear;
  });
}

/** The first is on its way, and the others wait for each other until they are sent together. */
async function settleTogether({ chain, facilitator }: Rig, first: Payment, others: readonly Payment[]) {
  await chain.control.setAutomine(false);
  const settling = [facilitator.settle(first, TERMS)];
  await eventually(async () => (await chain.pooled()) === 1);
  settling.push(...others.map((payment) => facilitator.settle(payment, TERMS)));
  await eventually(async () => (await chain.pooled()) === 2);
  return settling;
}

t.test('a crowd shares transactions: each pays once, and less gas than alone', { skip }, async (t) => {
  const rig = await openSelfRig(t, together(11));
  const { chain, key, facilitator, settler } = rig;
  const { address } = privateKeyToAccount(key);
  const alone = await facilitator.settle(await pay(chain), TERMS);
  await eventually(() => settler.gas()?.waiting === 0);
  const crowd = await payments(chain, 12);
  const [before, sent] = [
    await chain.control.getBalance({ address }),
    await chain.control.getTransactionCount({ address }),
  ];
  const settling = await settleTogether(rig, crowd[0]!, crowd.slice(1));
  await eventually(async () => {
    await chain.control.mine({ blocks: 1 });
    return (await chain.balance(PAY_TO)) === 13n * PRICE;
  });
  await chain.control.setAutomine(true);
  const settled = await Promise.all(settling);
  t.ok(settled.every(({ kind }) => kind === 'settled'));
  t.equal((await chain.control.getTransactionCount({ address })) - sent, 2, 'the first, and the others');
  const shares = gasOf(settled);
  const paid = before - (await chain.control.getBalance({ address }));
  t.ok(sum(shares) >= paid && sum(shares) - paid < 12n, 'the books have the gas, to the wei');
  t.ok(shares.at(-1)! * 3n < gasOf([alone])[0]! * 2n, `${shares.at(-1)} and ${gasOf([alone])[0]} wei`);
  for (const [index, told] of settled.entries()) {
    const again = await facilitator.reconcile(crowd[index]!, TERMS);
    t.same(again, told, 'and the chain says the same');
  }
});

t.test('one of several whose money is gone is refused alone', { skip }, async (t) => {
  const rig = await openSelfRig(t, together(2));
  const { chain, facilitator } = rig;
  const account = wallet();
  const [first, poor, rich] = [
    await pay(chain),
    await pay(chain, { account, purse: PRICE }),
    await pay(chain),
  ];
  const settling = await settleTogether(rig, first, [poor, rich]);
  await chain.setBalance(addressOf(account), 0n);
  await chain.control.mine({ blocks: 1 });
  await chain.control.setAutomine(true);
  t.match(await Promise.all(settling), [
    { kind: 'settled' },
    { kind: 'refused', reason: 'insufficient_funds' },
    { kind: 'settled' },
  ]);
  await chain.mint(addressOf(account), PRICE);
  t.match(await facilitator.settle(poor, TERMS), { kind: 'settled' }, 'it is free again');
});

t.test(
  'one that burns the gas of all: each is settled for itself, and so is who comes after',
  { skip },
  async (t) => {
    const rig = await openSelfRig(t, together(5));
    const { chain, key, facilitator, events } = rig;
    const account = wallet();
    const [first, burner] = [await pay(chain), await pay(chain, { account })];
    const others = await payments(chain, 4);
    const settling = await settleTogether(rig, first, [burner, ...others]);
    // It never ends: `JUMPDEST PUSH0 JUMP`.
    await chain.control.setCode({ address: account.address, bytecode: '0x5b5f56' });
    await chain.control.mine({ blocks: 1 });
    await chain.control.setAutomine(true);
    t.match(await Promise.all(settling), [
      { kind: 'settled' },
      { kind: 'refused', reason: 'invalid_exact_evm_transaction_failed' },
      ...others.map(() => ({ kind: 'settled' })),
    ]);
    t.equal(await chain.balance(PAY_TO), 5n * PRICE);
    t.ok(events.some(({ event }) => event === 'settled_together_failed'));
    const { address } = privateKeyToAccount(key);
    const sent = await chain.control.getTransactionCount({ address });
    const next = await payments(chain, 3);
    await Promise.all(next.map((payment) => facilitator.settle(payment, TERMS)));
    t.equal((await chain.control.getTransactionCount({ address })) - sent, 3);
  },
);

t.test('what was signed together is made once after a crash, whatever became of it', { skip }, async (t) => {
  const chain = await startChain(t);
  const [folder, key] = [temporaryFolder(t), await chain.gasKey()];
  const options = { chain, folder, key, ...together(2), settleDeadlineMs: 5000 };
  for (const [at, became] of (['waiting', 'mined', 'mined, and one of them failed'] as const).entries()) {
    const account = wallet();
    const before = await openSelfRig(t, { ...options, paces: { ...options.paces, lookMs: 60_000 } });
    const signed = [await pay(chain), await pay(chain, { account, purse: PRICE }), await pay(chain)];
    const settling = await settleTogether(before, signed[0]!, signed.slice(1));
    await before.close();
    if (became.endsWith('failed')) await chain.setBalance(addressOf(account), 0n);
    if (became.startsWith('mined')) await chain.control.mine({ blocks: 1 });
    await Promise.all(settling);
    const after = await openSelfRig(t, { ...options, settleDeadlineMs: 30_000 });
    const reconciling = signed.map((payment) => after.facilitator.reconcile(payment, TERMS));
    await chain.control.mine({ blocks: 1 });
    await chain.control.setAutomine(true);
    const kinds = (await Promise.all(reconciling)).map(({ kind }) => kind);
    const second = became.endsWith('failed') ? 'refused' : 'settled';
    t.same(kinds, ['settled', second, 'settled'], became);
    t.equal(await chain.balance(PAY_TO), BigInt(3 * (at + 1) - (second === 'refused' ? 1 : 0)) * PRICE);
    await after.close();
  }
});

t.test('what costs more than it brings in is not sold, and what brings in more is', { skip }, async (t) => {
  const rig = await openSelfRig(t, { settings: { GAS_FEE_GWEI_MAX: '10' } });
  const { chain, facilitator } = rig;
  const [search, upload] = [await pay(chain), await pay(chain, { value: UPLOAD })];
  t.equal(facilitator.tooDear(PRICE), undefined);
  // 90,000 units at .04 gwei and 3,000 USD are .0108 USD.
  await asksFor(rig, GWEI / 25n, true);
  t.match(facilitator.tooDear(PRICE), /would cost 0\.01\d+ USD of gas, and it brings in 0\.006 USD/);
  t.equal(facilitator.tooDear(UPLOAD), undefined);
  await t.rejects(facilitator.verify(search, TERMS), { code: 'settlement_too_dear', status: 503 });
  await t.rejects(facilitator.settle(search, TERMS), { code: 'settlement_too_dear' });
  const terms = { ...TERMS, amount: UPLOAD };
  await asksFor(rig, GWEI / 25n, true);
  const settled = await facilitator.settle(upload, terms);
  t.match(settled, { kind: 'settled' });
  const { gasUnits } = (settled as Extract<Settlement, { kind: 'settled' }>).by!;
  t.ok(BigInt(gasUnits!) > 0n && BigInt(gasUnits!) < UPLOAD, `${gasUnits} millionths of a dollar`);
  await asksFor(rig, GWEI / 200n, false);
  t.match(await facilitator.settle(search, TERMS), { kind: 'settled' }, 'at lower fees it is sold');
});

t.test('the coin’s price is the setting’s, or the feed’s within its bounds', { skip }, async (t) => {
  const chain = await startChain(t);
  const { usdFeed } = BASE_USDC.gas;
  const dayBefore = Math.floor(Date.now() / 1000) - 100_000;
  for (const [what, bytecode, settings, usd] of [
    ['the feed', feedOf(2500), {}, 2500],
    ['a setting', feedOf(2500), { GAS_COIN_USD: '1234.5' }, 1234.5],
    ['a stale feed', feedOf(2500, dayBefore), {}, 10_000],
    ['an absurd feed', feedOf(3), {}, 10_000],
    ['a feed that is none', '0x', {}, 10_000],
  ] as const) {
    await chain.control.setCode({ address: usdFeed!, bytecode });
    const { settler, close } = await openSelfRig(t, { chain, settings });
    await settler.read();
    t.equal(settler.gas()?.coin_usd, usd, what);
    await close();
  }
  const { settler } = await openSelfRig(t, { chain, settings: { GAS_COIN_USD: '3000' } });
  await settler.read();
  const before = Number(settler.gas()?.settlement_usd);
  // Answers 10^12 wei for the data of a transaction: .003 USD.
  await chain.control.setCode({
    address: BASE_USDC.gas.dataFeeOracle!,
    bytecode: '0x64e8d4a510005f5260205ff3',
  });
  await settler.read();
  t.equal(Math.round((Number(settler.gas()?.settlement_usd) - before) * 1000), 3, 'its data is counted');
});

t.test('each network of the table is paid on, by its row alone', { skip }, async (t) => {
  for (const asset of COINS) {
    const { chain, facilitator, settler } = await openSelfRig(t, { asset });
    const payment = await pay(chain, { asset });
    t.same(await facilitator.verify(payment, TERMS), { valid: true }, asset.title);
    const settled = await facilitator.settle(payment, TERMS);
    t.match(settled, { kind: 'settled', by: { facilitator: 'self' } }, asset.title);
    t.equal(await chain.balance(PAY_TO), PRICE, asset.title);
    t.match(await facilitator.reconcile(payment, TERMS), { kind: 'settled' }, asset.title);
    t.match(settler.gas(), { network: asset.network, coin: asset.gas.coin });
  }
});
