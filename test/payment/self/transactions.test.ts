import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import type { Settlement } from '../../../src/payment/facilitator/facilitator.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { transferCall } from '../../../src/payment/self/transfer-call.ts';
import { eventually } from '../../rig/eventually.ts';
import { listening } from '../../rig/ports.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { type Chain, noChain, startChain } from '../chain/chain.ts';
import { addressOf, PAY_TO, PRICE, paymentOf, sign, v2Header, wallet } from '../rig/payments.ts';
import { openSelfRig, pay, TERMS } from './self-rig.ts';

/** Transactions of this server's own facilitator on a real chain: in flight, stuck, dropped, replaced, reorganised, and over a crash. */

const skip = noChain ?? false;
const hashOf = (settlement: Settlement) => (settlement.kind === 'settled' ? settlement.transaction : '');

/** Wei that settlements say they took. */
const gasOf = (settlements: readonly (Settlement | { kind: 'absent' })[]) =>
  settlements.reduce((sum, told) => sum + BigInt(('by' in told && told.by?.gasWei) || 0), 0n);

/** A node in front of the chain that refuses or loses what it is told to. */
async function serveNode(t: Test, chain: Chain) {
  const node = { url: '', loses: undefined as string | undefined };
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (node.loses && body.includes(`"${node.loses}"`)) return void request.socket.destroy();
    const reply = await fetch(chain.url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    response.end(await reply.text());
  });
  node.url = (await listening(t, server)).url;
  return node;
}

t.test(
  'many at once are mined in one block, each once, by account nonces without a gap',
  { skip },
  async (t) => {
    const { chain, key, facilitator, settler } = await openSelfRig(t);
    const payments: Payment[] = [];
    while (payments.length < 12) payments.push(await pay(chain));
    const { address } = privateKeyToAccount(key);
    const before = await chain.control.getBalance({ address });
    await chain.control.setAutomine(false);
    const settling = payments.map((payment) => facilitator.settle(payment, TERMS));
    const twice = payments.map((payment) => facilitator.settle(payment, TERMS));
    await eventually(async () => settler.gas()?.waiting === 12 && (await chain.pooled()) === 12);
    await chain.control.mine({ blocks: 1 });
    const settled = await Promise.all([...settling, ...twice]);
    t.ok(settled.every(({ kind }) => kind === 'settled'));
    t.equal(new Set(settled.map(hashOf)).size, 12);
    t.equal(await chain.balance(PAY_TO), 12n * PRICE);
    t.equal(
      before - (await chain.control.getBalance({ address })),
      gasOf(settled.slice(0, 12)),
      'all its gas',
    );
    t.equal(await chain.control.getTransactionCount({ address }), 12);
  },
);

t.test('what was signed is sent by the next start, whenever the last one ended', { skip }, async (t) => {
  const chain = await startChain(t);
  const [folder, key] = [temporaryFolder(t), await chain.gasKey()];
  const address = privateKeyToAccount(key).address;
  for (const [at, crash] of (['not sent', 'dropped', 'waiting', 'mined'] as const).entries()) {
    const node = await serveNode(t, chain);
    const options = { chain, folder, key, settings: { RPC_URL: node.url }, settleDeadlineMs: 3000 };
    const payment = await pay(chain);
    const before = await openSelfRig(t, { ...options, paces: { lookMs: 60_000 } });
    await chain.control.setAutomine(false);
    if (crash === 'not sent') node.loses = 'eth_sendRawTransaction';
    t.match(await before.facilitator.settle(payment, TERMS), { kind: 'unknown' }, crash);
    const pooled = async () => {
      const pool = (await chain.control.request({ method: 'txpool_content' as never })) as {
        pending: Record<string, Record<string, { hash: `0x${string}` }>>;
      };
      return Object.entries(pool.pending).flatMap(([from, transactions]) =>
        from.toLowerCase() === address.toLowerCase() ? Object.values(transactions) : [],
      );
    };
    if (crash !== 'not sent') await eventually(async () => (await pooled()).length === 1);
    await before.close();
    node.loses = undefined;
    const waiting = await pooled();
    t.equal(waiting.length, crash === 'not sent' ? 0 : 1, crash);
    if (crash === 'dropped') await chain.control.dropTransaction({ hash: waiting[0]!.hash });
    if (crash === 'mined') await chain.control.mine({ blocks: 1 });
    await chain.control.setAutomine(true);
    if (crash === 'waiting') await chain.control.mine({ blocks: 1 });
    const after = await openSelfRig(t, { ...options, settleDeadlineMs: 30_000 });
    const settled = await after.facilitator.reconcile(payment, TERMS);
    t.match(settled, { kind: 'settled', by: { facilitator: 'self' } }, crash);
    t.ok(gasOf([settled]) > 0n, crash);
    t.equal(await chain.balance(PAY_TO), BigInt(at + 1) * PRICE, crash);
    t.equal(await chain.control.getTransactionCount({ address }), at + 1, `${crash}: one transaction`);
    await after.close();
  }
});

