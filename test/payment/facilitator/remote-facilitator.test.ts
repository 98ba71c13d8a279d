import t from 'tap';
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

t.test('a refusal that comes of a node that is behind is settled once more, and then believed', async (t) => {
  for (const how of ['simulation_failed', 'gas_unknown'] as const)
    for (const [times, status] of [
      [1, 200],
      [2, 402],
    ] as const) {
      const rig = await openRemoteRig(t);
      const asking: Asking = await paid();
      const { settle } = rig.server.seen;
      // A settlement is among those seen by the time that it is answered.
      rig.server.behaviour.of = () => (settle.length > 0 && settle.length <= times ? how : undefined);
      t.equal((await buy(rig, asking)).status, status, `${how} ${times} times`);
      t.equal(rig.server.seen.settle.length, 2, 'once more, with the same authorization');
      t.equal(rig.charges(), status === 200 ? 1 : 0);
      rig.server.behaviour.of = undefined;
      if (status === 402) t.equal((await buy(rig, asking)).status, 200, 'it is free again');
    }
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

t.test(
  'what a facilitator settles holds up no payment: those go in v2, and it is asked again after a minute',
  async (t) => {
    const rig = await openRemoteRig(t, { versions: [1] });
    rig.freeze();
    const held = Promise.withResolvers<void>();
    Object.assign(rig.server.behaviour, { supported: 'error_500', held: held.promise });
    const away = t.rejects(rig.facilitator.connect(), { code: 'facilitator_unavailable' });
    const sell = async () => {
      const validBefore = BigInt(Math.floor(rig.clock.now() / 1000) + 60);
      t.equal((await buy(rig, { xPayment: v1Header(await sign(wallet(), { validBefore })) })).status, 200);
      return rig.server.seen.settle.at(-1)!.x402Version;
    };
    t.equal(await sell(), 2, 'while it is silent');
    held.resolve();
    await away;
    t.equal(await sell(), 2);
    const asked = () =>
      rig.server.tokens.length - rig.server.seen.verify.length - rig.server.seen.settle.length;
    t.equal(asked(), 1, 'the failure is remembered');
    rig.clock.offsetMs = 60_000;
    rig.server.behaviour.supported = 'none';
    // In the background: some payments may go before it has answered.
    for (let sales = 0; (await sell()) === 2; sales++) if (sales === 100) t.fail('it is not asked again');
    t.equal(asked(), 2);
  },
);

t.test(
  'the next facilitator settles what never reached the first, and with a node what the first has not settled',
  async (t) => {
    for (const [how, chain, settledBy] of [
      ['turned_away', undefined, 1],
      ['error_500', undefined, 0],
      ['error_500', 'asked', 1],
      ['drops_before', 'asked', 1],
      ['drops_after', 'asked', 0],
      ['bad_request_unsettled', 'asked', 1],
    ] as const) {
      const rig = await openRemoteRig(t, { chain, secondOfSameLedger: true });
      rig.server.behaviour.settle = how;
      const second = rig.second!;
      const name = `${how}, ${chain ?? 'no node'}`;
      if (how === 'error_500' && !chain) {
        t.equal(await codeOf(buy(rig, await paid())), 'settlement_pending', name);
        t.equal(second.seen.settle.length, 0, `${name}: it may have been sent`);
      } else {
        t.equal((await buy(rig, await paid())).status, 200, name);
        t.equal(second.seen.settle.length, settledBy, name);
        t.equal(rig.charges(), 1, name);
      }
    }
  },
);

t.test(
  'one that turned a settlement away and settled it all the same is found out by the next',
  async (t) => {
    const rig = await openRemoteRig(t, { secondOfSameLedger: true });
    rig.server.behaviour.settle = 'settled_401';
    t.equal((await buy(rig, await paid())).status, 200);
    t.equal(rig.charges(), 1);
  },
);

t.test(
  'a facilitator of other networks is passed over, and alone keeps the server from being ready',
  async (t) => {
    const rig = await openRemoteRig(t, { secondOfSameLedger: true });
    rig.server.behaviour.networks = ['base-sepolia', 'eip155:84532'];
    await rig.facilitator.connect();
    t.equal((await buy(rig, await paid())).status, 200);
    t.equal(rig.server.seen.verify.length, 0);
    const alone = await openRemoteRig(t);
    alone.server.behaviour.networks = ['base-sepolia', 'eip155:84532'];
    await t.rejects(alone.facilitator.connect(), { code: 'facilitator_unavailable' });
    t.match(alone.gate.health().facilitator, { obstacle: /does not settle "exact" payments on eip155:8453/ });
    t.equal(await codeOf(buy(alone, await paid())), 'facilitator_unavailable');
    alone.server.behaviour.networks = undefined;
    alone.clock.offsetMs = 60_000;
    t.ok(alone.gate.health().facilitator.obstacle, 'it is asked again in the background');
    await alone.facilitator.connect();
    t.notOk(alone.gate.health().facilitator.obstacle);
  },
);

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

t.test(
  'a check finds a facilitator that cannot verify before a payer does, and one that can again',
  async (t) => {
    const rig = await openRemoteRig(t);
    await rig.facilitator.connect();
    t.equal(await rig.facilitator.check(), true);
    t.equal(rig.server.seen.verify.length, 1, 'a verification of its own');
    t.equal(await rig.facilitator.check(), true);
    t.equal(rig.server.seen.verify.length, 1, 'not again within a minute');
    t.equal(rig.charges(), 0);
    rig.clock.offsetMs += 61_000;
    rig.server.behaviour.verify = 'error_500';
    t.equal(await rig.facilitator.check(), false);
    t.match(rig.gate.health().facilitator, { obstacle: /\/verify answered 500/ });
    t.match(rig.facilitatorEvents, [{ event: 'facilitator_cannot_verify', detail: /answered 500/ }]);
    rig.server.behaviour.verify = 'none';
    rig.clock.offsetMs = 0;
    t.equal((await buy(rig, await paid())).status, 200, 'it stops no payment');
    t.equal(rig.gate.health().facilitator.obstacle, undefined, 'which shows that it works');
  },
);

t.test('payers wait as long as the facilitator asks, and it is left alone until then', async (t) => {
  const rig = await openRemoteRig(t);
  rig.freeze();
  rig.server.behaviour.verify = 'busy_17';
  const refused = async () =>
    buy(rig, await paid()).then(
      ({ status }) => status,
      ({ code, retryAfterS }) => [code, retryAfterS],
    );
  t.same(await refused(), ['facilitator_unavailable', 17]);
  const asked = rig.server.seen.verify.length;
  t.equal(asked, 1, 'not twice');
  rig.clock.offsetMs += 7000;
  t.same(await refused(), ['facilitator_unavailable', 10]);
  t.equal(rig.server.seen.verify.length, asked);
  rig.server.behaviour.verify = 'none';
  rig.clock.offsetMs += 10_000;
  t.equal(await refused(), 200);
});
