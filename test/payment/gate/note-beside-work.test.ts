import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import type { WorkOutcome } from '../../../src/payment/purchase.ts';
import { FarthingError } from '../../../src/protocol/error.ts';
import { chargesOf, forgetful, openRig } from '../rig/gate-rig.ts';
import { paid, sign, v2Header, wallet } from '../rig/payments.ts';
import { ask, buy } from '../rig/requests.ts';

/** The note that a settlement needs, written while the work still runs. */

type Run = (willCharge: () => void, stateNow: () => string | undefined) => Promise<WorkOutcome>;

/** Buys with a work that sees the state of its payment's record. */
async function bought(t: Test, facilitator: (local: Facilitator) => Facilitator, work: Run) {
  const rig = openRig(t, { facilitator });
  const payments = rig.store.table<{ state: string }>('payments');
  const stateNow = () => [...payments.range()][0]?.value.state;
  const paymentSignature = v2Header(await sign(wallet()));
  const run = (_: AbortSignal, willCharge: () => void) => work(willCharge, stateNow);
  return { rig, paymentSignature, stateNow, buying: buy(rig, { paymentSignature, run }) };
}

async function untilState(stateNow: () => string | undefined, state: string): Promise<void> {
  while (stateNow() !== state) await turn();
}

t.test('work that fails after all is not charged, and leaves its authorization free', async (t) => {
  const { rig, buying, paymentSignature, stateNow } = await bought(
    t,
    forgetful,
    async (willCharge, stateNow) => {
      willCharge();
      await untilState(stateNow, 'settling');
      throw new FarthingError('overloaded', 'The model is gone.', { retryAfterS: 1 });
    },
  );
  await t.rejects(buying, { code: 'overloaded' });
  t.equal(chargesOf(rig), 0);
  t.equal(stateNow(), undefined);
  t.equal((await buy(rig, { paymentSignature })).status, 200);
});

t.test('where answers come after the note of their settlement, the books have it before', async (t) => {
  const rig = openRig(t, { facilitator: forgetful, answersAfterNote: true });
  const payments = rig.store.table<{ state: string }>('payments');
  const answer = await rig.gate.handle(ask(await paid()));
  t.match([...payments.range()], [{ value: { state: 'settled' } }]);
  answer.delivered(true);
});
