import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { builtServer } from '../../../scripts/built-server.ts';
import { BARE_ENVIRONMENT } from '../../rig/environment.ts';
import { CACHE_DIR } from '../../rig/test-server.ts';

/** A supervisor knows the process that it started, which is not the server's. */

const LAUNCHER = resolve(import.meta.dirname, '../../../src/bin/farthing.js');
/** As npm starts a command; a shell that has more to do does not become the command itself. */
const NPM = { command: 'sh', words: ['-c', '"$@"; exit $?', 'sh', process.execPath, LAUNCHER, 'serve'] };
const ALONE = { command: process.execPath, words: [LAUNCHER, 'serve'] };

for (const [of, signal, { command, words }] of [
  ['the launcher', 'SIGTERM', ALONE],
  ['the launcher', 'SIGKILL', ALONE],
  ['npm’s shell', 'SIGKILL', NPM],
] as const)
  t.test(`${signal} of ${of} stops the server, which finishes its work`, async (t) => {
    builtServer();
    const child = spawn(command, words, {
      env: {
        ...BARE_ENVIRONMENT,
        FARTHING_PORT: '0',
        FARTHING_DATA_DIR: join(t.testdir({}), 'data'),
        FARTHING_CACHE_DIR: CACHE_DIR,
        FARTHING_DEMO: '0',
        ...(command === 'sh' && { npm_lifecycle_event: 'npx' }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    let isStopped = false;
    t.teardown(() => {
      if (!isStopped) process.kill(-child.pid!, 'SIGKILL');
    });
    for await (const line of createInterface(child.stdout)) if (line.includes('"event":"ready"')) break;
    child.kill(signal);
    // It ends with the last process that writes to it.
    t.match(await text(child.stdout), /"event":"stopped"/);
    isStopped = true;
  });