t.test(
  'a transaction that is too cheap is replaced by a dearer one, and charges once',
  { skip },
  async (t) => {
    const { chain, key, facilitator, events } = await openSelfRig(t, {
      paces: { stuckMs: 100 },
      settings: { GAS_FEE_GWEI_MAX: '10' },
    });
    const [payment, second] = [await pay(chain), await pay(chain)];
    await chain.control.setAutomine(false);
    const settling = facilitator.settle(payment, TERMS);
    const behind = facilitator.settle(second, TERMS);
    await eventually(() => events.filter(({ event }) => event === 'transaction_replaced').length > 2);
    await chain.control.mine({ blocks: 1 });
    await eventually(async () => (await chain.balance(PAY_TO)) > 0n);
    await chain.control.setAutomine(true);
    await chain.control.mine({ blocks: 1 });
    t.match(await settling, { kind: 'settled' });
    t.match(await behind, { kind: 'settled' });
    const receipt = await chain.control.getTransactionReceipt({
      hash: hashOf(await settling) as `0x${string}`,
    });
    t.equal(receipt.status, 'success', 'the books name the one that was mined');
    t.equal(await chain.balance(PAY_TO), 2n * PRICE);
    t.equal(await chain.control.getTransactionCount({ address: privateKeyToAccount(key).address }), 2);
  },
);

t.test(
  'fees over the limit sell nothing, and those who wait are mined once they fall',
  { skip },
  async (t) => {
    const { chain, facilitator, settler } = await openSelfRig(t, {
      settings: { GAS_FEE_GWEI_MAX: '0.02' },
      settleDeadlineMs: 2000,
      paces: { stuckMs: 50 },
    });
    const [payment, other] = [await pay(chain), await pay(chain)];
    await chain.control.setAutomine(false);
    await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 50_000_000n });
    t.match(await facilitator.settle(payment, TERMS), { kind: 'unknown' });
    await chain.control.mine({ blocks: 1 });
    await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 50_000_000n });
    await chain.control.mine({ blocks: 1 });
    await eventually(() => settler.obstacle() !== undefined);
    t.match(settler.obstacle(), /the network asks for 0\.0\d+ gwei, and FARTHING_GAS_FEE_GWEI_MAX is 0\.02/);
    t.match(facilitator.health().obstacle, /GAS_FEE_GWEI_MAX/);
    await t.rejects(facilitator.settle(other, TERMS), { code: 'facilitator_unavailable' });
    await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000n });
    await chain.control.mine({ blocks: 1 });
    await chain.control.setAutomine(true);
    await chain.control.mine({ blocks: 1 });
    await eventually(async () => (await facilitator.reconcile(payment, TERMS)).kind === 'settled');
    t.equal(await chain.balance(PAY_TO), PRICE);
  },
);

t.test(
  'a reorganisation of two blocks is mended: the same transaction is sent again',
  { skip },
  async (t) => {
    const { chain, facilitator } = await openSelfRig(t);
    const payment = await pay(chain);
    const settled = await facilitator.settle(payment, TERMS);
    t.match(settled, { kind: 'settled' });
    await chain.control.mine({ blocks: 1 });
    await chain.control.request({ method: 'anvil_reorg' as never, params: [2, []] as never });
    t.equal(await chain.balance(PAY_TO), 0n, 'the transfer is gone');
    await eventually(async () => (await chain.balance(PAY_TO)) === PRICE);
    t.same(await facilitator.settle(payment, TERMS), settled);
  },
);

