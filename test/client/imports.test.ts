import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import t from 'tap';

const root = resolve(import.meta.dirname, '../../src');
/** All of them run in browsers. */
const PACKAGES = ['@farthing/protocol/money', '@x402/fetch', '@x402/evm/exact/client', 'viem', 'jose'];

/** What is loaded at run time: types are erased. */
function importsOf(path: string): string[] {
  const source = readFileSync(path, 'utf8').replace(/^(?:import|export) type [^;]*;/gm, '');
  const from = [...source.matchAll(/^(?:import|export)\b([^;'"]*?)from\s+['"]([^'"]+)['"]/gm)];
  const values = from.filter(([, names]) => names!.replace(/[{}\s]|\btype \w+,?/g, '') !== '');
  const dynamic = [...source.matchAll(/(?<!typeof )\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)];
  return [...values.map(([, , name]) => name!), ...dynamic.map(([, name]) => name!)];
}

t.test('the client loads its folder, the protocol’s money, and packages for browsers', async (t) => {
  const files = [resolve(root, 'client/index.ts')];
  const packages = new Set<string>();
  for (const path of files) {
    for (const name of importsOf(path)) {
      const target = name.startsWith('.') ? resolve(dirname(path), name) : undefined;
      if (!target) packages.add(name);
      else if (!files.includes(target)) files.push(target);
    }
  }
  const names = files.map((path) => relative(root, path));
  t.same(
    names.filter((name) => !name.startsWith('client/')),
    [],
  );
  t.ok(names.includes('client/payment/authorizations.ts'), 'the walk goes in');
  t.same([...packages].sort(), [...PACKAGES].sort());
});

t.test('nothing of it needs Node but a path, which is opened through a late import', async (t) => {
  const uses = [
    'source.ts',
    'calls.ts',
    'farthing.ts',
    'workspace.ts',
    'ingest.ts',
    'payment/authorizations.ts',
  ].filter((name) =>
    /\bBuffer\b|\bprocess\.|from 'node:/.test(readFileSync(resolve(root, 'client', name), 'utf8')),
  );
  t.same(uses, []);
});

t.test('the schemas stay with the server', async (t) => {
  const tree = resolve(root, '..');
  if (!existsSync(resolve(tree, 'dist/client/index.d.ts')))
    spawnSync('npm', ['run', '--silent', 'build:client'], { cwd: tree, stdio: 'inherit' });
  t.notOk(readdirSync(resolve(tree, 'dist/protocol')).includes('schema'));
});
