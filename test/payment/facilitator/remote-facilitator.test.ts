import t from 'tap';
import type { WorkOutcome } from '../../../src/domain/payment.ts';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import { RemoteFacilitator } from '../../../src/payment/facilitator/remote-facilitator.ts';
import { type Misbehaviour, serveFacilitator } from '../rig/facilitator-server.ts';
import { openRig, SetClock } from '../rig/gate-rig.ts';
import { MAX_TIMEOUT_SECONDS, PAY_TO, receiptOf, sign, v1Header, v2Header, wallet } from '../rig/payments.ts';
import { buyPatiently, openRemoteRig } from '../rig/remote-rig.ts';
import { type Asking, buy, codeOf } from '../rig/requests.ts';

t.test('a payment goes through a facilitator over HTTP, in the version that the client spoke', async (t) => {
  const rig = await openRemoteRig(t);
  await rig.facilitator.connect();
  t.equal((await buy(rig, { paymentSignature: v2Header(await sign(wallet())) })).status, 200);
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
    paymentSignature: v2Header(await sign(wallet(), { value: 200_000_000n })),
    amount: 200_000_000n,
  });
  t.equal(answer.status, 402);
  t.equal(answer.body.error, 'insufficient_funds');
});

for (const how of [
  'silent',
  'error_500',
  'garbage',
  'huge',
  'other_payer',
  'drops_before',
  'redirect',
  'unexpected_error',
] as const) {
  t.test(`a facilitator whose verify is "${how}" is a 503 that took no money`, async (t) => {
    const rig = await openRemoteRig(t, how === 'silent' ? { silent: 'verify' } : {});
    rig.server.behaviour.verify = how;
    const header = v2Header(await sign(wallet()));
    t.equal(await codeOf(buy(rig, { paymentSignature: header })), 'facilitator_unavailable');
    t.equal(rig.charges(), 0);
    t.equal(rig.server.seen.verify.length, 2, 'verifying is tried twice');
    t.ok(rig.gate.health().facilitator.trouble);
    rig.server.behaviour.verify = 'none';
    rig.patient();
    t.equal((await buy(rig, { paymentSignature: header })).status, 200, 'the same payment works later');
    t.equal(rig.charges(), 1);
  });
}

t.test('a facilitator that is not there is a 503 that took no money', async (t) => {
  const rig = await openRemoteRig(t);
  await rig.server.close();
  t.equal(
    await codeOf(buy(rig, { paymentSignature: v2Header(await sign(wallet())) })),
    'facilitator_unavailable',
  );
  await t.rejects(rig.facilitator.connect(), { code: 'facilitator_unavailable' });
});

for (const how of [
  'silent',
  'error_500',
  'garbage',
  'huge',
  'other_payer',
  'no_transaction',
  'drops_before',
  'drops_after',
  'timed_out_after',
  'pending_after',
  'unexpected_error',
  'redirect',
] as const) {
  for (const mode of ['pure', 'effect'] as const) {
    t.test(
      `a settle that is "${how}" is pending for ${mode} work until its outcome is known, and charged once`,
      async (t) => {
        const rig = await openRemoteRig(t, how === 'silent' ? { silent: 'settle' } : {});
        const account = wallet();
        rig.index(account);
        const asking: Asking = { mode };
        if (mode === 'effect')
          asking.run = async (): Promise<WorkOutcome> => ({
            charged: true,
            effect: await rig.things.make('one'),
          });
        rig.server.behaviour.settle = how;
        const first = { ...asking, paymentSignature: v2Header(await sign(account)) };
        t.equal(await codeOf(buy(rig, first)), 'settlement_pending');
        t.equal(await codeOf(buy(rig, first)), 'settlement_pending', 'the same payment');
        const fresh = { ...asking, paymentSignature: v2Header(await sign(account)) };
        t.equal(await codeOf(buy(rig, fresh)), 'settlement_pending', 'a fresh payment is not used meanwhile');
        t.match(rig.gate.journal.totals(), {
          pending: { count: 1, amount: '6000' },
          settled: { count: 0 },
        });
        t.ok(rig.charges() <= 1);

        rig.server.behaviour.settle = 'none';
        rig.patient();
        const retry = await buyPatiently(rig, fresh);
        t.ok(retry.status < 300);
        t.equal(rig.charges(), 1);
        await rig.gate.close();
        t.match(rig.gate.journal.totals(), {
          pending: { count: 0, amount: '0' },
          settled: { count: 1, amount: '6000' },
        });
      },
    );
  }
}

