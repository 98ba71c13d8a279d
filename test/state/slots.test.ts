import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newId } from '../../src/domain/id.ts';
import { claimSlotFolders, slotFolders, slotOf } from '../../src/state/slots.ts';

t.test('an id leads to one slot, and ids are spread evenly', async (t) => {
  t.equal(slotOf('anything', 1), 0);
  t.equal(slotOf(`ws_${'0'.repeat(32)}`, 128), 36, 'the same in every release');
  const counts = Array.from({ length: 16 }, () => 0);
  for (let count = 0; count < 16_000; count++) counts[slotOf(newId('workspace'), 16)]! += 1;
  t.ok(
    counts.every((count) => count > 800 && count < 1200),
    String(counts),
  );
});

t.test('a new id leads to the slot that wants it', async (t) => {
  for (let slot = 0; slot < 128; slot++) {
    const id = newId('job', (drawn) => slotOf(drawn, 128) === slot);
    t.equal(slotOf(id, 128), slot);
  }
});

t.test('one slot lies in the data folder itself, without a trace of slots', async (t) => {
  const data = t.testdir({});
  t.same(await claimSlotFolders(data, 1), [data]);
  t.same(readdirSync(data), []);
  t.same(await slotFolders(data), [data]);
});

t.test('several slots have a folder each, found again without the setting', async (t) => {
  const data = t.testdir({});
  const folders = await claimSlotFolders(data, 3);
  t.same(
    folders,
    ['0', '1', '2'].map((slot) => join(data, 'slots', slot)),
  );
  t.ok(folders.every((folder) => existsSync(folder)));
  t.same(await slotFolders(data), folders);
  t.same(await claimSlotFolders(data, 3), folders, 'at the next start, too');
});

t.test('a data folder keeps its number of slots', async (t) => {
  const data = t.testdir({});
  await claimSlotFolders(data, 3);
  for (const other of [1, 2, 4])
    await t.rejects(claimSlotFolders(data, other), { message: /was made with 3/ });
  const single = t.testdir({ state: {} });
  await t.rejects(claimSlotFolders(single, 4), { message: /was made with 1/ });
});
