import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { betweenFolders, circlesIn, type Uses } from './graph.ts';

/**
 * The folders of the native crate, each with those that its files may use. A file directly in `src` is of the folder `.`.
 * Tests may use anything.
 */
const CORE: Readonly<Record<string, readonly string[]>> = {
  // On their own.
  '.': [],
  kernels: [],
  confine: [],
  process: [],
  picture: [],
  request: [],
  text: ['text/vocabulary'],
  'text/vocabulary': [],
  // The encoder: instructions, a model's file, its graph, the forward pass, and the threads that run it.
  encoder: [],
  'encoder/lanes': [],
  'encoder/onnx': [],
  'encoder/bert': ['encoder/onnx'],
  'encoder/forward': ['encoder/lanes', 'encoder/bert'],
  'encoder/encoding': [
    '.',
    'text',
    'threads',
    'encoder/lanes',
    'encoder/onnx',
    'encoder/bert',
    'encoder/forward',
  ],
  // The ground of an index.
  ranking: ['.'],
  filter: ['.', 'ranking'],
  threads: ['.'],
  blocks: ['.', 'kernels', 'picture', 'ranking'],
  terms: ['text'],
  words: ['.', 'text', 'ranking', 'blocks', 'terms'],
  store: ['.', 'process', 'threads', 'ranking', 'blocks', 'filter'],
  // Reading, writing, and what is derived in the background.
  scan: ['.', 'kernels', 'ranking', 'blocks', 'store'],
  write: ['.', 'threads', 'blocks', 'filter', 'terms', 'words', 'store', 'scan'],
  derive: ['.', 'blocks', 'store', 'write'],
  shard: [
    '.',
    'kernels',
    'text',
    'ranking',
    'blocks',
    'filter',
    'terms',
    'words',
    'store',
    'scan',
    'write',
    'derive',
  ],
  // One search of a snapshot.
  search: ['.', 'ranking', 'shard'],
  'search/task': ['.', 'ranking', 'blocks', 'filter', 'text', 'terms', 'words', 'store', 'shard', 'search'],
};

/** The same for the binding. */
const BINDING: Readonly<Record<string, readonly string[]>> = {
  '.': [],
  encoder: ['.', 'text', 'search'],
  picture: ['.'],
  process: ['.'],
  request: ['.'],
  search: ['.', 'shard', 'text'],
  shard: ['.', 'text'],
  text: ['.'],
};

const NATIVE = resolve(import.meta.dirname, '../../native');

/** Sources of a crate by their paths below its root, without tests. */
type Sources = ReadonlyMap<string, string>;

