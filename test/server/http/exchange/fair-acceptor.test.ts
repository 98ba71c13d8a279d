import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import {
  FairAcceptor,
  OVERLOADED_AFTER_MS,
  OVERLOADED_WAIT_MS_MAX,
  WAIT_MS_MAX,
} from '../../../../src/server/http/exchange/fair-acceptor.ts';

/** Requests that come in one turn of the event loop, and in which later turn each begins. */
function queued(acceptor: FairAcceptor, senders: readonly string[]): string[] {
  const begun: string[] = [];
  for (const sender of senders) void acceptor.enter(sender).then(() => begun.push(sender));
  return begun;
}

t.test('a turn has room for a bounded number of requests, and for fewer with credentials', async (t) => {
  const bounds = [undefined, 'somewhere'].map((address) => {
    const acceptor = new FairAcceptor();
    const places = Array.from({ length: 40 }, () => acceptor.place(address));
    const last = places.indexOf('last');
    t.same(new Set(places.slice(0, last)), new Set(['now']));
    t.same(new Set(places.slice(last + 1)), new Set(['later']));
    return last;
  });
  t.ok(bounds[1]! > 0 && bounds[1]! < bounds[0]!);
});

t.test('whether requests with credentials may be of one read is known for each turn', async (t) => {
  const acceptor = new FairAcceptor();
  for (const [address, isOne] of [
    ['here', true],
    [undefined, true],
    ['here', true],
    ['there', false],
    ['here', false],
  ] as const) {
    acceptor.place(address);
    t.equal(acceptor.isOfOneAddress, isOne);
  }
  await nextTurn();
  acceptor.place('there');
  t.ok(acceptor.isOfOneAddress);
});

t.test('of those that wait, senders take turns', async (t) => {
  const acceptor = new FairAcceptor();
  acceptor.place();
  const begun = queued(acceptor, [...Array<string>(100).fill('many'), 'payer', 'workspace']);
  await nextTurn();
  t.ok(begun.includes('payer') && begun.includes('workspace'));
  t.ok(begun.length < 10, `${begun.length} in a turn`);
});

t.test('a request passes none that waits', async (t) => {
  const acceptor = new FairAcceptor();
  acceptor.place();
  queued(acceptor, ['', '', '']);
  t.equal(acceptor.place(), 'later');
  await nextTurn();
  t.equal(acceptor.place(), 'later', 'one still waits');
  await nextTurn();
  t.equal(acceptor.place(), 'now');
});

t.test('a request with credentials that waited too long is refused, and delays none', async (t) => {
  let now = 0;
  const acceptor = new FairAcceptor(() => now);
  acceptor.place();
  const begun: string[] = [];
  const refused: unknown[] = [];
  const ask = (name: string, sender: string) =>
    void acceptor.enter(sender, sender !== '').then(
      () => begun.push(name),
      ({ code, retryAfterS }) => refused.push([name, code, retryAfterS]),
    );
  for (let index = 0; index < 70; index++) ask(`early ${index}`, 'payer');
  ask('probe', '');
  now = WAIT_MS_MAX;
  ask('late', 'payer');
  now += 1;
  await nextTurn();
  t.same(begun, ['probe'], 'none without credentials is refused');
  t.ok(refused.length < 70, 'a turn refuses a bounded number');
  await nextTurn();
  t.same([refused.length, begun], [70, ['probe', 'late']]);
  t.same(refused[0], ['early 0', 'overloaded', 1]);
  ask('in time', 'payer');
  now += WAIT_MS_MAX;
  await nextTurn();
  t.same(begun, ['probe', 'late', 'in time'], 'that is the longest');
});

t.test(
  'a sender that always has some waiting has its newest requests answered, and its old ones refused early',
  async (t) => {
    let now = 0;
    const acceptor = new FairAcceptor(() => now);
    acceptor.place();
    const begun: number[] = [];
    const refused: number[] = [];
    const ask = (sender: string) => {
      const since = now;
      acceptor.enter(sender, sender !== '').then(
        () => begun.push(since),
        () => refused.push(since),
      );
    };
    // Each turn takes 20 ms, and five come while two begin.
    while (now <= OVERLOADED_AFTER_MS + 20) {
      for (let index = 0; index < 5; index++) ask('payer');
      now += 20;
      const before = begun.length;
      await nextTurn();
      t.ok(
        begun.slice(before).every((since) => now - since <= 80),
        `the newest, after ${now} ms`,
      );
    }
    t.ok(begun.length >= OVERLOADED_AFTER_MS / 10, 'two in each turn');
    await nextTurn();
    t.ok(refused.length > 60, 'those that waited for long');
    t.ok(refused.every((since) => now - since > OVERLOADED_WAIT_MS_MAX));
    for (let index = 0; index < 4; index++) ask('');
    now += OVERLOADED_AFTER_MS;
    const asked = begun.length;
    for (let turn = 0; turn < 40; turn++) await nextTurn();
    t.equal(
      begun.slice(asked).filter((since) => since === now - OVERLOADED_AFTER_MS).length,
      4,
      'without credentials all',
    );
  },
);

t.test('a burst is answered whole', async (t) => {
  let now = 0;
  const acceptor = new FairAcceptor(() => now);
  acceptor.place();
  const answers = Array.from({ length: 200 }, () => acceptor.enter('payer', true));
  for (let turn = 0; turn < 100; turn++) {
    now += 9;
    await nextTurn();
  }
  t.equal((await Promise.all(answers)).length, 200);
});
