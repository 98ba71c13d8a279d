import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';

/**
 * bin → server → cluster → wiring → operator → metrics → http → purchases → {search, ingest, workspace, payment} → {encode, extract, shard, state} →
 * {native, settings, api} → domain; bin → cli → mcp → client → api → domain: the agent's side, which takes only the wire's types of the server.
 * What only several servers need is `cluster`: nothing else knows it but its DOORS.
 * api is low: the wire's shapes, which the server, the client, MCP and the console share.
 */
const RANKS: Readonly<Record<string, number>> = {
  bin: 11,
  server: 10,
  cluster: 9,
  wiring: 8,
  operator: 7,
  metrics: 6,
  http: 5,
  purchases: 4,
  search: 3,
  ingest: 3,
  workspace: 3,
  payment: 3,
  encode: 2,
  extract: 2,
  shard: 2,
  state: 2,
  native: 1,
  settings: 1,
  api: 1,
  // The agent's side.
  cli: 5,
  mcp: 4,
  demo: 3,
  client: 2,
  // Runs in browsers: an agent like any other.
  console: 3,
  domain: 0,
};

/** Files that load parts of `cluster`, when a setting or a command wants it. */
const DOORS = ['operator/commands/command.ts', 'operator/doctor/doctor.ts', 'server/serve.ts'];

/** Packages that only one folder may import. Everything else is free. */
const OWNED: readonly { readonly pattern: RegExp; readonly owners: readonly string[] }[] = [
  { pattern: /^uWebSockets\.js$/, owners: ['http'] },
  { pattern: /^piscina$/, owners: ['encode'] },
  // OCR runs in the confined processes that read files.
  { pattern: /^onnxruntime-node$/, owners: ['encode', 'extract'] },
  { pattern: /^lmdb$/, owners: ['state'] },
  { pattern: /^aws4fetch$/, owners: ['cluster'] },
  // The demo, the console and the client pay like any agent.
  { pattern: /^undici/, owners: ['payment'] },
  { pattern: /^(viem|@x402\/)/, owners: ['payment', 'demo', 'client', 'cli', 'console'] },
];

const root = resolve(import.meta.dirname, '../../src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'),
);

function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [
    ...source.matchAll(
      /^\s*(?:import|export)\b[^;'"]*?from\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|^\s*import\s+['"]([^'"]+)['"]/gm,
    ),
  ].map(([, from, dynamic, bare]) => (from ?? dynamic ?? bare)!);
}

const folderOf = (path: string) => path.split('/')[0]!;

t.test('every folder of src has its place in the direction', async (t) => {
  t.same([...new Set(files.map(folderOf))].sort(), Object.keys(RANKS).sort());
});

t.test(
  'a module imports from its own folder or from a lower group, never from a sibling or upwards',
  async (t) => {
    const wrong: string[] = [];
    for (const file of files) {
      const folder = folderOf(file);
      for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
        const target = folderOf(relative(root, resolve(root, dirname(file), specifier)));
        if (target === 'cluster' && DOORS.includes(file)) continue;
        if (target !== folder && !(RANKS[target]! < RANKS[folder]!))
          wrong.push(`${file} imports ${specifier}`);
      }
    }
    t.same(wrong, []);
  },
);

t.test('the cluster is one room with three doors, which are opened when it is wanted', async (t) => {
  const outside = files.filter((file) => folderOf(file) !== 'cluster');
  const knowing = outside.filter((file) =>
    importsOf(file).some(
      (name) => folderOf(relative(root, resolve(root, dirname(file), name))) === 'cluster',
    ),
  );
  t.same(knowing.sort(), DOORS);
  for (const file of knowing)
    t.notMatch(readFileSync(join(root, file), 'utf8'), /from '[./]+\/cluster\//, `${file} loads it late`);
});

/** Imports that are gone at run time, each as one line. */
const TYPES = /^(?:import|export) type [^;]*;/gm;

t.test('the agent’s side takes the domain and the wire, and nothing else of the server', async (t) => {
  const side = ['client', 'cli', 'mcp', 'console'];
  const wrong: string[] = [];
  for (const file of files.filter((name) => side.includes(folderOf(name)))) {
    for (const specifier of importsOf(file).filter((name) => name.startsWith('.'))) {
      const target = folderOf(relative(root, resolve(root, dirname(file), specifier)));
      if (![...side, 'domain', 'api'].includes(target)) wrong.push(`${file} imports ${specifier}`);
    }
    const atRunTime = readFileSync(join(root, file), 'utf8').replace(TYPES, '');
    if (/from '[./]+\/api\/(?!facts|requests|shown-fields)/.test(atRunTime))
      wrong.push(`${file} loads api at run time`);
  }
  t.same(wrong, []);
});

t.test(
  'the client takes the wire’s types in one place, from which its declarations are written',
  async (t) => {
    const takers = files.filter(
      (file) => folderOf(file) === 'client' && importsOf(file).some((name) => /\/api\//.test(name)),
    );
    t.same(takers, ['client/answers/answers.ts']);
  },
);

t.test('a package with an owner is imported by its owner alone', async (t) => {
  const wrong: string[] = [];
  for (const file of files) {
    for (const specifier of importsOf(file)) {
      const rule = OWNED.find(({ pattern }) => pattern.test(specifier));
      if (rule && !rule.owners.includes(folderOf(file))) wrong.push(`${file} imports ${specifier}`);
    }
  }
  t.same(wrong, []);
});

t.test('domain imports nothing but the platform', async (t) => {
  const outside = files
    .filter((file) => folderOf(file) === 'domain')
    .flatMap((file) =>
      importsOf(file)
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
        .map((name) => `${file}: ${name}`),
    );
  t.same(outside, []);
});

const PROCESS_ENTRIES = ['bin', 'server', 'operator'];

// The two exceptions are written: libraries read them.
t.test('only what starts a process reads the environment', async (t) => {
  const readers = files.filter(
    (file) =>
      !PROCESS_ENTRIES.includes(folderOf(file)) &&
      /process\.env\b(?!\.(?:UWS_HTTP_MAX_HEADERS_SIZE|ORT_DISABLE_TELEMETRY)\b)/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
  );
  t.same(readers, []);
});

t.test('only native loads the addon', async (t) => {
  const loaders = files.filter(
    (file) =>
      folderOf(file) !== 'native' &&
      /addon\.(cjs|d\.ts)|\.node['"]/.test(readFileSync(join(root, file), 'utf8')),
  );
  t.same(loaders, []);
});
