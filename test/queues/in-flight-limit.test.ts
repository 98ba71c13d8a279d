import t from 'tap';
import { InFlightLimit } from '../../src/queues/in-flight-limit.ts';

t.test('while few are inside nobody’s owner is asked for; then each owner has its own bound', async (t) => {
  const limit = new InFlightLimit(16, 2);
  const asked: string[] = [];
  const enter = (owner: string) =>
    limit.enter(() => {
      asked.push(owner);
      return owner;
    });
  const first = Array.from({ length: 4 }, () => enter('many'));
  t.ok(first.every(Boolean));
  t.same(asked, []);
  t.same(
    ['many', 'many', 'many', 'one', 'many', 'two'].map((owner) => enter(owner) !== undefined),
    [true, true, false, true, false, true],
  );
  t.equal(limit.inside, 8);
  for (const leave of first) leave!();
  t.equal(limit.inside, 4);
  t.notOk(enter('many'));
  t.ok(enter('three'));
});

t.test('without a bound of its own an owner alone has half, and leaves room for others', async (t) => {
  const limit = new InFlightLimit(16);
  const enter = (owner: string) => limit.enter(() => owner);
  const all = Array.from({ length: 16 }, () => enter('many'));
  t.equal(all.filter(Boolean).length, 8);
  const other = enter('one');
  t.ok(other);
  all[0]!();
  other!();
  t.ok(enter('many'), 'once some have left');
});
