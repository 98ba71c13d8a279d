import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { onlyDeep } from '../../rig/deep.ts';
import { testExtractor } from '../../rig/readers.ts';
import { hostileFile } from '../samples/hostile.ts';
import '../../rig/teardown-order.ts';

// A process is replaced after each file that it does not end with.
t.setTimeout(180_000);

t.test(
  'a file that draws without end is opened by its headers, and stands behind others’ files',
  { skip: onlyDeep },
  async (t) => {
    const folder = t.testdir({});
    const { extractor } = testExtractor(t);
    const place = (name: string, bytes: Buffer): string => {
      const path = join(folder, name);
      writeFileSync(path, bytes);
      return path;
    };
    const hostile = [
      place('masks.svg', hostileFile('masks.svg')),
      place('form.pdf', hostileFile('self-drawing.pdf')),
    ];
    const order: string[] = [];
    const open = async (path: string, tenant: string) => {
      const info = await extractor.open(path, { tenant });
      order.push(tenant);
      return info;
    };
    const first = Promise.all([...hostile, ...hostile].map((path) => open(path, 'first')));
    t.match(await open('samples/tea.txt', 'second'), { mediaType: 'text/plain' });
    t.match(await open('samples/rocket.jpg', 'second'), { mediaType: 'image/jpeg' });
    t.not(order.length, 6, 'which did not wait for the end of the first one’s');
    const [svg, pdf] = await first;
    t.match(svg, { kind: 'picture', mediaType: 'image/svg+xml', width: 99, height: 99 });
    t.match(pdf, { kind: 'document', mediaType: 'application/pdf', pages: 1 });
  },
);

t.test('a small text waits for no file of which nobody knows how long it takes', async (t) => {
  const path = join(t.testdir({}), 'masks.svg');
  writeFileSync(path, hostileFile('masks.svg'));
  let starts = 0;
  const log = (event: object) => {
    if ('reader' in event && /^open-\d/.test(String(event.reader))) starts += 1;
  };
  const { extractor } = testExtractor(t, { readers: 2, log });
  await extractor.open('samples/tea.txt', { tenant: 'warms the reader' });
  const before = starts;
  const hostile = Array.from({ length: 6 }, (_, owner) =>
    extractor.open(path, { tenant: `hostile ${owner}` }).catch(() => undefined),
  );
  await extractor.open('samples/tea.txt', { tenant: 'new' });
  // The second process, and one in the place of that which ran when the text came.
  t.ok(starts - before <= 2, `${starts - before} starts before it, one for each file that was given up`);
  await extractor.close();
  await Promise.all(hostile);
});
