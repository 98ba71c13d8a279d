import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { builtServer } from '../../../scripts/built-server.ts';
import { BARE_ENVIRONMENT } from '../../rig/environment.ts';
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
