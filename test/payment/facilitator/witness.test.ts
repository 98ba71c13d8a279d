import t from 'tap';
import type { Sighting } from '../../../src/payment/facilitator/chain-witness.ts';
import { PRICE, paid, paymentOf, receiptOf, wallet } from '../rig/payments.ts';
import { buyPatiently, openRemoteRig } from '../rig/remote-rig.ts';
import { type Asking, buy, codeOf } from '../rig/requests.ts';

/** The chain's proof about a settlement, and until when it proves nothing. */

const WINDOW_S = 280;
const LAG_S = 60;

type Rig = Awaited<ReturnType<typeof openRemoteRig>>;

async function askingOf(rig: Rig, account = wallet()): Promise<Asking> {
  const validBefore = BigInt(Math.floor(rig.clock.now() / 1000) + WINDOW_S);
  return { ...(await paid(account, { validBefore })) };
}

t.test('a balance that the chain shows too low, too, is a refusal at once', async (t) => {
  const poor: Sighting = { kind: 'unused', chainTimeS: 0n, balance: 5999n };
  const rig = await openRemoteRig(t, { witness: { look: async () => poor } });
  rig.server.behaviour.settle = 'poor_unsettled';
  const answer = await buy(rig, await askingOf(rig));
  t.match(answer, { status: 402, body: { error: 'insufficient_funds' } });
  t.match(receiptOf(answer), { success: false });
  t.match(rig.gate.journal.totals(), { refused: { count: 1 }, pending: { count: 0 } });
  t.equal(rig.server.seen.settle.length, 1);
});

t.test('an unused authorization is pending until its window is over by the time of the chain', async (t) => {
  let behindS = 0;
  const rig = await openRemoteRig(t, {
    witness: {
      look: async () => ({
        kind: 'unused',
        chainTimeS: BigInt(Math.floor(rig.clock.now() / 1000) - behindS),
        balance: 10n ** 9n,
      }),
    },
  });
  rig.freeze();
  const account = wallet();
  rig.server.behaviour.settle = 'bad_request_unsettled';
  const asking = await askingOf(rig, account);
  t.equal(await codeOf(buy(rig, asking)), 'settlement_pending');
  rig.clock.offsetMs = (WINDOW_S + LAG_S) * 1000;
  t.equal(await codeOf(buy(rig, asking)), 'settlement_pending', 'over, but not for long enough');
  rig.clock.offsetMs += 1000;
  behindS = 3600;
  t.equal(await codeOf(buy(rig, asking)), 'settlement_pending', 'a node that is behind proves nothing');
  behindS = 0;
  t.equal((await buy(rig, asking)).body.error, 'authorization_expired', 'undone: it never happened');
  t.match(rig.gate.journal.totals(), { refused: { count: 1 }, pending: { count: 0 }, settled: { count: 0 } });
  t.equal(rig.charges(), 0);
});

t.test('a settlement that only a used nonce speaks for is told as unproven', async (t) => {
  const terms = { amount: PRICE, resource: 'http://127.0.0.1/search', description: 'Search' };
  const read: Sighting = { kind: 'settled', transaction: '0x1' };
  const unread: Sighting = { kind: 'settled', transaction: '', unread: 'no log' };
  for (const [seen, unproven] of [
    [undefined, true],
    [unread, true],
    [read, undefined],
  ] as const) {
    const rig = await openRemoteRig(t, seen && { witness: { look: async () => seen } });
    rig.server.behaviour.settle = 'used_after';
    const told = await rig.facilitator.reconcile(paymentOf(await askingOf(rig)), terms);
    t.equal(told.kind, 'settled');
    t.equal((told as { unproven?: true }).unproven, unproven);
  }
});

t.test('whom the chain contradicts is in the log and in the health', async (t) => {
  for (const [how, chain, told] of [
    ['settled_poor', 'asked', 'insufficient_funds'],
    ['never_settled', 'asked before answers', `settled by 0x${'c'.repeat(64)}`],
  ] as const) {
    const rig = await openRemoteRig(t, { chain });
    rig.server.behaviour.settle = how;
    await codeOf(buy(rig, await askingOf(rig)));
    t.match(
      rig.facilitatorEvents.find(({ event }) => event === 'facilitator_contradicted'),
      { level: 'error', told },
    );
    t.match(rig.facilitator.health().trouble, /the chain shows/);
  }
});

t.test('a node that cannot be asked leaves every refusal unknown', async (t) => {
  const rig = await openRemoteRig(t, { witness: { look: () => Promise.reject(new Error('no node')) } });
  const account = wallet();
  rig.index(account);
  rig.server.behaviour.settle = 'settled_poor';
  t.equal(await codeOf(buy(rig, await askingOf(rig, account))), 'settlement_pending');
  rig.server.behaviour.settle = 'none';
  t.equal((await buyPatiently(rig, await askingOf(rig, account))).status, 200);
  t.equal(rig.charges(), 1);
});

t.test('a fault of ours after the settlement was sent leaves its outcome unknown', async (t) => {
  const rig = await openRemoteRig(t);
  const account = wallet();
  rig.index(account);
  const settle = rig.facilitator.settle.bind(rig.facilitator);
  rig.facilitator.settle = async (payment, terms) => {
    await settle(payment, terms);
    throw new TypeError('undefined is not a function');
  };
  const answer = await buyPatiently(rig, await askingOf(rig, account));
  t.equal(answer.status, 200);
  t.equal(rig.charges(), 1);
});
