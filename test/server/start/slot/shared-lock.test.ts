import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { SharedLock } from '../../../../src/cluster/across/shared-lock.ts';

t.test('a moment apart waits for the changes that run, and later ones wait for it', async (t) => {
  const lock = new SharedLock();
  const seen: string[] = [];
  let end!: () => void;
  const running = lock.shared(async () => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    seen.push('first change');
  });
  const apart = lock.exclusive(async () => {
    seen.push('apart begins');
    await setImmediate();
    seen.push('apart ends');
  });
  const later = lock.shared(async () => void seen.push('later change'));
  await setImmediate();
  t.same(seen, []);
  end();
  await Promise.all([running, apart, later]);
  t.same(seen, ['first change', 'apart begins', 'apart ends', 'later change']);
});

t.test('a failure is its own alone', async (t) => {
  const lock = new SharedLock();
  await t.rejects(
    lock.shared(() => Promise.reject(new Error('of a change'))),
    /of a change/,
  );
  await t.rejects(
    lock.exclusive(() => Promise.reject(new Error('apart'))),
    /apart/,
  );
  t.equal(await lock.shared(async () => 'goes on'), 'goes on');
});
