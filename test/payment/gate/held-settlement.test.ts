import t from 'tap';
import type { Facilitator, Settlement } from '../../../src/payment/facilitator/facilitator.ts';
import type { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import { chargesOf, forgetful, openRig } from '../rig/gate-rig.ts';
import { paid } from '../rig/payments.ts';
import { ask, buy, codeOf, making } from '../rig/requests.ts';

/** A request whose settlement got no answer waits while its outcome is asked for. */

type Outcome = Settlement | { readonly kind: 'absent' };
const UNKNOWN: Settlement = { kind: 'unknown', detail: 'killed' };

/** Settles, or does not, says nothing of it, and tells the outcome once it is asked the second time. */
function killed(settles: boolean, onAsked: () => Promise<void> | void = () => undefined) {
  let asked = 0;
  return (local: LocalFacilitator): Facilitator => ({
    ...forgetful(local),
    settle: async (payment, terms) => {
      if (settles) await local.settle(payment, terms);
      return UNKNOWN;
    },
    reconcile: async (payment): Promise<Outcome> => {
      await onAsked();
      return ++asked < 2 ? UNKNOWN : local.reconcile(payment);
    },
  });
}

const HELD = { holdMsMax: 600_000 };

t.test('it gets its answer in the same call, and so does the same payload sent meanwhile', async (t) => {
  const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
  const rig = openRig(t, { ...HELD, facilitator: killed(true, onAsked) });
  const asking = await paid();
  const first = buy(rig, asking);
  await isAsked;
  const copy = buy(rig, asking);
  const [answer, same] = await Promise.all([first, copy]);
  t.equal(answer.status, 200);
  t.same(same.body, answer.body);
  t.equal(chargesOf(rig), 1);
  t.equal(
    await codeOf(buy(rig, asking).then(({ body }) => Promise.reject({ code: body.error }))),
    'authorization_already_used',
  );
});

t.test('a copy that comes while the outcome is asked for first has the same answer', async (t) => {
  for (const effect of [false, true]) {
    const isAsked = Promise.withResolvers<void>();
    const hasLooked = Promise.withResolvers<void>();
    const facilitator = killed(true, () => {
      isAsked.resolve();
      return hasLooked.promise;
    });
    const rig = openRig(t, { ...HELD, facilitator });
    // The answer of an effect may be a token: it wants a key, which nobody can read on the chain.
    const asking = { ...(await paid()), ...(effect && { ...making(rig), idempotencyKey: 'k'.repeat(16) }) };
    const first = rig.gate.handle(ask(asking));
    await isAsked.promise;
    const copy = rig.gate.handle(ask({ ...asking, onPrepare: () => void setImmediate(hasLooked.resolve) }));
    const answers = await Promise.all([first, copy]);
    t.equal(answers[1].status, effect ? 201 : 200);
    t.same(answers[1].body, answers[0].body);
    // However late they go out.
    for (const { delivered } of answers) delivered(true);
    t.equal(chargesOf(rig), 1);
  }
});

t.test('who has read the authorization on the chain gets no token by it', async (t) => {
  const isAsked = Promise.withResolvers<void>();
  const hasLooked = Promise.withResolvers<void>();
  const facilitator = killed(true, () => {
    isAsked.resolve();
    return hasLooked.promise;
  });
  const rig = openRig(t, { ...HELD, facilitator });
  const asking = { ...(await paid()), ...making(rig) };
  const first = buy(rig, asking);
  await isAsked.promise;
  const copy = buy(rig, { ...asking, onPrepare: () => void setImmediate(hasLooked.resolve) });
  t.equal((await first).status, 201);
  t.match(await copy, { status: 402, body: { error: 'authorization_already_used' } });
});

t.test('what has an effect is committed, and answered in the same call', async (t) => {
  const rig = openRig(t, { ...HELD, facilitator: killed(true) });
  const answer = await buy(rig, { ...(await paid()), ...making(rig) });
  t.equal(answer.status, 201);
  t.equal(chargesOf(rig), 1);
});

t.test('what turns out not to be settled is refused, and charged nothing', async (t) => {
  const rig = openRig(t, { ...HELD, facilitator: killed(false) });
  const answer = await buy(rig, await paid());
  t.equal(answer.status, 402);
  t.equal(chargesOf(rig), 0);
  t.equal(rig.gate.health().pending, 0);
});

t.test('when it takes too long, or the server stops, the request is told that it is pending', async (t) => {
  const silent = (local: LocalFacilitator): Facilitator => ({
    ...forgetful(local),
    settle: async () => UNKNOWN,
    reconcile: async () => UNKNOWN,
  });
  const rig = openRig(t, { holdMsMax: 20, facilitator: silent });
  t.equal(await codeOf(buy(rig, await paid())), 'settlement_pending');
  const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
  const stopping = openRig(t, {
    ...HELD,
    dies: true,
    facilitator: (local) => ({
      ...silent(local),
      reconcile: async () => {
        onAsked();
        return UNKNOWN;
      },
    }),
  });
  const told = codeOf(buy(stopping, await paid()));
  await isAsked;
  await stopping.gate.close();
  t.equal(await told, 'settlement_pending');
});
