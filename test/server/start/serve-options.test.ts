import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { builtServer } from '../../../scripts/built-server.ts';
import { BARE_ENVIRONMENT } from '../../rig/environment.ts';
import { runProgram } from '../../rig/run-program.ts';
import { CACHE_DIR } from '../../rig/test-server.ts';

const LAUNCHER = resolve(import.meta.dirname, '../../../src/bin/farthing.js');

t.test('serve takes port, host and data folder, before the environment', async (t) => {
  builtServer();
  const folder = t.testdir({});
  const data = join(folder, 'here');
  const words = [LAUNCHER, 'serve', '--port', '0', '--host=localhost', '--data', data];
  const environment = { FARTHING_PORT: '1', FARTHING_DATA_DIR: join(folder, 'elsewhere') };
  const child = spawn(process.execPath, words, {
    env: { ...BARE_ENVIRONMENT, ...environment, FARTHING_CACHE_DIR: CACHE_DIR, FARTHING_DEMO: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGTERM'));
  let url = '';
  for await (const line of createInterface(child.stdout)) {
    if (!line.includes('"event":"ready"')) continue;
    ({ url } = JSON.parse(line) as { url: string });
    break;
  }
  child.stdout.resume();
  t.match(url, /^http:\/\/localhost:\d+$/);
  t.notMatch(url, /:1$/);
  t.equal((await fetch(`${url}/healthz`)).status, 200);
  t.ok(existsSync(join(data, 'version')));
});

t.test('the server’s program itself takes no arguments, and says where its settings are', async (t) => {
  const told = /npx farthing serve --help/;
  for (const [word, status] of [
    ['--help', 0],
    ['--port', 2],
    ['here', 2],
  ] as const)
    t.match(await runProgram(process.execPath, [builtServer(), word]), { status, output: told }, word);
});

t.test('what serve does not take is named, with what it takes', async (t) => {
  const cases = [
    [['--prot', '9000'], /^Unknown option '--prot'\.\n\nfarthing serve \[--port N\]/],
    [['9000'], /^Unexpected argument '9000'\.\n\nfarthing serve/],
    [['--port'], /^Option '--port <value>' argument missing\.\n\nfarthing serve/],
  ] as const;
  for (const [words, said] of cases) {
    const { status, output } = await runProgram(process.execPath, [LAUNCHER, 'serve', ...words]);
    t.equal(status, 2);
    t.match(output, said);
  }
  t.match(await runProgram(process.execPath, [LAUNCHER, 'serve', '--help']), { status: 0, output: /--data/ });
});
