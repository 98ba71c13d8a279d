import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { ERRORS } from '../../src/protocol/error.ts';
import { variableOf } from '../../src/server/settings/names.ts';
import { SETTING_NAMES } from '../../src/server/settings/settings.ts';
import { settingsPage } from '../../src/server/settings/settings-page.ts';

/** The pages say what the code says. */

const root = resolve(import.meta.dirname, '../..');
const page = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

t.test('docs/configuration.md is what `npx farthing admin settings` writes (make docs)', async (t) => {
  t.equal(page('docs/configuration.md'), settingsPage());
  for (const name of SETTING_NAMES) t.ok(settingsPage().includes(`\`${variableOf(name)}\``), name);
});

t.test('docs/troubleshooting.md has each error code once, with its status, and no other', async (t) => {
  const told = [...page('docs/troubleshooting.md').matchAll(/^### `(\w+)` \((\d+)\)\n(.+)$/gm)].map(
    ([, code, status]) => `${code} ${status}`,
  );
  const codes = Object.entries(ERRORS).map(([code, [status]]) => `${code} ${status}`);
  t.same(told.toSorted(), codes.toSorted());
});

t.test('links between the pages lead to a page and a heading', async (t) => {
  const anchors = (path: string) =>
    [...page(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  for (const path of pages) {
    for (const [, target, anchor] of page(path).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const file = target === '' ? path : join(dirname(path), target!);
      t.ok(existsSync(join(root, file)), `${path}: ${target}`);
      if (anchor && file.endsWith('.md'))
        t.ok(anchors(file).includes(anchor), `${path}: ${target}#${anchor}`);
    }
  }
});
