import t from 'tap';
import { Reserve } from '../../../src/server/state/reserve.ts';

const nobody = (work: () => void) => work();

t.test('where the disk has no room, a write is refused before it begins', async (t) => {
  // Every write to it fails as on a full disk.
  const reserve = new Reserve('/dev/full', { usedBytes: () => 0, alone: nobody });
  t.teardown(() => reserve.close());
  t.throws(() => reserve.assertRoom(), { code: 'books_unavailable', retryAfterS: 5 });
});
