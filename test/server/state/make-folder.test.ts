import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeFolder } from '../../../src/server/state/make-folder.ts';

t.test('a folder is made with those above it, and left as it is when it exists', async (t) => {
  const folder = join(t.testdir({}), 'a', 'b', 'c');
  await Promise.all([makeFolder(folder, 0o700), makeFolder(folder, 0o700)]);
  writeFileSync(join(folder, 'kept'), '');
  await makeFolder(folder, 0o755);
  t.equal(statSync(folder).mode & 0o777, 0o700);
  t.ok(statSync(join(folder, 'kept')).isFile());
});

t.test('what no folder can be made of is an error, not an endless attempt', async (t) => {
  const file = join(t.testdir({ file: '' }), 'file');
  await t.rejects(makeFolder(file), { code: 'EEXIST' });
  await t.rejects(makeFolder(join(file, 'below')), { code: 'ENOTDIR' });
  await t.rejects(makeFolder('/proc/farthing/data'), { code: 'ENOENT' });
});
