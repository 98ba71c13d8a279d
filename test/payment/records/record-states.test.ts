import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import type { Facilitator, Settlement } from '../../../src/payment/facilitator/facilitator.ts';
import { NO_RECORD, type PaymentState, paymentMayPass } from '../../../src/payment/records/payment-record.ts';
import { readPayment, type StoredPayment } from '../../../src/payment/records/stored-payment.ts';
import type { Store, Table } from '../../../src/server/state/store.ts';
import type { Teardown } from '../../rig/temporary-folder.ts';
import { type GateRig, openRig } from '../rig/gate-rig.ts';
import { sign, v2Header, wallet } from '../rig/payments.ts';
import { type Asking, buy, buyAndLose, codeOf } from '../rig/requests.ts';

/** Walks every edge of the record's state machine, and no other than those that docs/payments.md draws. */

const NOWHERE = '[*]';
const SWEPT_MS = 3_600_000;
const walked = new Set<string>();

const nameOf = (stored: StoredPayment | undefined) =>
  stored ? readPayment(stored, BASE_USDC).state : NOWHERE;

/** The real store, with every change of a payment's state written down. */
function watched(store: Store): Store {
  const watch = (before: StoredPayment | undefined, after: StoredPayment | undefined) => {
    const [from, to] = [nameOf(before), nameOf(after)];
    if (from !== to) walked.add(`${from} --> ${to}`);
  };
  const table = <V>(name: string): Table<V> => {
    const inner = store.table<V>(name);
    if (name !== 'payments') return inner;
    const records = inner as unknown as Table<StoredPayment>;
    return {
      ...inner,
      put: (key, value) => {
        watch(records.get(key), value as unknown as StoredPayment);
        return inner.put(key, value);
      },
      remove: (key) => {
        watch(records.get(key), undefined);
        return inner.remove(key);
      },
    };
  };
  return { ...store, table };
}

type Outcome = Settlement | { readonly kind: 'absent' };
const settled: Settlement = { kind: 'settled', transaction: `0x${'1'.repeat(64)}` };
const refused: Settlement = { kind: 'refused', reason: 'insufficient_funds' };
const unknown: Settlement = { kind: 'unknown', detail: 'its answer was lost' };

/** A fake: says what a real facilitator would say, in this order. */
function scriptedFacilitator(settlement: Settlement, ...reconciled: Outcome[]): Facilitator {
  return {
    outcomeIsKnowable: false,
    verifiesContractWallets: false,
    verify: async () => ({ valid: true }),
    settle: async () => settlement,
    reconcile: async () => reconciled.shift() ?? unknown,
    connect: async () => {},
    health: () => ({ kind: 'remote', movesMoney: false }),
  };
}

function open(t: Teardown, facilitator?: Facilitator): GateRig {
  return openRig(t, { seenStore: watched, ...(facilitator && { facilitator: () => facilitator }) });
}

async function asking(rig: GateRig, mode: 'pure' | 'effect'): Promise<Asking> {
  const paymentSignature = v2Header(await sign(wallet()));
  if (mode === 'pure') return { paymentSignature, mode };
  return {
    paymentSignature,
    mode,
    run: async () => ({ charged: true, effect: await rig.things.make('thing') }),
  };
}

/** The next undoing fails, as a full disk would make it. */
function failUndoOnce(rig: GateRig): void {
  const { things } = rig;
  const undo = things.undo.bind(things);
  things.undo = async (ref) => {
    things.undo = undo;
    throw new Error(`${ref.workspace} cannot be undone`);
  };
}

async function sweepLater(rig: GateRig): Promise<void> {
  rig.clock.offsetMs = SWEPT_MS;
  await rig.gate.sweep();
}

/** Asks again with the same payment until nothing is half-way. */
async function untilDone(rig: GateRig, request: Asking): Promise<void> {
  for (let tries = 0; tries < 10 && rig.gate.health().pending > 0; tries++) await codeOf(buy(rig, request));
}

for (const mode of ['pure', 'effect'] as const) {
  t.test(`${mode} work, delivered and forgotten, lost and forgotten`, async (t) => {
    const delivered = open(t);
    t.ok((await buy(delivered, await asking(delivered, mode))).status < 300);
    await delivered.gate.close();
    await sweepLater(delivered);
    const lost = open(t);
    t.ok((await buyAndLose(lost, await asking(lost, mode))).status < 300);
    await lost.gate.close();
    await sweepLater(lost);
  });
}