t.test('a server restored without what it signed settles each payment once', { skip }, async (t) => {
  const chain = await startChain(t);
  const key = await chain.gasKey();
  const options = { chain, key };
  for (const [at, lost] of (['waiting', 'mined'] as const).entries()) {
    const payment = await pay(chain);
    const former = await openSelfRig(t, { ...options, settleDeadlineMs: 3000, paces: { lookMs: 60_000 } });
    await chain.control.setAutomine(false);
    t.match(await former.facilitator.settle(payment, TERMS), { kind: 'unknown' }, lost);
    await former.close();
    if (lost === 'mined') await chain.control.mine({ blocks: 1 });
    await chain.control.setAutomine(true);
    const restored = await openSelfRig(t, options);
    const settled = restored.facilitator.reconcile(payment, TERMS);
    if (lost === 'waiting') await chain.control.mine({ blocks: 1 });
    t.match(await settled, { kind: 'settled' }, lost);
    t.equal(await chain.balance(PAY_TO), BigInt(at + 1) * PRICE, lost);
    await restored.close();
  }
});

t.test('three servers with one gas key settle each payment once', { skip }, async (t) => {
  const chain = await startChain(t);
  const key = await chain.gasKey();
  const open = () => openSelfRig(t, { chain, key });
  const servers = [await open(), await open(), await open()];
  const payments = [];
  for (let index = 0; index < 9; index++) payments.push(await pay(chain));
  const settled = await Promise.all(
    payments.map((payment, index) => servers[index % 3]!.facilitator.settle(payment, TERMS)),
  );
  for (const [index, payment] of payments.entries()) {
    const { facilitator } = servers[index % 3]!;
    let outcome: { kind: string } = settled[index]!;
    while (outcome.kind === 'unknown') outcome = await facilitator.reconcile(payment, TERMS);
    t.match(outcome, { kind: 'settled' });
  }
  t.equal(await chain.balance(PAY_TO), 9n * PRICE);
});

t.test('an outcome counts once it is as many blocks deep as the settings say', { skip }, async (t) => {
  const { chain, facilitator } = await openSelfRig(t, { settings: { SETTLEMENT_BLOCKS: '3' } });
  const payment = await pay(chain);
  let isOver = false;
  const settling = facilitator.settle(payment, TERMS).finally(() => {
    isOver = true;
  });
  await eventually(async () => (await chain.balance(PAY_TO)) === PRICE);
  await chain.control.mine({ blocks: 1 });
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.notOk(isOver, 'two blocks');
  await chain.control.mine({ blocks: 1 });
  t.match(await settling, { kind: 'settled' });
});

t.test('an authorization that somebody else sends first has paid', { skip }, async (t) => {
  const { chain, facilitator, events } = await openSelfRig(t, { paces: { lookMs: 50 } });
  for (const first of ['before it is signed', 'before it is mined'] as const) {
    const payment = await pay(chain);
    const before = await chain.balance(PAY_TO);
    let settling: Promise<Settlement> | undefined;
    if (first === 'before it is mined') {
      await chain.control.setAutomine(false);
      const [stranger] = (await chain.control.request({ method: 'eth_accounts' as never })) as [
        `0x${string}`,
      ];
      await chain.control.sendTransaction({
        account: stranger,
        ...transferCall(payment),
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 10n ** 10n,
      });
      settling = facilitator.settle(payment, TERMS);
      await new Promise((resolve) => setTimeout(resolve, 200));
      await chain.control.mine({ blocks: 1 });
      await chain.control.setAutomine(true);
    } else {
      await chain.send(transferCall(payment).data);
    }
    const told = await (settling ?? facilitator.settle(payment, TERMS));
    t.match(told, { kind: 'settled' }, `${first}: ${JSON.stringify(told)}`);
    t.equal((await chain.balance(PAY_TO)) - before, PRICE, first);
    t.match(events.pop(), { event: 'settled_by_another', payer: payment.payer, nonce: payment.nonce }, first);
  }
});

t.test(
  'two payments over one purse: one is settled, the other refused before it is signed',
  { skip },
  async (t) => {
    const { chain, key, facilitator, settler } = await openSelfRig(t);
    const account = wallet();
    const first = await pay(chain, { account, purse: PRICE });
    const second = await pay(chain, { account, purse: 0n });
    await chain.control.setAutomine(false);
    const settling = facilitator.settle(first, TERMS);
    await eventually(() => settler.gas()?.waiting === 1);
    t.match(await facilitator.verify(second, TERMS), { valid: false, reason: 'insufficient_funds' });
    t.match(await facilitator.settle(second, TERMS), { kind: 'refused', reason: 'insufficient_funds' });
    await chain.control.mine({ blocks: 1 });
    t.match(await settling, { kind: 'settled' });
    t.equal(await chain.control.getTransactionCount({ address: privateKeyToAccount(key).address }), 1);
  },
);

