import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { GateAnswer, WorkOutcome } from '../../../src/payment/purchase.ts';
import type { Store } from '../../../src/server/state/store.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { chargesOf, forgetful, openRig } from '../rig/gate-rig.ts';
import { guardWrites } from '../rig/guarded-store.ts';
import { paid, wallet } from '../rig/payments.ts';
import { ask, buy, numberedWork } from '../rig/requests.ts';

/** A store of a process that dies before its n-th write: that write and all later ones never happen and never return. */
function dyingStore(store: Store, writesLeft: number, onDeath: () => void): Store {
  let left = writesLeft;
  return guardWrites(store, (apply) => {
    left -= 1;
    if (left >= 0) return apply();
    onDeath();
    return new Promise(() => {});
  });
}

const WRITES_MAX = 12;
const WORK_TURNS = 50;

for (const work of ['pure', 'pure and sure of its charge', 'effect'] as const) {
  const mode = work === 'effect' ? 'effect' : 'pure';
  for (const outcomeIsKnowable of [true, false]) {
    t.test(
      `a crash before a write of ${work} work charges once (outcomes known: ${outcomeIsKnowable})`,
      async (t) => {
        for (let writes = 0; writes < WRITES_MAX; writes++) {
          const facilitator = outcomeIsKnowable ? undefined : forgetful;
          let dead = false;
          let died!: () => void;
          const death = new Promise<void>((resolve) => {
            died = () => {
              dead = true;
              resolve();
            };
          });
          const before = openRig(t, {
            folder: temporaryFolder(t),
            facilitator,
            dies: true,
            seenStore: (store) => dyingStore(store, writes, died),
          });
          const account = wallet();
          before.index(account);
          const run = async (_: AbortSignal, willCharge: () => void): Promise<WorkOutcome> => {
            if (mode === 'effect') return { charged: true, effect: await before.things.make('first') };
            if (work !== 'pure') {
              willCharge();
              // Records for the settlement are written before the end of the work.
              for (let turns = 0; turns < WORK_TURNS; turns++) await turn();
            }
            return await numberedWork();
          };
          let first: GateAnswer | undefined;
          const running = before.gate.handle(ask({ ...(await paid(account)), mode, run })).then((answer) => {
            first = answer;
            answer.delivered(true);
          });
          await Promise.race([death, running.then(() => before.gate.close())]);
          await turn();
          if (!dead) break;

          const after = openRig(t, { folder: before.folder, store: before.store, facilitator });
          await after.gate.recover();
          // A facilitator that forgets is asked in the background.
          while (after.gate.health().pending > 0) await turn();
          const charged = chargesOf(after);
          t.ok(first ? charged === 1 : charged <= 1);
          t.same(
            after.things.states(),
            charged === 1 && mode === 'effect' ? ['committed'] : [],
            `after ${writes} writes`,
          );
          const retry = await buy(after, {
            ...(await paid(account)),
            mode,
            run:
              mode === 'pure'
                ? numberedWork
                : async () => ({ charged: true, effect: await after.things.make('second') }),
          });
          t.ok(retry.status < 300, `the retry is answered after ${writes} writes`);
          t.equal(chargesOf(after), 1, 'for one charge');
          await after.gate.close();
          const totals = after.gate.journal.totals();
          t.same([totals.settled.count, totals.pending.count], [1, 0], 'the books agree');
        }
      },
    );
  }
}

t.test('effects that no payment knows are undone at a start', async (t) => {
  const rig = openRig(t);
  await rig.things.make('orphan');
  await rig.gate.recover();
  t.same(rig.things.states(), []);
});

t.test('an effect that cannot be undone delays no other, and goes at the next start', async (t) => {
  const rig = openRig(t);
  const { things } = rig;
  await things.make('stuck');
  await things.make('other');
  const undo = things.undo.bind(things);
  // One of the two, whichever comes first, will not go.
  let failures = 1;
  things.undo = async (ref) => {
    if (failures-- > 0) throw new Error('its index is damaged');
    await undo(ref);
  };
  await rig.gate.recover();
  t.equal(things.states().length, 1);
  await rig.gate.recover();
  t.same(things.states(), []);
});
