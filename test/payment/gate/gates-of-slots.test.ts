import t from 'tap';
import { Crowd } from '../../../src/payment/gate/crowd.ts';
import { openRig } from '../rig/gate-rig.ts';
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

t.test('a start undoes no effect that a payment of another slot knows', async (t) => {
  const rig = openRig(t);
  const paid = await rig.things.make('paid-elsewhere');
  await rig.things.make('paid-by-nobody');
  await rig.gate.recover([paid]);
  t.same(
    [...rig.things.table.range()].map(({ key }) => key),
    ['paid-elsewhere'],
  );
});
