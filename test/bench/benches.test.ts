import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import benches from '../../bench/benches.json' with { type: 'json' };
import { readBeirSet } from '../../bench/sets/beir.ts';

const root = resolve(import.meta.dirname, '../..');
const check = (name: string, environment: Record<string, string> = {}) =>
  spawnSync(process.execPath, [join(root, 'bench/check.js'), name], {
    env: { PATH: process.env.PATH, ...environment },
    encoding: 'utf8',
  });

t.test('each bench has its program, and documents name only benches that there are', async (t) => {
  for (const [name, { program }] of Object.entries(benches))
    t.ok(existsSync(join(root, 'bench', program)), `${name}: bench/${program}`);
  const documents = globSync(['*.md', 'docs/**/*.md', 'bench/**/*.md', 'models/*.md'], {
    cwd: root,
    exclude: ['**/node_modules/**', 'CHANGELOG.md'],
  });
  for (const path of documents)
    for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(/make bench NAME=([a-z]+)/g))
      t.ok(name === 'list' || Object.hasOwn(benches, name!), `${path}: ${name}`);
});

t.test('what a bench lacks is told before anything is built: a name, a set, a program', async (t) => {
  t.match(check('list'), { status: 0, stdout: /^index +\S/m });
  t.match(check('path'), { status: 0, stderr: '' }, 'the set of the tree is always there');
  t.match(check('nothing'), { status: 2, stderr: /no bench "nothing"/ });
  t.match(check('path', { SET: 'nothing' }), { status: 3, stderr: /no set "nothing".*make bench-data/ });
  t.match(check('path', { SET: join(root, 'samples') }), { status: 3, stderr: /no corpus\.jsonl/ });
});

t.test('the set of the tree is whole: every judgement is of a text and of a question', async (t) => {
  const { documents, queries, judgements } = await readBeirSet(join(root, 'bench/sets/jargon'));
  const texts = new Set(documents.map(({ id }) => id));
  t.equal(texts.size, documents.length);
  t.equal(judgements.size, queries.length);
  for (const [query, grades] of judgements)
    for (const document of grades.keys()) t.ok(texts.has(document), `${query}: ${document}`);
});
