import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';
import { betweenFolders, circlesIn } from './graph.ts';

/**
 * No circle of imports between files, or between folders (a folder is the files directly in it), in TypeScript; imports of types count.
 * No folder of code has more than FILES_MAX files.
 */

const FILES_MAX = 18;
const PARTS = ['src', 'test', 'bench'];
const root = resolve(import.meta.dirname, '../..');

/** Folders of what is installed, built, fetched or recorded. */
const NOT_CODE = new Set(['node_modules', 'target', 'addon', 'data', 'record']);

/** Paths of the code below a folder, from the root. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_CODE.has(entry.name) ? [] : filesBelow(path);
    return entry.name === 'package-lock.json' ? [] : [path];
  });
}

const IMPORT = /(?:from\s+|import\(\s*|import\s+)['"](\.[^'"]+)['"]/g;

/** Each file's imports of files of the same part. */
function importsOf(part: string): Map<string, Set<string>> {
  const files = new Set(filesBelow(part).filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts')));
  const imports = new Map<string, Set<string>>();
  for (const file of files) {
    const source = readFileSync(join(root, file), 'utf8');
    const targets = [...source.matchAll(IMPORT)].map(([, path]) =>
      relative(root, resolve(root, dirname(file), path!)),
    );
    imports.set(file, new Set(targets.filter((target) => files.has(target) && target !== file)));
  }
  return imports;
}

t.test('a circle is found', async (t) => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['a', 'd'])],
    ['d', new Set<string>()],
  ]);
  t.same(circlesIn(graph), ['a ↔ b ↔ c']);
});

for (const part of PARTS) {
  t.test(`${part}: no circle between files`, async (t) => t.same(circlesIn(importsOf(part)), []));
  t.test(`${part}: no circle between folders`, async (t) =>
    t.same(circlesIn(betweenFolders(importsOf(part))), []),
  );
}

t.test(`no folder has more than ${FILES_MAX} files`, async (t) => {
  const counts = new Map<string, number>();
  for (const file of [...PARTS, 'native'].flatMap(filesBelow))
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  const wide = [...counts].filter(([, count]) => count > FILES_MAX);
  t.same(wide, []);
});
