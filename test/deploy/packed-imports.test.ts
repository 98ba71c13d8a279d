import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import ts from 'typescript';

/** What the package says it brings along is all that its files ask for. */

const root = resolve(import.meta.dirname, '../..');
const { name, files, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
};
/** The console is bundled whole, for a browser. The native part's loader looks for every platform's file and package. */
const LOADED_OTHERWISE = ['.build/console', 'src/native/addon'];

/** Programs and declarations that are packed. */
function packed(): string[] {
  return files
    .filter(
      (entry) => !/[!*]|\.txt$/.test(entry) && !LOADED_OTHERWISE.some((folder) => entry.startsWith(folder)),
    )
    .map((entry) => join(root, entry))
    .flatMap((path) =>
      statSync(path).isDirectory()
        ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((below) => join(path, below))
        : [path],
    )
    .filter((path) => /\.[cm]?[jt]s$/.test(path) && !isLeftOut(path));
}

function isLeftOut(path: string): boolean {
  return files.includes(`!${dirname(path).slice(root.length + 1)}/*.ts`);
}

function importsOf(path: string): string[] {
  const { importedFiles, typeReferenceDirectives } = ts.preProcessFile(
    readFileSync(path, 'utf8'),
    true,
    true,
  );
  return [...importedFiles, ...typeReferenceDirectives].map(({ fileName }) => fileName);
}

t.test('each import of a packed file is a dependency or another packed file', async (t) => {
  const paths = packed();
  const undeclared = new Set<string>();
  const used = new Set<string>();
  for (const path of paths) {
    for (const imported of importsOf(path)) {
      if (imported.startsWith('.')) {
        const target = resolve(dirname(path), imported);
        // A program finds the declarations of `./a.js` in `./a.d.ts`.
        const file = path.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target;
        if (!existsSync(file)) undeclared.add(`${imported} in ${path}`);
      } else if (!isBuiltin(imported)) {
        const owner = imported.startsWith('@') ? imported.split('/', 2).join('/') : imported.split('/')[0]!;
        used.add(owner);
        if (owner !== name && !(owner in dependencies)) undeclared.add(`${owner} in ${path}`);
      }
    }
  }
  t.same([...undeclared], []);
  for (const known of ['lmdb', 'sharp', 'uWebSockets.js']) t.ok(used.has(known), `the walk sees ${known}`);
});
