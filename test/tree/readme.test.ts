import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';

const root = resolve(import.meta.dirname, '../..');
const server = await startTestServer(t);

t.test(
  'the README’s paid search with curl, copied literally, pays and finds',
  { skip: withoutCurl() },
  async (t) => {
    const snippet = /## A paid search[\s\S]*?```sh\n([\s\S]*?)```/.exec(
      readFileSync(join(root, 'README.md'), 'utf8'),
    )?.[1];
    if (!snippet) return t.fail('the README has no curl');
    // Its file is written elsewhere; `npx` finds the command in the tree.
    const file = join(server.dataFolder, '../log.txt');
    const script = snippet.replace('http://127.0.0.1:8402', server.url).replaceAll('log.txt', file);
    // The wallet's file is the test's own as well.
    const { status, output } = await run('bash', ['-ec', script], {
      XDG_CONFIG_HOME: join(server.dataFolder, '../config'),
    });
    t.equal(status, 0, output);
    t.match(output, /"charged":true[\s\S]*"charged":true/);
    t.match(output, /"snippet":"The lighthouse keeper/);
  },
);

function withoutCurl(): string | false {
  const missing = ['curl'].filter((name) => spawnSync(name, ['--version']).error);
  return missing.length > 0 && `${missing.join(' and ')} not installed`;
}

function run(
  command: string,
  parts: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ status: number | null; output: string }> {
  return new Promise((done) => {
    const env = { ...process.env, ...environment };
    const child = spawn(command, parts, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (piece: Buffer) => {
      output += piece.toString('utf8');
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('close', (status) => done({ status, output }));
  });
}
