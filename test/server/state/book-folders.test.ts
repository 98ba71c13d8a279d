import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newId } from '../../../src/protocol/id.ts';
import { bookFolders, claimBookFolders, leadsTo } from '../../../src/server/state/book-folders.ts';

t.test('an id leads to one slot, and ids are spread evenly', async (t) => {
  t.equal(leadsTo('anything', 1), 0);
  t.equal(leadsTo(`ws_${'0'.repeat(32)}`, 128), 36, 'the same in every release');
  const counts = Array.from({ length: 16 }, () => 0);
  for (let count = 0; count < 16_000; count++) counts[leadsTo(newId('workspace'), 16)]! += 1;
  t.ok(
    counts.every((count) => count > 800 && count < 1200),
    String(counts),
  );
});

t.test('several slots have a folder each, found again without the setting', async (t) => {
  const data = t.testdir({});
  const folders = await claimBookFolders(data, 3);
  t.same(
    folders,
    ['0', '1', '2'].map((slot) => join(data, 'slots', slot)),
  );
  t.ok(folders.every((folder) => existsSync(folder)));
  t.same(await bookFolders(data), folders);
  t.same(await claimBookFolders(data, 3), folders, 'at the next start, too');
});

t.test('a data folder keeps its number of slots', async (t) => {
  const data = t.testdir({});
  await claimBookFolders(data, 3);
  for (const other of [1, 2, 4])
    await t.rejects(claimBookFolders(data, other), { message: /was made with 3/ });
  const single = t.testdir({ state: {} });
  await t.rejects(claimBookFolders(single, 4), { message: /was made with 1/ });
});
