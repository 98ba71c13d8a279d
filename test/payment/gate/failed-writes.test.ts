import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { Facilitator } from '../../../src/payment/facilitator/facilitator.ts';
import type { LocalFacilitator } from '../../../src/payment/facilitator/local-facilitator.ts';
import type { WorkOutcome } from '../../../src/payment/purchase.ts';
import type { Store } from '../../../src/server/state/store.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { chargesOf, forgetful, openRig } from '../rig/gate-rig.ts';
import { guardWrites } from '../rig/guarded-store.ts';
import { sign, v2Header, wallet } from '../rig/payments.ts';
import { type Asking, buy, numberedWork } from '../rig/requests.ts';

/** A disk that is full for one moment: each single write of a purchase fails once, and the client does what it is told. */

/** A store whose write number `at` fails; `failed` tells whether it came to that. */
function failingStore(store: Store, at: number) {
  const seen = { writes: 0, failed: false };
  const failing = guardWrites(store, (apply) => {
    seen.writes += 1;
    if (seen.writes !== at) return apply();
    seen.failed = true;
    return Promise.reject(new Error('no space left on device'));
  });
  return { seen, failing };
}

/** Moves the money, and its first answer is lost. */
function losing(local: LocalFacilitator): Facilitator {
  const settle: Facilitator['settle'] = async (payment, terms) => {
    const settled = await local.settle(payment, terms);
    return settled.kind === 'settled' ? { kind: 'unknown', detail: 'the answer was lost' } : settled;
  };
  return { ...forgetful(local), settle };
}

/** Refuses the first settlement. */
function refusing(local: LocalFacilitator): Facilitator {
  let first = true;
  const settle: Facilitator['settle'] = async (payment, terms) => {
    const refused = first;
    first = false;
    return refused ? { kind: 'refused', reason: 'insufficient_funds' } : local.settle(payment, terms);
  };
  return { ...forgetful(local), settle };
}

const WRITES_MAX = 20;
const RETRIES_MAX = 50;

for (const mode of ['pure', 'effect'] as const) {
  for (const [name, facilitator] of [
    ['knows outcomes', (local: LocalFacilitator): Facilitator => local],
    ['forgets', forgetful],
    ['loses its answer', losing],
    ['refuses at first', refusing],
  ] as const) {
    t.test(`a failed write of ${mode} work, facilitator ${name}: charged once, in the books`, async (t) => {
      for (let at = 1; at <= WRITES_MAX; at++) {
        const seen = { failed: false };
        const rig = openRig(t, {
          folder: temporaryFolder(t),
          facilitator,
          seenStore: (store) => {
            const { failing, seen: writes } = failingStore(store, at);
            Object.defineProperty(seen, 'failed', { get: () => writes.failed });
            return failing;
          },
        });
        const account = wallet();
        rig.index(account);
        let things = 0;
        const run = async (): Promise<WorkOutcome> => {
          if (mode === 'pure') return await numberedWork();
          things += 1;
          return { charged: true, effect: await rig.things.make(`thing ${things}`) };
        };
        const asking: Asking = { mode, run, idempotencyKey: 'a-private-key-of-mine' };
        const untilAnswered = async () => {
          for (let retry = 0; retry < RETRIES_MAX; retry++) {
            const paymentSignature = v2Header(await sign(account));
            const answer = await buy(rig, { ...asking, paymentSignature }).catch(() => undefined);
            if (answer && answer.status < 300) return;
          }
          t.fail(`never answered, though only write ${at} failed`);
        };
        await untilAnswered();
        await untilAnswered();
        // The note of a settlement is written, and may fail, a turn behind the answer.
        await turn();
        await turn();
        for (let retry = 0; retry < RETRIES_MAX && rig.gate.health().pending > 0; retry++)
          await untilAnswered();
        t.equal(chargesOf(rig), 1, `one charge, though write ${at} failed`);
        await rig.gate.close();
        const { settled, pending, presumed } = rig.gate.journal.totals();
        t.same([settled.count, pending.count, presumed.count], [1, 0, 0], 'the books agree');
        if (mode === 'effect') t.same(rig.things.states().filter((state) => state === 'committed').length, 1);
        if (!seen.failed) return;
      }
      t.fail(`more than ${WRITES_MAX} writes`);
    });
  }
}

t.test('a reservation that cannot be removed now is removed later', async (t) => {
  let isFull = false;
  const rig = openRig(t, {
    facilitator: (local) => ({
      ...forgetful(local),
      verify: async () => {
        while (open() === 0) await turn();
        isFull = true;
        return { valid: false, reason: 'insufficient_funds' } as const;
      },
    }),
    seenStore: (store) =>
      guardWrites(store, (apply) =>
        isFull ? Promise.reject(new Error('no space left on device')) : apply(),
      ),
  });
  const open = () => [...rig.store.table('payments_open').range({})].length;
  const run = async (): Promise<WorkOutcome> => ({ charged: true, effect: await rig.things.make('thing') });
  const paymentSignature = v2Header(await sign(wallet()));
  t.equal((await buy(rig, { mode: 'effect', run, paymentSignature })).status, 402);
  t.equal(open(), 1);
  isFull = false;
  while (rig.gate.health().pending > 0) await pause(50);
  t.equal(open(), 0);
});
