import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { OPERATOR } from '../../src/cli/commands/operator.ts';
import { SPECS } from '../../src/cli/words/specs.ts';
import { ERRORS } from '../../src/protocol/error.ts';
import { FILE_VARIABLE, variableOf } from '../../src/server/settings/names.ts';
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

t.test('settings that the pages and the units name exist', async (t) => {
  const known = new Set<string>([
    ...SETTING_NAMES.map(variableOf),
    FILE_VARIABLE,
    'FARTHING_KERNEL',
    'FARTHING_ENCODER_KERNEL',
    'NODE_ENV',
  ]);
  const unit = page('deploy/systemd/farthing.service')
    .match(/^Environment=(.*)$/m)![1]!
    .split(' ');
  const image = page('deploy/Containerfile')
    .match(/^ENV (NODE_ENV.*)$/m)![1]!
    .split(' ');
  for (const pair of [...unit, ...image]) t.ok(known.has(pair.split('=')[0]!), pair);
  // A client's own are read elsewhere; `FARTHING_X` stands for any.
  for (const name of ['FARTHING_X', 'FARTHING_URL', 'FARTHING_TOKEN']) known.add(name);
  const named = pages
    .flatMap((path) => [
      ...(page(path).match(/(?<=`)[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+(?=`)/g) ?? []),
      ...[...page(path).matchAll(/^ *```[\s\S]*?^ *```$/gm)].flatMap(
        ([code]) => code.match(/FARTHING(?:_[A-Z0-9]+)+/g) ?? [],
      ),
    ])
    .map((name) => (known.has(name) ? name : name.replace(/_FILE$/, '')));
  const elsewhere = new Set([
    'RLIMIT_DATA',
    'CLIENT_CODES',
    'ENCODING_ROLES',
    'FILE_BYTES_MAX',
    'NODE_EXTRA_CA_CERTS',
  ]);
  t.same(
    [...new Set(named)].filter((name) => !known.has(name) && !elsewhere.has(name)),
    [],
  );
});

t.test('commands that the pages name exist', async (t) => {
  const named = pages.flatMap((path) => [
    ...page(path).matchAll(/npx farthing (admin )?(\w+)(?: ([\w-]+))?/g),
  ]);
  t.ok(named.length > 20);
  for (const [text, admin, first = '', second] of named) {
    // The launcher's own.
    if (first === 'serve') continue;
    t.ok(
      [first, `${first} ${second}`].some((name) => name in (admin ? OPERATOR.specs : SPECS)),
      text,
    );
  }
});

t.test('what the pages make is in the Makefile', async (t) => {
  const makefile = page('Makefile');
  const targets = new Set(
    [...makefile.matchAll(/^([a-z][\w %-]*):/gm)].flatMap(([, names]) => names!.split(' ')),
  );
  const code = (path: string) => (page(path).match(/^ *```[\s\S]*?^ *```$/gm) ?? []).join('\n');
  const named = pages.flatMap((path) =>
    [...code(path).matchAll(/^make ([a-z][a-z-]*)/gm), ...prose(path).matchAll(/`make ([a-z][a-z-]*)/g)].map(
      ([, name]) => name!,
    ),
  );
  t.ok(named.length > 20);
  // One rule makes all benches.
  const benches = Object.keys(JSON.parse(page('bench/benches.json')));
  const missing = named.filter(
    (name) => !targets.has(name) && !benches.includes(name.replace(/^bench-/, '')),
  );
  t.same(missing, []);
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

t.test('files that the pages name exist', async (t) => {
  const missing = pages.flatMap((path) =>
    [...page(path).matchAll(/`(\w[\w./{},-]*\/[\w.{},-]+\.(?:tsx?|rs|css))`/g)]
      .flatMap(([, name]) => {
        const several = /^(.*)\{(.*)\}(.*)$/.exec(name!);
        return several ? several[2]!.split(',').map((part) => several[1] + part + several[3]) : [name!];
      })
      .filter((name) => !['', 'src'].some((folder) => existsSync(join(root, folder, name))))
      .map((name) => `${path}: ${name}`),
  );
  t.same(missing, []);
});

/** Rewritten from the records of benches. */
const RECORDED = 'docs/measured.md';
const written = [...pages, 'CHANGELOG.md'].filter((path) => path !== RECORDED);
/** Without code and tables, whose lines cannot be broken. */
const prose = (path: string) => page(path).replace(/^ *```[\s\S]*?^ *```$/gm, '');

t.test('lines of the pages have at most 100 characters, unless a link or code fills them', async (t) => {
  const long = written.flatMap((path) =>
    prose(path)
      .split('\n')
      .filter((line) => [...line].length > 100 && !line.startsWith('|') && !line.startsWith('!['))
      // What begins before the limit may be unbreakable: an address, or code.
      .filter((line) => /\s/.test(line.replace(/`[^`]*`/g, '`').replace(/^\s*(?:[-*]|\d+\.)?\s+/, '')))
      .map((line) => `${path}: ${line}`),
  );
  t.same(long, []);
});

t.test('the pages say it as the field does', async (t) => {
  const phrases =
    /\b(?:nobody|meanwhile|whoever|goes on|gone on|is over|of which|so many|what came of|comes twice|stands again)\b/gi;
  t.same(
    written.flatMap((path) => (prose(path).match(phrases) ?? []).map((phrase) => `${path}: ${phrase}`)),
    [],
  );
});