function sourcesOf(root: string): Sources {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.rs') && !/(^|[/_])tests(\.rs$|\/)/.test(name));
  return new Map(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

/** The code without comments, texts and what is compiled for tests alone. */
function codeOf(source: string): string {
  const code = source
    .replace(
      /\br(#*)"[\s\S]*?"\1|"(?:\\[\s\S]|[^"\\])*"|'(?:\\.|[^'\\\n])'|\/\/.*|\/\*[\s\S]*?\*\//g,
      (found) => (found.startsWith('/') ? '' : '""'),
    )
    .replace(
      /#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?/g,
      '#[test-only]',
    );
  let rest = code;
  for (let at = rest.indexOf('#[test-only]'); at >= 0; at = rest.indexOf('#[test-only]')) {
    rest = rest.slice(0, at) + rest.slice(endOfItem(rest, at));
  }
  return rest;
}

/** Where an item ends: after its `;`, or after the brace that closes its body. */
function endOfItem(code: string, from: number): number {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    if (code[at] === '{') depth++;
    if (code[at] === '}' && --depth === 0) return at + 1;
    if (code[at] === ';' && depth === 0) return at + 1;
  }
  return code.length;
}

/** `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`. */
function expanded(tree: string): string[] {
  const open = tree.indexOf('{');
  if (open < 0) return [tree.trim().replace(/\s+as\s+\w+$/, '')];
  const [prefix, inner] = [tree.slice(0, open).trim(), tree.slice(open + 1, tree.lastIndexOf('}'))];
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= inner.length; at++) {
    if (inner[at] === '{') depth++;
    if (inner[at] === '}') depth--;
    if (at === inner.length || (inner[at] === ',' && depth === 0)) {
      const part = inner.slice(start, at).trim();
      if (part) parts.push(...expanded(part).map((path) => prefix + path));
      start = at + 1;
    }
  }
  return parts;
}

/** The paths that a file names: those it imports, and those written out in its code. */
function pathsOf(code: string): string[] {
  const imports = [...code.matchAll(/\buse\s+([^;]+);/g)].flatMap(([, tree]) => expanded(tree!));
  const modules = [...code.matchAll(/\bmod\s+(\w+)\s*;/g)].map(([, name]) => name!);
  const body = code.replace(/\buse\s+[^;]+;/g, '');
  const written = [...body.matchAll(/(?<![\w:])\w+(?:::\w+)+/g)].map(([path]) => path);
  // A module's own children need no `self::`.
  return [...imports, ...written].map((path) =>
    modules.includes(path.split('::')[0]!) ? `self::${path}` : path,
  );
}

/** `blocks/bits.rs` as `blocks::bits`; `blocks/mod.rs` as `blocks`. */
const moduleOf = (file: string) =>
  file
    .replace(/\.rs$/, '')
    .split('/')
    .filter((part, at, all) => at < all.length - 1 || !/^(mod|lib)$/.test(part));

function usesOf(sources: Sources): Uses {
  const files = new Map([...sources.keys()].map((file) => [moduleOf(file).join('::'), file]));
  /** The file of the longest beginning of a path that is a module. */
  const fileOf = (path: readonly string[]) => {
    for (let length = path.length; length >= 0; length--) {
      const file = files.get(path.slice(0, length).join('::'));
      if (file !== undefined) return file;
    }
    return undefined;
  };
  const targetOf = (from: string, path: string) => {
    const parts = path.split('::').map((part) => part.trim());
    let base: string[] | undefined;
    while (['crate', 'self', 'super'].includes(parts[0]!)) {
      const first = parts.shift();
      base =
        first === 'crate' ? [] : first === 'self' ? moduleOf(from) : (base ?? moduleOf(from)).slice(0, -1);
    }
    return base && fileOf([...base, ...parts.filter((part) => part !== 'self')]);
  };
  return new Map(
    [...sources].map(([file, source]) => {
      const targets = pathsOf(codeOf(source)).map((path) => targetOf(file, path));
      return [file, new Set(targets.filter((target) => target !== undefined && target !== file))] as const;
    }) as [string, Set<string>][],
  );
}

function againstTable(uses: Uses, table: Readonly<Record<string, readonly string[]>>): string[] {
  return [...betweenFolders(uses)].flatMap(([folder, targets]) =>
    [...targets]
      .filter((target) => !table[folder]?.includes(target))
      .map((target) => `${folder} uses ${target}`),
  );
}

for (const [crate, table] of [
  ['src', CORE],
  ['napi/src', BINDING],
] as const) {
  const sources = sourcesOf(join(NATIVE, crate));
  const uses = usesOf(sources);

  t.test(`native/${crate}: no circle between files`, async (t) => t.same(circlesIn(uses), []));

  t.test(`native/${crate}: no circle between folders`, async (t) =>
    t.same(circlesIn(betweenFolders(uses)), []),
  );

  t.test(`native/${crate}: each folder uses only those that its line of the table names`, async (t) => {
    t.same([...betweenFolders(uses).keys()].sort(), Object.keys(table).sort());
    t.same(againstTable(uses, table), []);
  });
}

t.test('a circle is found however it is written, and what is for tests alone makes none', async (t) => {
  const circles = (files: Record<string, string>) => circlesIn(usesOf(new Map(Object.entries(files))));
  const ground = { 'lib.rs': 'pub mod a;\npub mod b;', 'a/mod.rs': 'pub mod x;', 'b/mod.rs': 'pub mod y;' };
  const back = 'use crate::a::x::X;';
  const found = ['a/x.rs ↔ b/y.rs'];
  for (const forth of [
    'use crate::b::y;',
    'use crate::{a::x::Z, b::{y::{self, Y}}};',
    'pub(crate) use super::super::b::y as other;',
    'fn f() -> u32 { crate::b::y::f() }',
    'impl Trait for crate::b::y::Y {}',
  ]) {
    t.same(circles({ ...ground, 'a/x.rs': forth, 'b/y.rs': back }), found, forth);
  }
  for (const harmless of [
    '#[cfg(test)]\nmod tests { use crate::b::y::Y; fn f() { if true { } } }',
    '#[cfg(all(test, target_os = "linux"))]\nmod tests { use crate::b::y::Y; }',
    '#[cfg(test)]\n#[path = "x_tests.rs"]\nmod tests;',
    '#[cfg(test)]\nuse crate::b::y::Y;',
    '// use crate::b::y::Y;\n/// [`crate::b::y::Y`]',
    'const T: &str = "use crate::b::y;";',
  ]) {
    t.same(circles({ ...ground, 'a/x.rs': harmless, 'b/y.rs': back }), [], harmless);
  }
  t.same(
    circles({ 'a/mod.rs': 'pub mod x;\nfn f() { x::g() }', 'a/x.rs': 'use super::f;' }),
    ['a/mod.rs ↔ a/x.rs'],
    'a parent and its child',
  );
  const folders = usesOf(
    new Map(
      Object.entries({
        'a/mod.rs': '',
        'a/x.rs': 'use crate::b::y::Y;',
        'a/z.rs': '',
        'b/mod.rs': '',
        'b/y.rs': '',
        'b/w.rs': 'use crate::a::z::Z;',
      }),
    ),
  );
  t.same([circlesIn(folders), circlesIn(betweenFolders(folders))], [[], ['a ↔ b']], 'folders alone');
  t.same(againstTable(folders, { a: ['b'], b: [] }), ['b uses a']);
});
