import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { lacksProgram, runProgram } from '../rig/run-program.ts';
import { startTestServer } from '../rig/test-server.ts';

const root = resolve(import.meta.dirname, '../..');
const server = await startTestServer(t);

t.test(
  'the README’s paid search with curl, copied literally, pays and finds',
  { skip: lacksProgram('curl') },
  async (t) => {
    const snippet = /## A paid search[\s\S]*?```sh\n([\s\S]*?)```/.exec(
      readFileSync(join(root, 'README.md'), 'utf8'),
    )?.[1];
    if (!snippet) return t.fail('the README has no curl');
    // Its file is written elsewhere; `npx` finds the command in the tree.
    const file = join(server.dataFolder, '../log.txt');
    const script = snippet.replace('http://127.0.0.1:8402', server.url).replaceAll('log.txt', file);
    // The wallet's file is the test's own as well.
    const { status, output } = await runProgram('bash', ['-ec', script], {
      cwd: root,
      env: { ...process.env, XDG_CONFIG_HOME: join(server.dataFolder, '../config') },
    });
    t.equal(status, 0, output);
    t.match(output, /"charged":true[\s\S]*"charged":true/);
    t.match(output, /"snippet":"The lighthouse keeper/);
  },
);