t.test('pure work at a facilitator that cannot tell outcomes, delivered, lost and refused', async (t) => {
  const delivered = open(t, scriptedFacilitator(settled));
  t.equal((await buy(delivered, await asking(delivered, 'pure'))).status, 200);
  await delivered.gate.close();
  const lost = open(t, scriptedFacilitator(settled));
  t.equal((await buyAndLose(lost, await asking(lost, 'pure'))).status, 200);
  await lost.gate.close();
  for (const { gate } of [delivered, lost]) t.match(gate.journal.totals(), { settled: { count: 1 } });
  const rig = open(t, scriptedFacilitator(refused));
  t.equal((await buy(rig, await asking(rig, 'pure'))).status, 402);
  t.same(rig.gate.openEffects(), []);
});

t.test('work that fails leaves nothing', async (t) => {
  const rig = open(t);
  const request = { ...(await asking(rig, 'pure')), run: () => Promise.reject(new Error('no work')) };
  t.not(await codeOf(buy(rig, request)), 'no error');
});

t.test('a settlement that is refused', async (t) => {
  const rig = open(t, scriptedFacilitator(refused));
  t.equal((await buy(rig, await asking(rig, 'effect'))).status, 402);
  t.same(rig.things.states(), []);
});

t.test('a settlement that is refused, and an effect that will not go at first', async (t) => {
  const rig = open(t, scriptedFacilitator(refused));
  failUndoOnce(rig);
  const request = await asking(rig, 'effect');
  await codeOf(buy(rig, request));
  await untilDone(rig, { ...request, run: () => Promise.reject(new Error('not again')) });
  t.same(rig.things.states(), []);
  t.equal(rig.gate.journal.totals().refused.count, 1, 'the books say so');
});

for (const [name, mode, outcome, states] of [
  ['settled after all', 'effect', settled, ['committed']],
  ['never made', 'effect', { kind: 'absent' }, []],
  ['never made', 'pure', { kind: 'absent' }, []],
] as const) {
  t.test(`a settlement of ${mode} work whose answer is lost, and that was ${name}`, async (t) => {
    const rig = open(t, scriptedFacilitator(unknown, unknown, outcome));
    const request = await asking(rig, mode);
    t.equal(await codeOf(buy(rig, request)), 'settlement_pending');
    await codeOf(buy(rig, { ...request, run: () => Promise.reject(new Error('not again')) }));
    await untilDone(rig, request);
    t.same(rig.things.states(), states);
  });
}

t.test('a settlement that was never made, and an effect that will not go at first', async (t) => {
  const rig = open(t, scriptedFacilitator(unknown, unknown, { kind: 'absent' }, { kind: 'absent' }));
  failUndoOnce(rig);
  const request = await asking(rig, 'effect');
  t.equal(await codeOf(buy(rig, request)), 'settlement_pending');
  await untilDone(rig, { ...request, run: () => Promise.reject(new Error('not again')) });
  t.same(rig.things.states(), []);
  t.match(rig.gate.journal.totals(), { pending: { count: 0 }, refused: { count: 1 } }, 'the books say so');
});

t.test('a client that leaves before the settlement, and an effect that will not go at first', async (t) => {
  const rig = open(t);
  failUndoOnce(rig);
  const leaving = new AbortController();
  const request = await asking(rig, 'effect');
  const run = async () => {
    leaving.abort();
    return { charged: true, effect: await rig.things.make('thing') } as const;
  };
  await codeOf(buy(rig, { ...request, run, signal: leaving.signal }));
  await untilDone(rig, { ...request, run: () => Promise.reject(new Error('not again')) });
  t.same(rig.things.states(), []);
});

t.test('pure work whose answer is lost at a facilitator that can tell outcomes', async (t) => {
  const knowing = { ...scriptedFacilitator(unknown, settled), outcomeIsKnowable: true };
  const rig = open(t, knowing);
  t.equal((await buy(rig, await asking(rig, 'pure'))).status, 200);
  await rig.gate.close();
  t.match(rig.gate.journal.totals(), { settled: { count: 1 }, pending: { count: 0 } });
});

t.test('docs/payments.md draws exactly the edges that were walked', async (t) => {
  const text = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'docs/payments.md'), 'utf8');
  const drawn = [...text.matchAll(/^ {2}(\S+) --> (\S+?):/gm)].map(([, from, to]) => `${from} --> ${to}`);
  t.same([...walked].sort(), drawn.sort());
  const states = [...new Set(drawn.flatMap((edge) => edge.split(' --> ')))];
  const name = (state: string) => (state === NOWHERE ? NO_RECORD : state) as PaymentState;
  for (const [from, to] of states.flatMap((from) => states.map((to) => [from, to] as const)))
    t.equal(
      paymentMayPass(name(from), name(to)),
      from === to || drawn.includes(`${from} --> ${to}`),
      `${from} --> ${to}`,
    );
});