t.test('money that is gone when the transaction is mined is a refusal', { skip }, async (t) => {
  const { chain, facilitator, settler } = await openSelfRig(t);
  const account = wallet();
  const payment = await pay(chain, { account, purse: PRICE });
  const elsewhere = await sign(account, { to: addressOf(wallet()), value: PRICE });
  await chain.control.setAutomine(false);
  const [stranger] = (await chain.control.request({ method: 'eth_accounts' as never })) as [`0x${string}`];
  const settling = facilitator.settle(payment, TERMS);
  await eventually(() => settler.gas()?.waiting === 1);
  await chain.control.sendTransaction({
    account: stranger,
    ...transferCall(paymentOf({ paymentSignature: v2Header(elsewhere) })),
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 10n,
  });
  await chain.control.mine({ blocks: 1 });
  t.match(await settling, { kind: 'refused', reason: 'insufficient_funds' });
  t.equal(await chain.balance(PAY_TO), 0n);
  await chain.control.setAutomine(true);
  await chain.mint(addressOf(account), PRICE);
  t.match(await facilitator.settle(payment, TERMS), { kind: 'settled' }, 'it is free again');
});

t.test(
  'a wallet whose code passes the simulation and fails in the block buys nothing for an hour',
  { skip },
  async (t) => {
    const { chain, facilitator, settler, clock } = await openSelfRig(t);
    const account = wallet();
    const [payment, next] = [await pay(chain, { account }), await pay(chain, { account })];
    const { address } = account;
    await chain.control.setAutomine(false);
    const settling = facilitator.settle(payment, TERMS);
    await eventually(() => settler.gas()?.waiting === 1);
    // It answers nothing to the token's question, which is then reverted.
    await chain.control.setCode({ address, bytecode: '0x00' });
    await chain.control.mine({ blocks: 1 });
    const reverted = { reason: 'invalid_exact_evm_transaction_failed' };
    const refusal = await settling;
    t.match(refusal, { kind: 'refused', ...reverted, by: { facilitator: 'self' } });
    t.ok(gasOf([refusal]) > 0n, 'it took gas all the same');
    await chain.control.setCode({ address, bytecode: '0x' });
    t.match(await facilitator.verify(next, TERMS), { valid: false, ...reverted });
    t.match(await facilitator.settle(next, TERMS), { kind: 'refused', ...reverted });
    clock.offsetMs = 3_600_000;
    const later = { ...next, validBefore: next.validBefore + 3600n };
    t.match(
      await facilitator.verify(later, TERMS),
      { valid: false, reason: 'invalid_signature' },
      'looked at again',
    );
  },
);

t.test('an account nonce that went to another transaction of the key is made up for', { skip }, async (t) => {
  const { chain, key, facilitator, settler, events } = await openSelfRig(t);
  const payment = await pay(chain);
  await chain.control.setAutomine(false);
  const settling = facilitator.settle(payment, TERMS);
  await eventually(() => settler.gas()?.waiting === 1);
  const { account, fees } = { account: privateKeyToAccount(key), fees: 10n ** 10n };
  const raw = await account.signTransaction({
    chainId: 8453,
    type: 'eip1559',
    nonce: 0,
    to: account.address,
    gas: 21_000n,
    maxFeePerGas: fees,
    maxPriorityFeePerGas: fees,
  });
  await chain.control.request({
    method: 'eth_sendRawTransaction' as never,
    params: [raw] as never,
  });
  await chain.control.mine({ blocks: 1 });
  await chain.control.setAutomine(true);
  t.match(await settling, { kind: 'settled' });
  t.ok(events.some(({ event }) => event === 'gas_key_used_elsewhere'));
  t.equal(await chain.balance(PAY_TO), PRICE);
});

t.test('an authorization that is valid from now on waits for the chain’s clock', { skip }, async (t) => {
  const { chain, facilitator } = await openSelfRig(t);
  const payment = await pay(chain, { validAfter: BigInt(Math.floor(Date.now() / 1000)) });
  const verifying = facilitator.verify(payment, TERMS);
  const mining = setInterval(() => void chain.control.mine({ blocks: 1 }), 500);
  t.teardown(() => clearInterval(mining));
  t.same(await verifying, { valid: true });
  t.match(await facilitator.settle(payment, TERMS), { kind: 'settled' });
  clearInterval(mining);
});
