import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t from 'tap';
import { onlyDeep } from '../rig/deep.ts';

/** The packages of `make package`, as somebody has them who has no tree: installed into an empty folder. */

const MINUTES_MAX = 10;
t.setTimeout(MINUTES_MAX * 60_000);
const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

t.test('the packed files serve and search in an empty folder', { skip: onlyDeep }, async (t) => {
  const folder = t.testdir({
    'package.json': '{"private":true}',
    'log.txt': 'The keeper counts gulls at dawn.',
  });
  const packages = join(folder, 'packages');
  await mkdir(packages);
  await run(process.execPath, ['--no-warnings', join(root, 'scripts/package.ts'), packages]);
  const tarballs = readdirSync(packages).map((name) => join(packages, name));
  t.equal(tarballs.length, 2);
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], { cwd: folder });

  const installed = join(folder, 'node_modules/farthing');
  t.notOk(
    existsSync(join(installed, 'src/native/addon/farthing.linux-x64-gnu.node')),
    'the native part is a package',
  );
  t.ok(existsSync(join(folder, 'node_modules/farthing-linux-x64-gnu/farthing.linux-x64-gnu.node')));
  t.notMatch(readFileSync(join(installed, 'package.json'), 'utf8'), /https?:/);

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
  const url = await readyUrl(server);
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

  await writeFile(
    join(folder, 'client.mjs'),
    "import { Farthing } from 'farthing/client';\nconsole.log(typeof Farthing);\n",
  );
  t.equal((await run(process.execPath, ['client.mjs'], { cwd: folder })).stdout, 'function\n');
});

async function readyUrl({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface(stdout!)) {
    if (!line.includes('"ready"')) continue;
    stdout!.resume();
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('the server ended before it was ready');
}

/** Ends npx, the launcher and the server. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await ended;
}
