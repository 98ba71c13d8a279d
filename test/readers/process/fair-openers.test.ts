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
