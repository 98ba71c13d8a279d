import t from 'tap';
import type { Facilitator, Settlement } from '../../../src/payment/facilitator/facilitator.ts';
import type { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import { chargesOf, forgetful, openRig } from '../rig/gate-rig.ts';
import { paid } from '../rig/payments.ts';
import { ask, buy, codeOf, making } from '../rig/requests.ts';

/** A request whose settlement got no answer waits while its outcome is asked for: over HTTP in `settlement-pending.test.ts`. */

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
