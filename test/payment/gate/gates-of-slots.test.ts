import t from 'tap';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import { forgetful, openRig } from '../rig/gate-rig.ts';
import { guardWrites } from '../rig/guarded-store.ts';
import { paid } from '../rig/payments.ts';
import { buy, codeOf } from '../rig/requests.ts';

t.test('a gate that has lost its books undoes no effect: whoever has them may have settled', async (t) => {
  let lost = false;
  const refusing = (local: Facilitator): Facilitator => ({
    ...forgetful(local),
    settle: async () => {
      lost = true;
      return { kind: 'refused', reason: 'insufficient_funds' };
    },
  });
  const rig = openRig(t, {
    facilitator: refusing,
    seenStore: (store) =>
      guardWrites(store, (apply) => (lost ? Promise.reject(new Error('another server has them')) : apply())),
  });
  const { things } = rig;
  let undone = 0;
  things.undo = async () => {
    undone += 1;
  };
  const run = async () => ({ charged: true as const, effect: await things.make('elsewhere') });
  await codeOf(buy(rig, { ...(await paid()), mode: 'effect', run }));
  t.equal(undone, 0);
  t.equal(rig.gate.health().pending, 1, 'it is tried again');
  lost = false;
  await rig.gate.close();
});
