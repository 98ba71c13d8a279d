import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { copyRest, newDraft } from '../../../../src/server/operator/backup/data-copy.ts';
import { temporaryFolder } from '../../../rig/temporary-folder.ts';

t.test('a copy lacks what was signed for the chain, and only that', async (t) => {
  const folder = temporaryFolder(t);
  const data = join(folder, 'data');
  for (const path of ['gas/8453', 'keys', 'tenants/one/gas'])
    mkdirSync(join(data, path), { recursive: true });
  writeFileSync(join(data, 'tenants/one/gas/file'), 'of a tenant');
  const draft = await newDraft(data, join(folder, 'backup'));
  await copyRest(data, draft);
  t.same(readdirSync(draft).sort(), ['keys', 'tenants']);
  t.same(readdirSync(join(draft, 'tenants/one/gas')), ['file']);
});