t.test('a settle that certainly was not acted upon is undone, a 503, and free again', async (t) => {
  const rig = await openRemoteRig(t);
  const run = async (): Promise<WorkOutcome> => ({ charged: true, effect: await rig.things.make('one') });
  rig.server.behaviour.settle = 'turned_away';
  const asking: Asking = { paymentSignature: v2Header(await sign(wallet())), mode: 'effect', run };
  t.equal(await codeOf(buy(rig, asking)), 'facilitator_unavailable');
  t.same(rig.things.states(), []);
  rig.server.behaviour.settle = 'none';
  t.equal((await buy(rig, asking)).status, 201);
  t.equal(rig.charges(), 1);
});

t.test('a settlement whose transaction was reverted is a 402 at once, and free again', async (t) => {
  const rig = await openRemoteRig(t);
  rig.server.behaviour.settle = 'reverted';
  const asking: Asking = { paymentSignature: v2Header(await sign(wallet())) };
  t.match(await buy(rig, asking), { status: 402, body: { error: 'invalid_exact_evm_transaction_failed' } });
  t.equal(rig.server.seen.settle.length, 1);
  rig.server.behaviour.settle = 'none';
  t.equal((await buy(rig, asking)).status, 200);
  t.equal(rig.charges(), 1);
});

t.test(
  'a nonce that is gone at the first settlement is a 402, unless the chain tells that it paid us',
  async (t) => {
    const transaction = `0x${'b'.repeat(64)}`;
    for (const [witness, status] of [
      [undefined, 402],
      [{ look: async () => ({ kind: 'settled', transaction }) as const }, 200],
      [{ look: async () => ({ kind: 'used_otherwise' }) as const }, 402],
    ] as const) {
      const rig = await openRemoteRig(t, { witness });
      rig.server.behaviour.settle = 'used_after';
      const answer = await buy(rig, { paymentSignature: v2Header(await sign(wallet())) });
      t.equal(answer.status, status);
      if (status === 200) t.equal(receiptOf(answer)?.transaction, transaction);
      else t.equal(answer.body.error, 'authorization_already_used');
      t.equal(rig.server.seen.settle.length, 1);
    }
  },
);

t.test(
  'a facilitator that was away at the start is asked what it supports by the first payment',
  async (t) => {
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
  },
);

t.test('a crash while a settlement is out is settled at the next start', async (t) => {
  const rig = await openRemoteRig(t);
  const account = wallet();
  rig.server.behaviour.settle = 'drops_after' satisfies Misbehaviour;
  const run = async (): Promise<WorkOutcome> => ({ charged: true, effect: await rig.things.make('one') });
  t.equal(
    await codeOf(buy(rig, { paymentSignature: v2Header(await sign(account)), mode: 'effect', run })),
    'settlement_pending',
  );
  await rig.gate.close();

  const after = openRig(t, {
    clock: rig.clock,
    folder: rig.folder,
    store: rig.store,
    facilitator: () => rig.facilitator,
  });
  await after.gate.recover();
  t.equal(
    await codeOf(buy(after, { paymentSignature: v2Header(await sign(account)), mode: 'effect', run })),
    'settlement_pending',
  );
  rig.server.behaviour.settle = 'none';
  const retry = await buyPatiently(after, {
    paymentSignature: v2Header(await sign(account)),
    mode: 'effect',
    run,
  });
  t.match(retry, { status: 201, body: { id: 'one' } });
  t.equal(rig.charges(), 1);
});

t.test(
  'a facilitator that stays silent after the authorization ended: the answer stays deliverable, and the books say so',
  async (t) => {
    const rig = await openRemoteRig(t);
    const account = wallet();
    rig.index(account);
    rig.server.behaviour.settle = 'error_500';
    t.equal(
      await codeOf(buy(rig, { paymentSignature: v2Header(await sign(account)) })),
      'settlement_pending',
    );
    rig.clock.offsetMs = 12 * 60_000;
    const fresh = await sign(account, { validBefore: BigInt(Math.floor(rig.clock.now() / 1000) + 60) });
    const retry = await buyPatiently(rig, { paymentSignature: v2Header(fresh) });
    t.equal(retry.status, 200);
    t.match(rig.gate.journal.totals(), { presumed: { count: 1 }, pending: { count: 0 } });
  },
);

t.test('a facilitator that does not settle our network is refused at start', async (t) => {
  const { ledger } = { ledger: openRig(t).local };
  const server = await serveFacilitator(ledger, []);
  t.teardown(() => server.close());
  const facilitator = new RemoteFacilitator({
    url: server.url,
    assets: [BASE_USDC],
    payTo: PAY_TO,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    clock: new SetClock(),
    log: () => {},
  });
  await t.rejects(facilitator.connect(), { code: 'facilitator_unavailable' });
});
