import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { AnswerLostError, type Leases } from '../../src/cluster/stores/kv.ts';
import { Lease } from '../../src/cluster/stores/lease.ts';
import type { Moment } from '../../src/protocol/clock.ts';

/** A lease as its holder sees it, by clocks that the test sets and an engine that the test answers for. */

const SECONDS = 5;
/** Time that the holder may use: four fifths. */
const HELD_MS = 4000;

/** The engine's next answer to a renewal. */
type Renewal = (seconds: number | 'lost') => void;

async function taken(t: Test) {
  const now: { -readonly [K in keyof Moment]: number } = { monotonic: 1000, wall: 5000 };
  const renewals: Renewal[] = [];
  const revoked: string[] = [];
  const lost: Error[] = [];
  const leases: Leases = {
    grant: async () => 'l1',
    renew: () =>
      new Promise((resolve, reject) => {
        renewals.push((seconds) => {
          if (seconds === 'lost') reject(new AnswerLostError('no answer'));
          else resolve(seconds);
        });
      }),
    revoke: async (id) => void revoked.push(id),
  };
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const onLost = (error: Error) => void lost.push(error);
  const lease = await Lease.take({ leases, seconds: SECONDS, onLost, now: () => ({ ...now }) });
  const pass = (ms: number) => {
    now.monotonic += ms;
    now.wall += ms;
  };
  /** Its time to renew comes; the answer is given later. */
  const beat = (): Renewal => {
    mock.timers.tick((1000 * SECONDS) / 5);
    return renewals.at(-1)!;
  };
  const answered = async (renewal: Renewal, answer: number | 'lost') => {
    renewal(answer);
    await turn();
  };
  return { lease, now, pass, beat, answered, renewals, revoked, lost };
}

t.test('it holds from the sending of the last renewal that was acknowledged, less a margin', async (t) => {
  const { lease, pass, beat, answered } = await taken(t);
  pass(HELD_MS - 1);
  t.ok(lease.holds);
  pass(1);
  t.notOk(lease.holds, 'the engine still has it: somebody else cannot, but may soon');
  const renewal = beat();
  pass(1500);
  await answered(renewal, SECONDS);
  t.equal(lease.silentMs, 1500);
  pass(HELD_MS - 1501);
  t.ok(lease.holds);
  pass(1);
  t.notOk(lease.holds);
});

t.test('a renewal without an answer renews nothing, and the next one does', async (t) => {
  const { lease, pass, beat, answered, renewals } = await taken(t);
  pass(3000);
  const first = beat();
  beat();
  t.equal(renewals.length, 1, 'one at a time');
  await answered(first, 'lost');
  pass(1000);
  t.notOk(lease.holds);
  await answered(beat(), SECONDS);
  t.ok(lease.holds);
});

t.test('a machine that was suspended knows by the time of day', async (t) => {
  const { lease, now } = await taken(t);
  now.wall += HELD_MS;
  t.notOk(lease.holds);
});

t.test('one that the engine has ended is lost, once and for ever', async (t) => {
  const { lease, beat, answered, lost } = await taken(t);
  await answered(beat(), 0);
  t.notOk(lease.holds);
  t.equal(lost.length, 1);
  await answered(beat(), SECONDS);
  t.notOk(lease.holds);
  t.equal(lost.length, 1);
});

t.test('one that is given back is revoked, and holds no more', async (t) => {
  const { lease, revoked, lost } = await taken(t);
  await lease.end();
  t.same(revoked, ['l1']);
  t.notOk(lease.holds);
  t.same(lost, []);
});
