import t from 'tap';
import { openRig } from '../rig/gate-rig.ts';
import { paid, receiptOf, sign, v1Header, v2Header, wallet } from '../rig/payments.ts';
import { buyPatiently, openRemoteRig } from '../rig/remote-rig.ts';
import { type Asking, buy, codeOf, making } from '../rig/requests.ts';

t.test('a payment goes through a facilitator over HTTP, in the version that the client spoke', async (t) => {
  const rig = await openRemoteRig(t);
  await rig.facilitator.connect();
  t.equal((await buy(rig, await paid())).status, 200);
  const v1 = await buy(rig, { xPayment: v1Header(await sign(wallet())) });
  t.equal(receiptOf(v1)?.network, 'base');
  t.same(
    rig.server.seen.settle.map(({ x402Version }) => x402Version),
    [2, 1],
  );
  t.equal(rig.charges(), 2);
  t.match(rig.gate.health().facilitator, { kind: 'remote', movesMoney: true });
});

t.test('a payment without funds is a 402 with the reason, and nothing of it stays', async (t) => {
  const rig = await openRemoteRig(t);
  const answer = await buy(rig, {
    ...(await paid(wallet(), { value: 200_000_000n })),
    amount: 200_000_000n,
  });
  t.equal(answer.status, 402);
  t.equal(answer.body.error, 'insufficient_funds');
});

t.test('a verify that fails is tried twice, and the same payment works later', async (t) => {
  const rig = await openRemoteRig(t);
  rig.server.behaviour.verify = 'error_500';
  const payment = await paid();
  t.equal(await codeOf(buy(rig, payment)), 'facilitator_unavailable');
  t.equal(rig.server.seen.verify.length, 2);
  t.ok(rig.gate.health().facilitator.trouble);
  rig.server.behaviour.verify = 'none';
  t.equal((await buy(rig, payment)).status, 200);
  t.equal(rig.charges(), 1);
});

t.test('a facilitator that is not there is a 503 that took no money', async (t) => {
  const rig = await openRemoteRig(t);
  await rig.server.close();
  t.equal(await codeOf(buy(rig, await paid())), 'facilitator_unavailable');
  await t.rejects(rig.facilitator.connect(), { code: 'facilitator_unavailable' });
});

for (const mode of ['pure', 'effect'] as const) {
  t.test(`while the outcome of ${mode} work is unknown, no payment buys it again`, async (t) => {
    const rig = await openRemoteRig(t);
    const account = wallet();
    rig.index(account);
    const asking: Asking = mode === 'effect' ? making(rig) : {};
    rig.server.behaviour.settle = 'drops_after';
    const first = { ...asking, ...(await paid(account)) };
    const fresh = { ...asking, ...(await paid(account)) };
    for (const payment of [first, first, fresh])
      t.equal(await codeOf(buy(rig, payment)), 'settlement_pending');
    t.match(rig.gate.journal.totals(), { pending: { count: 1, amount: '6000' }, settled: { count: 0 } });
    rig.server.behaviour.settle = 'none';
    t.ok((await buyPatiently(rig, fresh)).status < 300);
    t.equal(rig.charges(), 1);
    await rig.gate.close();
    t.match(rig.gate.journal.totals(), {
      pending: { count: 0, amount: '0' },
      settled: { count: 1, amount: '6000' },
    });
  });
}

t.test('a settle that certainly was not acted upon is undone, a 503, and free again', async (t) => {
  const rig = await openRemoteRig(t);
  rig.server.behaviour.settle = 'turned_away';
  const asking: Asking = { ...(await paid()), ...making(rig) };
  t.equal(await codeOf(buy(rig, asking)), 'facilitator_unavailable');
  t.same(rig.things.states(), []);
  rig.server.behaviour.settle = 'none';
  t.equal((await buy(rig, asking)).status, 201);
  t.equal(rig.charges(), 1);
});

t.test('a settlement whose transaction was reverted is a 402 at once, and free again', async (t) => {
  const rig = await openRemoteRig(t);
  rig.server.behaviour.settle = 'reverted';
  const asking: Asking = await paid();
  t.match(await buy(rig, asking), { status: 402, body: { error: 'invalid_exact_evm_transaction_failed' } });
  t.equal(rig.server.seen.settle.length, 1);
  rig.server.behaviour.settle = 'none';
  t.equal((await buy(rig, asking)).status, 200);
  t.equal(rig.charges(), 1);
});

t.test('a nonce gone at the first settlement is a 402, unless it paid us', async (t) => {
  const transaction = `0x${'b'.repeat(64)}`;
  for (const [witness, status] of [
    [undefined, 402],
    [{ look: async () => ({ kind: 'settled', transaction }) as const }, 200],
    [{ look: async () => ({ kind: 'used_otherwise' }) as const }, 402],
  ] as const) {
    const rig = await openRemoteRig(t, { witness });
    rig.server.behaviour.settle = 'used_after';
    const answer = await buy(rig, await paid());
    t.equal(answer.status, status);
    if (status === 200) t.equal(receiptOf(answer)?.transaction, transaction);
    else t.equal(answer.body.error, 'authorization_already_used');
    t.equal(rig.server.seen.settle.length, 1);
  }
});

t.test('a facilitator away at the start is asked by the first payment what it supports', async (t) => {
  const rig = await openRemoteRig(t, { versions: [2] });
  rig.server.behaviour.supported = 'error_500';
  await t.rejects(rig.facilitator.connect(), { code: 'facilitator_unavailable' });
  rig.server.behaviour.supported = 'none';
  const payments = await Promise.all(
    [1, 2, 3].map(async () => ({ xPayment: v1Header(await sign(wallet())) })),
  );
  for (const { status } of await Promise.all(payments.map((asking) => buy(rig, asking))))
    t.equal(status, 200);
  const { verify, settle } = rig.server.seen;
  t.same(new Set([...verify, ...settle].map(({ x402Version }) => x402Version)), new Set([2]));
  t.equal(rig.server.tokens.length, 2 + verify.length + settle.length, 'asked once more');
});

t.test('a crash while a settlement is out is settled at the next start', async (t) => {
  const rig = await openRemoteRig(t);
  const account = wallet();
  rig.server.behaviour.settle = 'drops_after';
  t.equal(await codeOf(buy(rig, { ...(await paid(account)), ...making(rig) })), 'settlement_pending');
  await rig.gate.close();

  const after = openRig(t, {
    clock: rig.clock,
    folder: rig.folder,
    store: rig.store,
    facilitator: () => rig.facilitator,
  });
  await after.gate.recover();
  t.equal(await codeOf(buy(after, { ...(await paid(account)), ...making(rig) })), 'settlement_pending');
  rig.server.behaviour.settle = 'none';
  const retry = await buyPatiently(after, {
    ...(await paid(account)),
    ...making(rig),
  });
  t.match(retry, { status: 201, body: { id: 'one' } });
  t.equal(rig.charges(), 1);
});

t.test('after a silent facilitator’s window the answer is delivered, presumed paid', async (t) => {
  const rig = await openRemoteRig(t);
  const account = wallet();
  rig.index(account);
  rig.server.behaviour.settle = 'error_500';
  t.equal(await codeOf(buy(rig, await paid(account))), 'settlement_pending');
  rig.clock.offsetMs = 12 * 60_000;
  const fresh = await sign(account, { validBefore: BigInt(Math.floor(rig.clock.now() / 1000) + 60) });
  const retry = await buyPatiently(rig, { paymentSignature: v2Header(fresh) });
  t.equal(retry.status, 200);
  t.match(rig.gate.journal.totals(), { presumed: { count: 1 }, pending: { count: 0 } });
});
