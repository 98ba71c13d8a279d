import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { generatePrivateKey } from 'viem/accounts';
import { onlyDeep } from '../rig/deep.ts';
import { startTestServer } from '../rig/test-server.ts';
import { docBlocks } from './doc-blocks.ts';
import { KINDS } from './published/install.ts';

/**
 * The published clients of x402, unmodified, each installed into an empty folder and run there: what an agent has that has never seen
 * this tree. `DEEP=1 npm test -- test/client/x402-clients.test.ts`
 */

const MINUTES_MAX = 15;
t.setTimeout(MINUTES_MAX * 60_000);
const run = promisify(execFile);
/** The host's own Node, which may be another major version than the pinned one. */
const HOST_NODE = spawnSync(
  'sh',
  ['-c', 'PATH=$(echo "$PATH" | tr : "\\n" | grep -v node_modules | paste -sd:); command -v node'],
  { encoding: 'utf8' },
).stdout.trim();

t.test('published clients pay', { skip: onlyDeep }, async (t) => {
  // A folder for each: another `testdir` of the same test would empty it.
  const folders = t.testdir({});
  const server = await startTestServer(t, { DATA_DIR: join(folders, 'server') });
  const both = await startTestServer(t, { DATA_DIR: join(folders, 'both'), X402_BODY_NETWORK: 'base' });
  /** @returns the status of each purchase */
  const bought = async (
    { program, command }: { program: string; command: string },
    name: string,
    url: string,
  ) => {
    const { stdout } = await run(command, [program, name, url, 'eip155:8453', generatePrivateKey()]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).status);
  };
  const ALL = [200, 200, 200, 201, 200];

  await t.test('@x402/fetch and @x402/axios, with either name of the network in the body', async (t) => {
    const folder = join(folders, 'v2');
    const installed = await KINDS.v2.install(folder);
    for (const name of KINDS.v2.names)
      for (const { url } of [server, both]) t.same(await bought(installed, name, url), ALL, name);
    const [snippet] = docBlocks('quickstart-typescript.md', 'js', server.url);
    await writeFile(join(folder, 'quickstart.mjs'), snippet!);
    for (const node of new Set([process.execPath, HOST_NODE].filter(existsSync))) {
      const { stdout } = await run(node, ['quickstart.mjs'], { cwd: folder });
      t.match(stdout, /lighthouse keeper[\s\S]*charged: true/, `the quickstart under ${node}`);
    }
  });

  await t.test('x402-fetch and x402-axios of v1, with the setting, and by default they fail', async (t) => {
    const installed = await KINDS.v1.install(join(folders, 'v1'));
    for (const name of KINDS.v1.names) t.same(await bought(installed, name, both.url), ALL, name);
    await t.rejects(bought(installed, 'x402-fetch', server.url), /nvalid.enum/, 'which the guide names');
  });

  await t.test('x402 for Python, over requests and httpx', { skip: withoutPython() }, async (t) => {
    const installed = await KINDS.python.install(join(folders, 'python'));
    for (const name of KINDS.python.names) t.same(await bought(installed, name, server.url), ALL, name);
  });
});

function withoutPython(): string | false {
  return spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0 ? false : 'no python3 with venv';
}
