import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import t from 'tap';
import { isOfContract } from '../../../src/payment/signature.ts';
import { addressOf, PAY_TO, sign, v1Header, wallet } from '../rig/payments.ts';
import { openRemoteRig } from '../rig/remote-rig.ts';
import { type Asking, buy, codeOf } from '../rig/requests.ts';

/** Strangers who made up their signatures, or whose wallets are empty, keep a slow facilitator from nobody who pays. */

/** As many as the purchases that may run at once. */
const STRANGERS = 1000;
const PAYING = 20;
/** Verifications that strangers of each kind may have under way at once before any was answered. */
const AT_FIRST = 4;

type Rig = Awaited<ReturnType<typeof openRemoteRig>>;

/** Payment of a made-up contract wallet, without a genuine signature. */
function madeUp(): Asking {
  const word = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}` as const;
  const authorization = {
    from: word(20),
    to: PAY_TO,
    value: '6000',
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + 280),
    nonce: word(32),
  };
  return {
    xPayment: v1Header({ signature: word(100), authorization }),
    hash: randomBytes(32).toString('hex'),
  };
}

/** Sends all at once. @returns the codes they ended with, and how to hang up */
function crowd(rig: Rig, askings: readonly Asking[]) {
  const client = new AbortController();
  const ended = askings.map((asking) => codeOf(buy(rig, { ...asking, signal: client.signal })));
  return { ended: Promise.all(ended), hangUp: () => client.abort() };
}

/** Resolves when this many verifications are at the facilitator. */
async function verifying(rig: Rig, count: number): Promise<void> {
  while (rig.server.seen.verify.length < count) await once(rig.server.arrivals, 'verify');
}

const paysOf = (rig: Rig, account = wallet()) =>
  sign(account, { validBefore: BigInt(Math.floor(rig.clock.now() / 1000) + 280) }).then((payload) =>
    buy(rig, { xPayment: v1Header(payload), hash: randomBytes(32).toString('hex') }),
  );

t.test(
  '1,000 made-up signatures at a facilitator that does not answer refuse no paying client',
  async (t) => {
    const rig = await openRemoteRig(t);
    rig.server.behaviour.of = (payment) => (isOfContract(payment) ? 'silent' : undefined);
    const strangers = crowd(rig, Array.from({ length: STRANGERS }, madeUp));
    await verifying(rig, AT_FIRST);
    for (let payment = 0; payment < PAYING; payment++) t.equal((await paysOf(rig)).status, 200);
    t.equal(rig.server.seen.verify.length, AT_FIRST + PAYING, 'the facilitator is asked for few of them');
    t.ok(rig.gate.health().running <= 1, 'they take no place of those that run');
    strangers.hangUp();
    await rig.server.close();
    const codes = new Set(await strangers.ended);
    t.ok(codes.has('overloaded'));
    t.same(
      [...codes].filter((code) => !/^(overloaded|request_malformed|facilitator_unavailable)$/.test(code)),
      [],
    );
  },
);

t.test('time-outs of made-up signatures open no circuit', async (t) => {
  const rig = await openRemoteRig(t);
  rig.server.behaviour.of = (payment) => (isOfContract(payment) ? 'drops_before' : undefined);
  for (let stranger = 0; stranger < 12; stranger++)
    t.equal(await codeOf(buy(rig, madeUp())), 'facilitator_unavailable');
  for (let payment = 0; payment < PAYING; payment++) t.equal((await paysOf(rig)).status, 200);
  t.notOk(rig.facilitatorEvents.some(({ event }) => event === 'facilitator_circuit_open'));
});

t.test(
  '1,000 empty wallets at a facilitator that does not answer them refuse nobody who has paid',
  async (t) => {
    const rig = await openRemoteRig(t);
    const regular = wallet();
    t.equal((await paysOf(rig, regular)).status, 200);
    rig.server.behaviour.of = ({ payer }) => (payer === addressOf(regular) ? undefined : 'silent');
    const empty = await Promise.all(
      Array.from({ length: STRANGERS }, async () => ({ xPayment: v1Header(await sign(wallet())) })),
    );
    const strangers = crowd(rig, empty);
    await verifying(rig, 1 + AT_FIRST);
    for (let payment = 0; payment < PAYING; payment++) t.equal((await paysOf(rig, regular)).status, 200);
    t.equal(rig.server.seen.verify.length, 1 + AT_FIRST + PAYING);
    strangers.hangUp();
    await rig.server.close();
    t.ok((await strangers.ended).includes('overloaded'));
  },
);

const POISONED = 20;

/** Twenty payments, signed by as many wallets or by one, and one that has paid before. */
async function poisoned(rig: Rig, wallets: 'one wallet' | 'a wallet each') {
  const regular = wallet();
  t.equal((await paysOf(rig, regular)).status, 200);
  const one = wallet();
  const payments = await Promise.all(
    Array.from({ length: POISONED }, async () => {
      const payload = await sign(wallets === 'one wallet' ? one : wallet(), {
        validBefore: BigInt(Math.floor(rig.clock.now() / 1000) + 280),
      });
      return { xPayment: v1Header(payload), hash: randomBytes(32).toString('hex'), payload };
    }),
  );
  const nonces = new Set(payments.map(({ payload }) => payload.authorization.nonce as string));
  return { regular, payments, isPoisoned: ({ nonce }: { nonce: string }) => nonces.has(nonce) };
}

t.test('payments that the facilitator answers with 500 for their own fault refuse nobody else', async (t) => {
  for (const wallets of ['one wallet', 'a wallet each'] as const) {
    const rig = await openRemoteRig(t);
    const { regular, payments, isPoisoned } = await poisoned(rig, wallets);
    rig.server.behaviour.of = (payment) => (isPoisoned(payment) ? 'simulation_500' : undefined);
    for (const payment of payments) {
      t.match(await buy(rig, payment), { status: 402, body: { error: 'contract_call_failed' } });
      t.equal((await paysOf(rig, regular)).status, 200);
      t.equal((await paysOf(rig)).status, 200, 'a new wallet');
    }
    const asked = rig.server.seen.verify.length;
    t.equal((await buy(rig, payments[0]!)).status, 402);
    t.equal(rig.server.seen.verify.length, asked, 'what was refused is not asked for again');
    t.equal(rig.charges(), 1 + 2 * POISONED);
  }
});

t.test('payments for which the facilitator fails refuse nobody who has paid', async (t) => {
  for (const wallets of ['one wallet', 'a wallet each'] as const) {
    const rig = await openRemoteRig(t);
    rig.freeze();
    const { regular, payments, isPoisoned } = await poisoned(rig, wallets);
    rig.server.behaviour.of = (payment) => (isPoisoned(payment) ? 'error_500' : undefined);
    for (const payment of payments) t.equal(await codeOf(buy(rig, payment)), 'facilitator_unavailable');
    if (wallets === 'one wallet') t.equal((await paysOf(rig)).status, 200, 'one wallet opens nothing');
    t.equal((await paysOf(rig, regular)).status, 200);
    t.equal((await paysOf(rig)).status, 200, 'a purchase closes what strangers opened');
  }
});

t.test('the chain tells that an authorization is gone for which the facilitator fails', async (t) => {
  const rig = await openRemoteRig(t, {
    witness: { look: async () => ({ kind: 'used_otherwise' }) as const },
  });
  rig.server.behaviour.verify = 'error_500';
  for (let payment = 0; payment < POISONED; payment++)
    t.match(await paysOf(rig), { status: 402, body: { error: 'authorization_already_used' } });
  t.equal(rig.server.seen.verify.length, POISONED, 'each is asked for once');
  rig.server.behaviour.verify = 'none';
  t.equal((await paysOf(rig)).status, 200);
});
