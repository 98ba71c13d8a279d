import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Reserve } from '../../../src/server/state/reserve.ts';

const MEBIBYTE = 2 ** 20;
const nobody = (work: () => void) => work();

t.test('a state keeps room for its next writes, and takes more before that is used up', async (t) => {
  const file = join(t.testdir({}), 'data.mdb');
  writeFileSync(file, new Uint8Array(8192));
  let used = 8192;
  const reserve = new Reserve(file, { usedBytes: () => used, alone: nobody });
  t.teardown(() => reserve.close());
  t.equal(statSync(file).size, 8192 + 4 * MEBIBYTE);
  t.ok(statSync(file).blocks * 512 >= 4 * MEBIBYTE, 'on the disk, not a hole');
  for (let write = 0; write < 1000; write++) {
    used += 16 * 1024;
    reserve.assertRoom();
  }
  t.ok(statSync(file).size - used >= MEBIBYTE);
});

t.test('where the disk has no room, a write is refused before it begins', async (t) => {
  // Every write to it fails as on a full disk.
  const reserve = new Reserve('/dev/full', { usedBytes: () => 0, alone: nobody });
  t.teardown(() => reserve.close());
  t.throws(() => reserve.assertRoom(), { code: 'books_unavailable', retryAfterS: 5 });
});
