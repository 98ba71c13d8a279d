import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testExtractor } from '../../rig/readers.ts';
import { laughingPdf } from '../samples/hostile.ts';
import '../../rig/teardown-order.ts';

t.test('a tenant whose files never open delays its own files, and nobody else’s', async (t) => {
  const folder = t.testdir({});
  // Longer than any test: nothing here times out.
  const { extractor } = testExtractor(t, { limits: { openSecondsMax: 3600 } });
  const endless = join(folder, 'endless.pdf');
  writeFileSync(endless, laughingPdf(14));
  let ended = 0;
  const stuck = Array.from({ length: 5 }, () =>
    extractor.open(endless, { tenant: 'first' }).then(
      () => ended++,
      () => ended++,
    ),
  );
  for (const tenant of ['second', 'third', 'second'])
    t.match(await extractor.open('samples/tea.txt', { tenant }), { mediaType: 'text/plain' });
  const delayed = extractor.open('samples/tea.txt', { tenant: 'first' }).catch(() => 'never');
  t.match(await extractor.open('samples/rocket.jpg', { tenant: 'second' }), { mediaType: 'image/jpeg' });
  t.equal(ended, 0, 'all of the first tenant’s files still wait');
  await extractor.close();
  t.equal(await delayed, 'never');
  await Promise.all(stuck);
});
