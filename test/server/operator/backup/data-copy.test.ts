import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { copyRest, inDraft } from '../../../../src/server/operator/backup/data-copy.ts';
import { temporaryFolder } from '../../../rig/temporary-folder.ts';

t.test('a copy lacks what was signed for the chain, and only that', async (t) => {
  const folder = temporaryFolder(t);
  const data = join(folder, 'data');
  for (const path of ['gas/8453', 'keys', 'tenants/one/gas'])
    mkdirSync(join(data, path), { recursive: true });
  writeFileSync(join(data, 'tenants/one/gas/file'), 'of a tenant');
  const backup = join(folder, 'backup');
  await inDraft(data, backup, (draft) => copyRest(data, draft));
  t.same(readdirSync(backup).sort(), ['keys', 'tenants']);
  t.same(readdirSync(join(backup, 'tenants/one/gas')), ['file']);
});
