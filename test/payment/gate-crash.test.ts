import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { GateAnswer, WorkOutcome } from '../../src/domain/payment.ts';
import type { Facilitator } from '../../src/payment/facilitator.ts';
import type { Store, Table } from '../../src/state/store.ts';
import {
  ask,
  buy,
  chargesOf,
  numberedWork,
  openBench,
  sign,
  temporaryFolder,
  v2Header,
  wallet,
} from './fixture.ts';

/** A store of a process that dies before its n-th write: that write and all later ones never happen and never return. */
function dyingStore(store: Store, writesLeft: number, onDeath: () => void): Store {
  let left = writesLeft;
  const write = <T>(apply: () => Promise<T>): Promise<T> => {
    left -= 1;
    if (left >= 0) return apply();
    onDeath();
    return new Promise(() => {});
  };
  let inTransaction = false;
  const table = <V>(name: string): Table<V> => {
    const inner = store.table<V>(name);
    const guarded = <T>(apply: () => Promise<T>) => (inTransaction ? apply() : write(apply));
    return {
      ...inner,
      put: (key, value) => guarded(() => inner.put(key, value)),
      putIfAbsent: (key, value) => guarded(() => inner.putIfAbsent(key, value)),
      remove: (key) => guarded(() => inner.remove(key)),
    };
  };
  return {
    ...store,
    table,
    transaction: <T>(work: () => T) =>
      write(() =>
        store.transaction(() => {
          inTransaction = true;
          try {
            return work();
          } finally {
            inTransaction = false;
          }
        }),
      ),
  };
}

/** The local ledger behind a facilitator that cannot recall: what a remote one looks like to the gate. */
function forgetful(local: Facilitator): Facilitator {
  return {
    recalls: false,
    judgesContracts: false,
    verify: (payment, terms) => local.verify(payment, terms),
    settle: (payment, terms) => local.settle(payment, terms),
    reconcile: (payment, terms) => local.settle(payment, terms),
    connect: async () => {},
    health: () => local.health(),
  };
}

const WRITES_MAX = 12;

for (const mode of ['pure', 'effect'] as const) {
  for (const recalls of [true, false]) {
    t.test(
      `a crash before any write of ${mode} work (facilitator ${recalls ? 'recalls' : 'forgets'}) neither charges twice nor loses an answer`,
      async (t) => {
        for (let writes = 0; writes < WRITES_MAX; writes++) {
          const facilitator = recalls ? undefined : forgetful;
          let dead = false;
          let died!: () => void;
          const death = new Promise<void>((resolve) => {
            died = () => {
              dead = true;
              resolve();
            };
          });
          const before = openBench(t, {
            folder: temporaryFolder(t),
            facilitator,
            dies: true,
            seenStore: (store) => dyingStore(store, writes, died),
          });
          const account = wallet();
          before.index(account);
          const run = async (): Promise<WorkOutcome> => {
            if (mode === 'pure') return await numberedWork();
            return { charged: true, effect: await before.things.make('first') };
          };
          let first: GateAnswer | undefined;
          const running = before.gate
            .handle(ask({ paymentSignature: v2Header(await sign(account)), mode, run }))
            .then((answer) => {
              first = answer;
              answer.delivered(true);
            });
          await Promise.race([death, running.then(() => before.gate.close())]);
          await turn();
          if (!dead) break;

          const after = openBench(t, { folder: before.folder, store: before.store, facilitator });
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
            paymentSignature: v2Header(await sign(account)),
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
  const bench = openBench(t);
  await bench.things.make('orphan');
  await bench.gate.recover();
  t.same(bench.things.states(), []);
});
