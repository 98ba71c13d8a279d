import t from 'tap';
import { native } from '../../../src/native/index.ts';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import { PurchaseLimits } from '../../../src/payment/gate/purchase-limits.ts';
import { SignatureCheck } from '../../../src/payment/signature.ts';
import { RequestPayment } from '../../../src/payment/wire/request-payment.ts';
import { forgetful, openRig } from '../rig/gate-rig.ts';
import { guardWrites } from '../rig/guarded-store.ts';
import { addressOf, paid, sign, v1Header, wallet } from '../rig/payments.ts';
import { ask as asked, buy, codeOf, numberedWork } from '../rig/requests.ts';

/** Several gates in one process, one for each slot. */

t.test('gates share the places of strangers: a second slot gives none more', async (t) => {
  const purchaseLimits = new PurchaseLimits(16);
  const rigs = [openRig(t, { purchaseLimits }), openRig(t, { purchaseLimits })];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
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
    return { ...(await paid()), hash, run };
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
  await codeOf(buy(rig, { ...(await paid()), mode: 'effect', run }));
  t.equal(undone, 0);
  t.equal(rig.gate.health().pending, 1, 'it is tried again');
  lost = false;
  await rig.gate.close();
});

t.test('one request costs one check of its signature, however many gates are asked about it', async (t) => {
  const signatures = new SignatureCheck();
  const [first, second] = [openRig(t, { signatures }), openRig(t, { signatures })];
  const account = wallet();
  second.gate.paidElsewhere(addressOf(account));
  let checks = 0;
  const { checkTransferSignature } = native;
  native.checkTransferSignature = (...given) => {
    checks += 1;
    return checkTransferSignature(...given);
  };
  t.teardown(() => {
    native.checkTransferSignature = checkTransferSignature;
  });
  const payment = new RequestPayment({ xPayment: v1Header(await sign(account)) });
  t.ok(first.gate.isGenuine(payment));
  t.equal(second.gate.knownPayer(payment), addressOf(account));
  const answer = await second.gate.handle({ ...asked({}), payment });
  answer.delivered(true);
  t.equal(answer.status, 200);
  t.equal(checks, 1);
  t.equal(payment.parsed(), payment.parsed(), 'it is decoded once, too');

  const forged = { ...(await sign(account)), signature: (await sign(wallet())).signature };
  const refused = new RequestPayment({ xPayment: v1Header(forged) });
  for (const { gate } of [first, second]) t.notOk(gate.isGenuine(refused));
  t.equal((await second.gate.handle({ ...asked({}), payment: refused })).status, 402);
  t.equal(checks, 3, 'a refusal is kept as well: one check for each coin that v1 does not name');
});
