import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { lacksProgram, outputOf } from '../rig/run-program.ts';

/** What an image is built from: sources, and nothing of a tree that was built, run or configured. */

const root = resolve(import.meta.dirname, '../..');
const WANTED = [
  'Makefile',
  'clients/typescript/README.md',
  'models/manifest.json',
  'models/all/model_int8.onnx',
  'native/Cargo.toml',
  'native/core/src/lib.rs',
  'package.json',
  'package-lock.json',
  'samples/tea.txt',
  'scripts/package.ts',
  'src/bin/main.ts',
  'tsconfig.json',
];
const UNWANTED = [
  'clients/python/README.md',
  '.build/server/main.js',
  '.env',
  '.git/config',
  'data/keys/receipt-keys.json',
  'dist/client/index.js',
  'farthing.json',
  'models/lock.json',
  'models/all/model_fp32.onnx',
  'native/target/release/farthing',
  'node_modules/a/index.js',
  'src/native/addon/farthing.node',
  'src/server/start/.env.local',
  'samples/server.log',
  'scripts/cluster.key',
  'test/all.ts',
  'wallet.json',
];

t.test('an engine is given sources alone', { skip: lacksProgram('buildah') }, async (t) => {
  const folder = t.testdir({});
  const context = join(folder, 'context');
  for (const path of [...WANTED, ...UNWANTED]) {
    mkdirSync(dirname(join(context, path)), { recursive: true });
    writeFileSync(join(context, path), path);
  }
  writeFileSync(join(context, '.dockerignore'), readFileSync(join(root, '.dockerignore')));
  writeFileSync(join(folder, 'Containerfile'), 'FROM scratch\nCOPY . /\n');
  const storage = [
    '--storage-driver',
    'vfs',
    '--root',
    join(folder, 'root'),
    '--runroot',
    join(folder, 'run'),
  ];
  const output = join(folder, 'context.tar');
  await outputOf('buildah', [
    ...storage,
    ...[
      'build',
      '--isolation',
      'chroot',
      '-f',
      join(folder, 'Containerfile'),
      '-o',
      `type=tar,dest=${output}`,
      context,
    ],
  ]);
  const listed = (await outputOf('tar', ['-tvf', output])).split('\n');
  const files = listed.flatMap((line) => /^-.* \.?\/?(\S+)$/.exec(line)?.[1] ?? []);
  t.same(files.toSorted(), WANTED.toSorted());
});

t.test('what the packages are made of is among them, or is built there', (t) => {
  const kept = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  const built = ['dist', 'node_modules', '.build'];
  const scripts = [
    'package.ts',
    'package-client.ts',
    'notices.ts',
    'packages/packing.ts',
    'packages/licences.ts',
  ];
  const read = scripts
    .flatMap((name) => [
      ...readFileSync(join(root, 'scripts', name), 'utf8').matchAll(/join\(ROOT, '([^']+)'/g),
    ])
    .map(([, path]) => path!);
  t.ok(read.length >= 5, 'the search sees them');
  const places = [...kept, ...built];
  for (const path of read)
    t.ok(
      places.some((place) => path === place || path.startsWith(`${place}/`)),
      `${path} is there`,
    );
  t.end();
});
