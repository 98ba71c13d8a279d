import t from 'tap';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import { Crowd } from '../../../src/payment/gate/crowd.ts';
import { forgetful, openRig } from '../rig/gate-rig.ts';
import { guardWrites } from '../rig/guarded-store.ts';
import { sign, v2Header, wallet } from '../rig/payments.ts';
import { buy, codeOf, numberedWork } from '../rig/requests.ts';

/** Several gates in one process, one for each slot. */

t.test('gates share the places of strangers: a second slot gives none more', async (t) => {
  const crowd = new Crowd(16);
  const rigs = [openRig(t, { crowd }), openRig(t, { crowd })];
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const begun: Promise<void>[] = [];
  const ask = async (number: number) => {
    const hash = String(number).padStart(64, '0');
    let begin!: () => void;
    begun.push(
      new Promise((resolve) => {
        begin = resolve;
      }),
    );
    const run = async () => {
      begin();
      await ended;
      return numberedWork();
    };
    return { paymentSignature: v2Header(await sign(wallet())), hash, run };
  };
  const bought = await Promise.all(
    Array.from({ length: 8 }, async (_, number) => {
      const asking = await ask(number);
      return { answer: buy(rigs[number % 2]!, asking) };
    }),
  );
  await Promise.all(begun);
  for (const rig of rigs) t.equal(await codeOf(buy(rig, await ask(9))), 'overloaded');
  end();
  for (const { answer } of bought) t.equal((await answer).status, 200);
});

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
  await codeOf(buy(rig, { paymentSignature: v2Header(await sign(wallet())), mode: 'effect', run }));
  t.equal(undone, 0);
  t.equal(rig.gate.health().pending, 1, 'it is tried again');
  lost = false;
  await rig.gate.close();
});
