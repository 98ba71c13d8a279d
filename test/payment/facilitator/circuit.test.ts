import t from 'tap';
import { Circuit } from '../../../src/payment/facilitator/circuit.ts';
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
  const fail = (times: number) => {
    for (let time = 0; time < times; time++) circuit.failed();
  };
  return { clock, circuit, fail, opened: () => opened };
}

t.test('five failures in a row open it; a success in between counts anew', async (t) => {
  const { circuit, fail, opened } = openCircuit();
  fail(4);
  circuit.succeeded();
  fail(4);
  t.ok(circuit.admits());
  t.equal(circuit.waitMs, 0);
  fail(1);
  t.notOk(circuit.admits());
  t.equal(opened(), 1);
});

t.test('one trial is let through each period, and a success closes it', async (t) => {
  const { clock, circuit, fail } = openCircuit();
  fail(5);
  t.equal(circuit.waitMs, 5000);
  clock.offsetMs = 5000;
  t.same([circuit.admits(), circuit.admits()], [true, false]);
  circuit.succeeded();
  t.same([circuit.admits(), circuit.admits()], [true, true]);
});

t.test('a trial that never reports does not keep it open for ever', async (t) => {
  const { clock, circuit, fail } = openCircuit();
  fail(5);
  clock.offsetMs = 5000;
  t.ok(circuit.admits());
  clock.offsetMs = 10_000;
  t.ok(circuit.admits());
});

t.test('periods double up to a minute', async (t) => {
  const { clock, circuit, fail, opened } = openCircuit();
  fail(5);
  const waits: number[] = [];
  for (let trial = 0; trial < 6; trial++) {
    clock.offsetMs += circuit.waitMs;
    t.ok(circuit.admits());
    circuit.failed();
    waits.push(circuit.waitMs);
  }
  t.same(waits, [10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  t.equal(opened(), 1);
});

t.test('a clock that is set back by hours does not keep it open for hours', async (t) => {
  const { clock, circuit, fail } = openCircuit();
  fail(5);
  clock.offsetMs = -3 * 3_600_000;
  t.equal(circuit.waitMs, 0);
  t.ok(circuit.admits());
});
