import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t from 'tap';
import { digestOf } from '../../scripts/packages/packing.ts';
import { docBlocks } from '../client/doc-blocks.ts';
import { onlyDeep } from '../rig/deep.ts';
import { emptyFolder, install, typeFaults } from './packed.ts';

/** The packages of `make package`, as somebody has them who has no tree: installed into an empty folder. */

/** Ends what hangs: packages are made and installed beside all else. */
const MINUTES_MAX = 25;
t.setTimeout(MINUTES_MAX * 60_000);
const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const QUICKSTART = 'quickstart-typescript.md';
/** Versions that the tree was tested with. */
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

t.test('the package of the models names what is in it', async (t) => {
  const models = join(root, 'models');
  const names = readdirSync(models, { recursive: true, encoding: 'utf8' });
  // As `files` of the package has it, and without what was pulled or built here.
  const packed = names.filter(
    (name) =>
      statSync(join(models, name)).isFile() && !/\.pyc?$|model_fp32|^lock\.json$|^\.pulling/.test(name),
  );
  const { contents } = JSON.parse(readFileSync(join(models, 'package.json'), 'utf8')) as { contents: string };
  t.equal(contents, digestOf(models, packed), '"contents" of models/package.json is the digest of its files');
});

t.test('the packed files serve and search in an empty folder', { skip: onlyDeep }, async (t) => {
  const folder = emptyFolder(t);
  await writeFile(join(folder, 'log.txt'), 'The keeper counts gulls at dawn.');
  const packages = join(folder, 'packages');
  await mkdir(packages);
  await run(process.execPath, ['--no-warnings', join(root, 'scripts/package.ts'), packages]);
  const tarballs = readdirSync(packages).map((name) => join(packages, name));
  t.equal(tarballs.length, 3);
  // No installer of a package runs: what they would fetch is not needed.
  await install(folder, [`viem@${devDependencies.viem}`, ...tarballs], ['--ignore-scripts']);

  const installed = join(folder, 'node_modules/farthing');
  t.notOk(
    existsSync(join(installed, 'src/native/addon/farthing.linux-x64-gnu.node')),
    'the native part is a package',
  );
  t.ok(existsSync(join(folder, 'node_modules/farthing-linux-x64-gnu/farthing.linux-x64-gnu.node')));
  t.notOk(existsSync(join(installed, 'models')), 'the models are a package');
  t.notOk(existsSync(join(folder, 'node_modules/@x402')), 'the client brings what it uses');
  t.notMatch(readFileSync(join(installed, 'package.json'), 'utf8'), /https?:/);
  const notices = readFileSync(join(installed, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  for (const part of ['preact', 'viem', 'heed'])
    t.match(notices, new RegExp(`^${part} [\\d.]+ \\(`, 'm'), 'whose code is inside is named');

  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    FARTHING_PORT: '0',
    FARTHING_DEMO: '0',
    FARTHING_QUERY_WAIT_MS_MAX: '0',
  };
  const server = spawn('npx', ['farthing', 'serve'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  t.teardown(() => end(server));
  const { url, rest } = await ready(server);
  t.match(
    await (await fetch(url, { headers: { Accept: 'text/html' } })).text(),
    /<script/,
    'the console is inside',
  );

  const farthing = (...words: string[]) =>
    run('npx', ['farthing', ...words], { cwd: folder, env: { ...environment, FARTHING_URL: url } });
  await farthing('wallet', 'new');
  await farthing('ingest', '--yes', 'log.txt');
  const { stdout } = await farthing('search', '--yes', '--json', 'who watches birds in the morning?');
  t.match(stdout, /log\.txt/);

  const kinds = await filesOfKinds(folder);
  await farthing('ingest', '--yes', '--recursive', kinds);
  for (const [words, name] of [
    ['mizzenport', 'caption.heic'],
    ['Loom song', 'song.mp3'],
    ['Skarvik', 'depots.parquet'],
  ] as const)
    t.match((await farthing('search', '--yes', '--json', words)).stdout, name, `${name} is read`);
  await writeFile(join(folder, 'turm.txt'), 'Im Morgengrauen zählt der Leuchtturmwärter die Möwen.');
  await farthing('workspace', 'create', '--yes', '--minutes', '15');
  await farthing('ingest', '--yes', 'turm.txt');
  t.match(
    (await farthing('search', '--yes', '--json', '--family', 'text_semantic', 'who counts birds?')).stdout,
    /turm\.txt/,
    'another language is searched by meaning',
  );

  const [, setUp] = docBlocks(QUICKSTART, 'sh', url);
  await run('sh', ['-euc', setUp!.split('\n').find((line) => line.startsWith('cp '))!], { cwd: folder });
  const [almanac, samples] = docBlocks(QUICKSTART, 'ts', url);
  await writeFile(join(folder, 'almanac.mts'), `${almanac}${samples}`);
  const own = await run('npx', ['node', 'almanac.mts'], { cwd: folder, env: environment });
  t.match(own.stdout, /almanac\.pdf, page \d+, \d\.\d\d: /);
  t.match(own.stdout, /spentUsd: '0\.036', heldUsd: '0', leftUsd: '0\.064'/);
  t.match(own.stdout, /\d uploaded, \d refused/);
  t.equal(await typeFaults(folder, 'almanac.mts', []), '');

  const protocol = emptyFolder(t);
  const clients = ['@x402/fetch', '@x402/evm', 'viem'] as const;
  const versions = clients.map((name) => `${name}@${devDependencies[name]}`);
  await install(protocol, [...versions, `@types/node@${devDependencies['@types/node']}`]);
  await writeFile(join(protocol, 'paid.mjs'), docBlocks(QUICKSTART, 'js', url)[0]!);
  await writeFile(join(protocol, 'paid.mts'), docBlocks(QUICKSTART, 'js', url)[0]!);
  const paid = await run(process.execPath, ['paid.mjs'], { cwd: protocol, env: environment });
  t.match(paid.stdout, /log\.txt, \d\.\d\d: The lighthouse keeper.*\{ answered: true, charged: true \}/s);
  // The protocol's declarations name Node's.
  t.equal(await typeFaults(protocol, 'paid.mts', ['node']), '');

  server.kill('SIGTERM');
  t.match(await rest, /"event":"stopped"/, 'npx passes SIGTERM to a shell, and the server stops');
});

/** What the packed libraries read, each in its own way. @returns their folder */
async function filesOfKinds(folder: string): Promise<string> {
  const kinds = join(folder, 'kinds');
  await mkdir(kinds);
  const extract = join(root, 'test/readers');
  await copyFile(join(extract, 'picture/heic/caption.heic'), join(kinds, 'caption.heic'));
  await copyFile(join(extract, 'reports/other/depots.parquet'), join(kinds, 'depots.parquet'));
  await copyFile(join(extract, 'media/covers/song.mp3'), join(kinds, 'song.mp3'));
  return kinds;
}

/** @returns where the server answers, and what it writes from then to its end */
async function ready({ stdout }: ChildProcess): Promise<{ url: string; rest: Promise<string> }> {
  for await (const line of createInterface(stdout!)) {
    if (!line.includes('"ready"')) continue;
    return { url: (JSON.parse(line) as { url: string }).url, rest: text(stdout!) };
  }
  throw new Error('the server ended before it was ready');
}

/** Ends npx, the launcher and the server. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await ended;
}
