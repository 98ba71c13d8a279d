import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import type { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import type { WorkOutcome } from '../../../src/payment/purchase.ts';
import { forgetful, type GateRig, openRig } from '../rig/gate-rig.ts';
import { addressOf, paid, wallet } from '../rig/payments.ts';
import { type Asking, buy, codeOf, numberedWork } from '../rig/requests.ts';

/** How many purchases may be in flight, and that no payer takes the places of the others. */

const PURCHASES_MAX = 16;
const OF_ONE_PAYER = 2;

let requests = 0;
const asking = async (account = wallet(), more: Asking = {}): Promise<Asking> => {
  requests += 1;
  const hash = String(requests).padStart(64, '0');
  return { ...(await paid(account)), hash, ...more };
};

/** Work that goes on until it is let end. */
function heldWork() {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let began = 0;
  let onBegin: () => void = () => {};
  const run = async (): Promise<WorkOutcome> => {
    began += 1;
    onBegin();
    await ended;
    return await numberedWork();
  };
  const running = (count: number) =>
    new Promise<void>((resolve) => {
      onBegin = () => began >= count && resolve();
      onBegin();
    });
  return { run, running, end };
}

t.test('one payer has an eighth of the purchases that may run, and the others go on', async (t) => {
  const rig = openRig(t, { purchasesMax: PURCHASES_MAX });
  const account = wallet();
  const held = heldWork();
  const bought = Array.from({ length: OF_ONE_PAYER }, async () =>
    buy(rig, await asking(account, { run: held.run })),
  );
  await held.running(OF_ONE_PAYER);
  t.equal(await codeOf(buy(rig, await asking(account))), 'overloaded');
  t.equal((await buy(rig, await asking())).status, 200);
  held.end();
  for (const { status } of await Promise.all(bought)) t.equal(status, 200);
  while (rig.gate.health().running > 0) await setImmediate();
  t.equal((await buy(rig, await asking(account))).status, 200, 'its places are free again');
});

/** Tells of the settlements of some payers nothing. */
function silentFor(isSilent: (payer: string) => boolean) {
  return (local: LocalFacilitator): Facilitator => ({
    ...forgetful(local),
    settle: async (payment, terms) =>
      isSilent(payment.payer) ? { kind: 'unknown', detail: 'silent' } : local.settle(payment, terms),
    reconcile: async () => ({ kind: 'unknown', detail: 'silent' }),
  });
}

t.test('payments of unknown outcome take no place of those that run', async (t) => {
  const payers = Array.from({ length: 2 * PURCHASES_MAX }, wallet);
  const silent = new Set<string>(payers.map(addressOf));
  const rig: GateRig = openRig(t, {
    purchasesMax: PURCHASES_MAX,
    facilitator: silentFor((payer) => silent.has(payer)),
  });
  for (const payer of payers) t.equal(await codeOf(buy(rig, await asking(payer))), 'settlement_pending');
  t.match(rig.gate.health(), { pending: payers.length, running: 0 });
  t.equal((await buy(rig, await asking())).status, 200);
});
