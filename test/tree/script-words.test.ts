import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { runProgram } from '../rig/run-program.ts';

/** Programs of the tree that people start by their names answer `--help` and what they do not take, and do nothing else. */

const root = resolve(import.meta.dirname, '../..');
const scripts = readdirSync(join(root, 'scripts'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `scripts/${name}`)
  // What exports alone is a part of others.
  .filter((path) => !/^export /m.test(readFileSync(join(root, path), 'utf8')) || isStarted(path));
const PROGRAMS = [...scripts, 'bench/main.ts', 'bench/check.js', 'test/all.ts'];

/** Its own comment or a file that starts it says how. */
function isStarted(path: string): boolean {
  return ['Makefile', 'package.json'].some((file) =>
    readFileSync(join(root, file), 'utf8').includes(`node --no-warnings ${path}`),
  );
}

t.test('--help is answered with 0, an unknown option with 2, both in words and without effect', async (t) => {
  t.ok(scripts.length >= 9, 'the walk sees them');
  const cwd = t.testdir({});
  await Promise.all(
    PROGRAMS.map(async (path) => {
      const run = (word: string) =>
        runProgram(process.execPath, ['--no-warnings', join(root, path), word], { cwd });
      t.match(await run('--help'), { status: 0, output: /\w+ \w+/ }, `${path} --help`);
      const unknown = await run('--no-such-option');
      t.equal(unknown.status, 2, path);
      t.match(unknown.output, /no-such-option/, path);
      t.notMatch(unknown.output, /\n {4}at /, `${path} shows no stack`);
    }),
  );
  t.notOk(existsSync(join(cwd, '--help')), 'nothing is made under the name of an option');
});
