import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testExtractor } from '../../rig/readers.ts';
import { laughingPdf } from '../samples/hostile.ts';
import '../../rig/teardown-order.ts';

// Two processes start one after the other.
t.setTimeout(120_000);

t.test('a tenant whose files are read without end delays nobody else’s reading', async (t) => {
  const folder = t.testdir({});
  const { extractor } = testExtractor(t, { limits: { openSecondsMax: 3600, extractSecondsMax: 3600 } });
  const endless = join(folder, 'endless.pdf');
  writeFileSync(endless, laughingPdf(14));
  const pdf = { kind: 'document', mediaType: 'application/pdf', pages: 1_000_000 } as const;
  let ended = 0;
  const stuck = [1, 2, 3].map(() =>
    extractor.extract(endless, pdf, { tenant: 'first' }).then(
      () => ended++,
      () => ended++,
    ),
  );
  const tea = await extractor.open('samples/tea.txt', { tenant: 'second' });
  t.match(await extractor.extract('samples/tea.txt', tea, { tenant: 'second' }), { blocks: [{}] });
  t.equal(ended, 0, 'the first tenant’s files are still read');
  await extractor.close();
  await Promise.all(stuck);
});
