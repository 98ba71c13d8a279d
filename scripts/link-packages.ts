/**
 * Links each package of src to those that its package.json names, and to no other: an import against the direction then finds
 * nothing, in Node as in the compiler. npm itself would link all of them for all. `node scripts/link-packages.ts`; called by `make`.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const SCOPE = '@farthing/';

rmSync(join(root, 'node_modules', SCOPE), { recursive: true, force: true });
for (const name of readdirSync(join(root, 'src'))) {
  const folder = join(root, 'src', name);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const links = join(folder, 'node_modules', SCOPE);
  rmSync(links, { recursive: true, force: true });
  mkdirSync(links, { recursive: true });
  for (const needed of Object.keys(dependencies).filter((each) => each.startsWith(SCOPE))) {
    const target = join(root, 'src', needed.slice(SCOPE.length));
    symlinkSync(relative(links, target), join(links, needed.slice(SCOPE.length)));
  }
}
