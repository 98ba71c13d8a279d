import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { FairAcceptor } from '../../../../src/server/http/exchange/fair-acceptor.ts';

const SENDER = 'a wallet';
/** Of a turn, in which two requests of one sender begin. */
const TURN_MS = 12;

/** Lets requests come in each turn. @returns what became of each, in milliseconds that it waited; whether it began */
async function run(arrivals: readonly number[]) {
  let clock = 0;
  const acceptor = new FairAcceptor(() => clock);
  const ended: { at: number; waited: number; begun: boolean }[] = [];
  let running = 0;
  const come = () => {
    const since = clock;
    running += 1;
    const end = (begun: boolean) => {
      running -= 1;
      ended.push({ at: clock, waited: clock - since, begun });
    };
    void acceptor.enter(SENDER, true).then(
      () => end(true),
      () => end(false),
    );
    // As each request is placed: a turn ends after it.
    acceptor.place(SENDER);
  };
  for (let turn = 0; turn < arrivals.length || running > 0; turn++) {
    for (let n = arrivals[turn] ?? 0; n > 0; n--) come();
    clock += TURN_MS;
    await nextTurn();
  }
  return ended;
}

t.test('requests that come at once are all answered, though it takes longer than a second', async (t) => {
  const ended = await run([300]);
  t.equal(ended.length, 300);
  t.equal(ended.filter(({ begun }) => !begun).length, 0);
  t.ok(ended.at(-1)!.waited > 1500);
});

t.test(
  'while three times as many come as are served, those that are answered have hardly waited',
  async (t) => {
    const ended = await run(Array(400).fill(6));
    const late = ended.filter(({ at }) => at > 2000 && at < 4800);
    const begun = late.filter((each) => each.begun);
    t.ok(begun.length > 1.9 * (2800 / TURN_MS), `${begun.length} begin, as many as can`);
    t.ok(Math.max(...begun.map(({ waited }) => waited)) <= 100 + TURN_MS);
    t.ok(
      late.some((each) => !each.begun),
      'the others are refused',
    );
  },
);

t.test('what has waited for two seconds is refused', async (t) => {
  const ended = await run([600]);
  t.ok(ended.some(({ begun }) => !begun));
  t.ok(Math.max(...ended.map(({ waited }) => waited)) <= 2000 + 20 * TURN_MS);
});
