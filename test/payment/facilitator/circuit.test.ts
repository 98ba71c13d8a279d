import t from 'tap';
import { type Caller, Circuit } from '../../../src/payment/facilitator/circuit.ts';
import { SetClock } from '../rig/gate-rig.ts';

function openCircuit() {
  const clock = new SetClock();
  const at = Date.now();
  clock.now = () => at + clock.offsetMs;
  let opened = 0;
  const circuit = new Circuit({
    clock,
    onOpen: () => {
      opened += 1;
    },
  });
  let wallets = 0;
  const stranger = (): Caller => ({ payer: `0x${String(++wallets).padStart(40, '0')}`, isKnown: false });
  const known = (): Caller => ({ ...stranger(), isKnown: true });
  const fail = (times: number, who = stranger) => {
    for (let time = 0; time < times; time++) circuit.failed(who());
  };
  /** Whether a wallet that was never seen is let through. */
  const admits = () => circuit.admits(stranger());
  return { clock, circuit, fail, admits, stranger, known, opened: () => opened };
}

t.test('failures of five wallets in a row open it; a success in between counts anew', async (t) => {
  const { circuit, fail, admits, opened } = openCircuit();
  fail(4);
  circuit.succeeded();
  fail(4);
  t.ok(admits());
  t.equal(circuit.waitMs(), 0);
  fail(1);
  t.notOk(admits());
  t.equal(opened(), 1);
});

t.test('one trial is let through each period, and a success closes it', async (t) => {
  const { clock, circuit, fail, admits } = openCircuit();
  fail(5);
  t.equal(circuit.waitMs(), 5000);
  clock.offsetMs = 5000;
  t.same([admits(), admits()], [true, false]);
  circuit.succeeded();
  t.same([admits(), admits()], [true, true]);
});

t.test('a trial that never reports does not keep it open for ever', async (t) => {
  const { clock, fail, admits } = openCircuit();
  fail(5);
  clock.offsetMs = 5000;
  t.ok(admits());
  clock.offsetMs = 10_000;
  t.ok(admits());
});

t.test('periods double up to a minute', async (t) => {
  const { clock, circuit, fail, stranger, opened } = openCircuit();
  fail(5);
  const waits: number[] = [];
  for (let trial = 0; trial < 6; trial++) {
    clock.offsetMs += circuit.waitMs();
    const trial = stranger();
    t.ok(circuit.admits(trial));
    circuit.failed(trial);
    waits.push(circuit.waitMs());
  }
  t.same(waits, [10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  t.equal(opened(), 1);
});

t.test('a clock that is set back by hours does not keep it open for hours', async (t) => {
  const { clock, circuit, fail, admits } = openCircuit();
  fail(5);
  clock.offsetMs = -3 * 3_600_000;
  t.equal(circuit.waitMs(), 0);
  t.ok(admits());
});

t.test('a wallet counts once, however often it fails', async (t) => {
  const { circuit, fail, admits, stranger, known } = openCircuit();
  for (const one of [stranger(), known()]) fail(100, () => one);
  t.ok(admits());
  fail(2);
  t.notOk(admits());
  t.equal(circuit.waitMs(), 5000);
});

t.test('wallets that have paid count for more', async (t) => {
  const { fail, admits, known } = openCircuit();
  fail(2, known);
  t.ok(admits());
  fail(1, known);
  t.notOk(admits());
});

t.test('what strangers opened, a wallet closes that has paid: it is not refused', async (t) => {
  const { circuit, fail, admits, known } = openCircuit();
  fail(5);
  const payer = known();
  t.equal(circuit.waitMs(payer), 0);
  t.ok(circuit.admits(payer));
  circuit.succeeded();
  t.ok(admits());
});

t.test('a wallet that has paid and failed waits like all others', async (t) => {
  const { circuit, fail, known } = openCircuit();
  const payer = known();
  fail(5);
  circuit.failed(payer);
  t.equal(circuit.waitMs(payer), 5000);
  t.notOk(circuit.admits(payer));
});

t.test('calls that began before it was open do not prolong it', async (t) => {
  const { circuit, fail } = openCircuit();
  fail(50);
  t.equal(circuit.waitMs(), 5000);
});
