import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { Crossing } from '../../../src/cluster/across/crossing.ts';

t.test('a moment apart waits for the changes that run, and later ones wait for it', async (t) => {
  const crossing = new Crossing();
  const seen: string[] = [];
  let end!: () => void;
  const running = crossing.change(async () => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    seen.push('first change');
  });
  const apart = crossing.apart(async () => {
    seen.push('apart begins');
    await setImmediate();
    seen.push('apart ends');
  });
  const later = crossing.change(async () => void seen.push('later change'));
  await setImmediate();
  t.same(seen, []);
  end();
  await Promise.all([running, apart, later]);
  t.same(seen, ['first change', 'apart begins', 'apart ends', 'later change']);
});

t.test('a failure is its own alone', async (t) => {
  const crossing = new Crossing();
  await t.rejects(
    crossing.change(() => Promise.reject(new Error('of a change'))),
    /of a change/,
  );
  await t.rejects(
    crossing.apart(() => Promise.reject(new Error('apart'))),
    /apart/,
  );
  t.equal(await crossing.change(async () => 'goes on'), 'goes on');
});
