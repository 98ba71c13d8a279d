import t, { type Test } from 'tap';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import { forgetful, openRig } from '../rig/gate-rig.ts';
import { paid, sign, v2Header, wallet } from '../rig/payments.ts';
import { ask, buy, buyAndLose } from '../rig/requests.ts';

/** A payment that is verified before its request's body is read to the end. */

interface Watched {
  verifications: number;
  /** The facilitator's answer. */
  hasMoney: boolean;
}

function openWatched(t: Test) {
  const watched: Watched = { verifications: 0, hasMoney: true };
  const facilitator = (local: Facilitator): Facilitator => ({
    ...forgetful(local),
    verify: async (payment, terms) => {
      watched.verifications += 1;
      return watched.hasMoney ? local.verify(payment, terms) : { valid: false, reason: 'insufficient_funds' };
    },
  });
  return { rig: openRig(t, { facilitator }), watched };
}

const proving = (prove: () => Promise<void>) => prove();

t.test('it is verified once, and its purchase goes on', async (t) => {
  const { rig, watched } = openWatched(t);
  const answer = await buy(rig, { ...(await paid()), onPrepare: proving });
  t.equal(answer.status, 200);
  t.equal(watched.verifications, 1);
});

t.test('a payer without money is refused there, and the authorization stays free', async (t) => {
  const { rig, watched } = openWatched(t);
  watched.hasMoney = false;
  const paymentSignature = v2Header(await sign(wallet()));
  let read = false;
  const refused = await buy(rig, {
    paymentSignature,
    onPrepare: async (prove) => {
      await prove();
      read = true;
    },
  });
  t.match(refused, { status: 402, body: { error: 'insufficient_funds' } });
  t.notOk(read, 'no more is taken');
  watched.hasMoney = true;
  t.equal((await buy(rig, { paymentSignature })).status, 200);
});

t.test('a payer with an answer to come has paid, and may have nothing left', async (t) => {
  const { rig, watched } = openWatched(t);
  const account = wallet();
  rig.index(account);
  const lost = await buyAndLose(rig, await paid(account));
  watched.hasMoney = false;
  const again = await rig.gate.handle(ask({ ...(await paid(account)), onPrepare: proving }));
  t.equal(again.status, 200);
  t.same(again.body.work, lost.body.work, 'the same answer');
  again.delivered(true);
  const after = await buy(rig, { ...(await paid(account)), onPrepare: proving });
  t.equal(after.status, 402, 'a new purchase');
});

t.test('so has one with the idempotency key of a charged request', async (t) => {
  const { rig, watched } = openWatched(t);
  const account = wallet();
  rig.index(account);
  const asking = {
    idempotencyKey: 'a-key-of-this-payer-alone',
    ...(await paid(account)),
  };
  const first = await buy(rig, asking);
  watched.hasMoney = false;
  const again = await buy(rig, { ...asking, onPrepare: proving });
  t.same([again.status, again.body.work], [200, first.body.work]);
});
