import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';

/** Each fenced block that a reader could run is run by a test, or stands here with the reason why not. */

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** What is drawn, and answers that are shown. */
const SHOWN = new Set(['mermaid', '']);

const RUN: Readonly<Record<string, string>> = {
  'README.md ts 1': 'test/client/docs.test.ts',
  'README.md python 1': 'test/client/python.test.ts',
  'README.md sh 2': 'test/tree/readme.test.ts',
  'api.md sh 1': 'test/client/docs.test.ts',
  'backup.md sh 1': 'test/server/operator/commands/documented.test.ts',
  'backup.md sh 3': 'test/server/operator/commands/documented.test.ts',
  'cluster.md sh 1': 'test/server/operator/commands/documented.test.ts',
  'cluster/containers.md sh 2': 'test/deploy/cluster-up.test.ts',
  'get-paid.md sh 1': 'test/server/operator/commands/documented.test.ts',
  'get-paid.md sh 2': 'test/server/operator/commands/documented.test.ts',
  'get-paid.md sh 3': 'test/server/operator/commands/documented.test.ts',
  'get-paid.md sh 4': 'test/server/operator/commands/documented.test.ts',
  'get-paid.md sh 5': 'test/server/operator/commands/documented.test.ts',
  'get-paid.md sh 6': 'test/server/operator/commands/documented.test.ts',
  'mcp.md json 1': 'test/client/docs.test.ts',
  'mcp.md json 2': 'test/client/docs.test.ts',
  'mcp.md json 3': 'test/client/docs.test.ts',
  'mcp.md toml 1': 'test/client/docs.test.ts',
  'operating.md sh 2': 'test/server/operator/commands/documented.test.ts',
  'operating.md nginx 1': 'test/deploy/nginx.test.ts',
  'quickstart-curl.md sh 1': 'test/client/docs.test.ts',
  'quickstart-python.md python 1': 'test/client/python.test.ts',
  'quickstart-python.md python 2': 'test/client/python.test.ts',
  'quickstart-python.md python 3': 'test/client/python.test.ts',
  'quickstart-python.md python 4': 'test/client/docs.test.ts',
  'quickstart-typescript.md js 1': 'test/deploy/package.test.ts',
  'quickstart-typescript.md sh 1': 'test/deploy/package.test.ts',
  'quickstart-typescript.md sh 2': 'test/deploy/package.test.ts',
  'quickstart-typescript.md ts 1': 'test/deploy/package.test.ts',
  'quickstart-typescript.md ts 2': 'test/deploy/package.test.ts',
  'recipes.md ts 1': 'test/client/docs.test.ts',
  'recipes.md ts 2': 'test/client/docs.test.ts',
  'recipes.md ts 3': 'test/client/docs.test.ts',
  'recipes.md python 1': 'test/client/python.test.ts',
  'recipes.md python 2': 'test/client/python.test.ts',
};

const NOT_RUN: Readonly<Record<string, string>> = {
  'README.md sh 1':
    'builds the tree; test/server/start/terminal/start.test.ts starts what it builds, on a terminal',
  'README.md json 1': 'a shortened answer; test/tree/readme.test.ts has the whole one',
  'api.md json 1': 'a shortened answer; test/rig/described-answers.ts checks each against the schemas',
  'api.md json 2': 'a shortened answer, as above',
  'backup.md sh 2':
    'needs etcd; test/server/start/slot/whole-cluster-backup.test.ts makes such backups with it',
  'cluster.md sh 2':
    'needs etcd; test/server/operator/commands/cluster-nodes.test.ts runs the command with it',
  'cluster/containers.md sh 1':
    'needs a container engine and its registry; test/deploy/compose.test.ts reads the composition',
  'cluster/failures.md sh 1': 'needs etcdctl, which is not in the tree’s etcd',
  'files.md sh 1':
    'fetches from a registry; test/readers/ocr/scans.test.ts runs what it brings, where it is installed',
  'get-paid.md sh 7':
    'needs money on a chain; test/server/operator/doctor/purchase.test.ts pays on a local one',
  'gpu.md sh 1': 'needs a GPU; test/tree/gpu.test.ts runs the first line without one',
  'operating.md sh 1':
    'needs root and systemd; test/deploy/units.test.ts checks the unit, package.test.ts the installation',
  'quickstart-python.md sh 1':
    'installs from a registry; python.test.ts uses the sources that it would install',
};

function blocks(): string[] {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .toSorted();
  return ['README.md', ...pages].flatMap((page) => {
    const counts = new Map<string, number>();
    const text = read(page === 'README.md' ? page : join('docs', page));
    return [...text.matchAll(/^ *```(\w*)\n[\s\S]*?^ *```$/gm)].flatMap(([, language]) => {
      if (SHOWN.has(language!)) return [];
      const count = (counts.get(language!) ?? 0) + 1;
      counts.set(language!, count);
      return [`${page} ${language} ${count}`];
    });
  });
}

t.test('each block of README and docs is run by a test, or it is said why not', (t) => {
  const all = [...Object.keys(RUN), ...Object.keys(NOT_RUN)];
  t.equal(new Set(all).size, all.length, 'each stands once');
  t.same(all.toSorted(), blocks().toSorted());
  t.end();
});

t.test('the tests that run blocks name the page that they take them from', (t) => {
  for (const [block, test] of Object.entries(RUN)) {
    const page = block.split(' ')[0]!;
    t.ok(existsSync(join(root, test)), test);
    t.ok(read(test).includes(page), `${test} runs ${block}`);
  }
  for (const [block, why] of Object.entries(NOT_RUN))
    for (const [place] of why.matchAll(/\btest\/[\w/.-]*\w/g))
      t.ok(existsSync(join(root, place)), `${block}: ${place}`);
  t.end();
});
