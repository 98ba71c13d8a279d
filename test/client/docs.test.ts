import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t, { type Test } from 'tap';
import { TOOL_NAMES } from '../../src/mcp/tools.ts';
import { deep, onlyDeep } from '../rig/deep.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { pythonWith } from '../rig/python.ts';
import { lacksProgram, outputOf } from '../rig/run-program.ts';
import { startTestServer, TestAgent } from '../rig/test-server.ts';
import { docBlocks } from './doc-blocks.ts';

/** What stands in the docs, copied literally but for the server's address, does what it says. */

const root = resolve(import.meta.dirname, '../..');
const server = await startTestServer(t);
if (!existsSync(join(root, 'dist/client/index.js')))
  spawnSync('npm', ['run', '--silent', 'build:client'], { cwd: root, stdio: 'inherit' });

const blocks = (file: string, language: string) => docBlocks(file, language, server.url);

/** Inside the tree, so that packages are found; with the samples beside it. */
async function folderFor(t: Pick<Test, 'teardown'>): Promise<string> {
  const folder = join(root, '.build', `docs-${process.pid}-${Math.random().toString(36).slice(2)}`);
  await mkdir(folder, { recursive: true });
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await symlink(join(root, 'samples'), join(folder, 'samples'));
  return folder;
}

const run = (command: string, words: readonly string[], cwd: string, home = cwd) =>
  outputOf(command, words, { cwd, env: { ...BARE_ENVIRONMENT, HOME: home, NO_COLOR: '1' } });

async function runTypeScript(t: Pick<Test, 'teardown'>, code: string): Promise<string> {
  const folder = await folderFor(t);
  const path = join(folder, 'copied.ts');
  await writeFile(path, code);
  return run(process.execPath, [path], folder);
}

t.test('the TypeScript quickstart pays, ingests a PDF, finds its page, and uploads a folder', async (t) => {
  const [first, folder] = blocks('quickstart-typescript.md', 'ts');
  const out = await runTypeScript(t, `${first}${folder}`);
  t.match(out, /\d files, \d+ bytes, 0 USD[\s\S]*\d uploaded, \d refused/);
  t.match(out, /almanac\.pdf: \d+ pages, searchable/);
  t.match(out, /almanac\.pdf, page \d+, \d\.\d\d: /);
  t.match(out, /spentUsd: '0\.036', heldUsd: '0', leftUsd: '0\.064'/);
});

const { python: pythonPath, absent: needsPython } = pythonWith('requests', 'eth_account');

t.test(
  'the Python quickstart by hand pays, ingests a PDF and finds its page',
  { skip: onlyDeep || needsPython },
  async (t) => {
    const folder = await folderFor(t);
    const out = await run(pythonPath, ['-c', blocks('quickstart-python.md', 'python').at(-1)!], folder);
    t.match(out, /almanac\.pdf: \d+ pages, searchable/);
    t.match(out, /almanac\.pdf, page \d+, \d\.\d\d: /);
  },
);

const x402 = pythonWith('x402.http.clients.requests', 'eth_account');

t.test('the Python of the guide for agents pays and finds', { skip: x402.absent }, async (t) => {
  const guide = await (await fetch(`${server.url}/agents.md`)).text();
  const [, code] = /```python\n([\s\S]*?)```/.exec(guide)!;
  t.match(
    await run(x402.python, ['-c', code!], await folderFor(t)),
    /^log\.txt 0\.\d+ The lighthouse keeper/,
  );
});

t.test(
  'the curl quickstart pays, ingests a PDF and finds its page',
  { skip: onlyDeep || lacksProgram('curl') },
  async (t) => {
    const home = await folderFor(t);
    const out = await run('sh', ['-euc', blocks('quickstart-curl.md', 'sh')[0]!], root, home);
    const [, ingested, found] = out.trim().split('\n');
    t.match(JSON.parse(ingested!), { charged: true, item: { name: 'almanac.pdf', state: 'searchable' } });
    t.match(JSON.parse(found!), {
      charged: true,
      hits: [{ item: { name: 'almanac.pdf' }, locator: { page: Number } }],
    });
  },
);

t.test(
  'the curl of the API’s page fills a workspace, searches it and destroys it',
  { skip: lacksProgram('curl') },
  async (t) => {
    const folder = await folderFor(t);
    await symlink(join(root, 'samples/almanac.pdf'), join(folder, 'report.pdf'));
    await symlink(join(root, 'samples/rocket.jpg'), join(folder, 'photo.jpg'));
    const { id, token } = await new TestAgent(server.url).rent();
    const copied = blocks('api.md', 'sh')[0]!.replace('ws_…', id).replace('fws_…', token);
    // An answer is one line, which curl does not end.
    const out = await run(
      'sh',
      ['-euc', copied.replace(/^((?:curl|\{) .*?)( +#.*)?$/gm, '$1; echo')],
      folder,
    );
    const [ingested, words, picture, usage, ended] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.match(ingested, { item: { name: 'report.pdf', state: 'searchable' } });
    t.type(words.answered, 'boolean');
    t.ok(Array.isArray(picture.hits));
    t.match(usage, { id, state: 'active', searches: 2 });
    t.match(ended, { receipt: /^[\w-]+\.[\w-]+\.[\w-]+$/ });
  },
);

t.test(
  'the curl of the house’s page makes a workspace, fills it and finds',
  { skip: lacksProgram('curl') },
  async (t) => {
    const key = await server.running.firstKey();
    const folder = await folderFor(t);
    const script = blocks('house.md', 'sh')[1]!.replace(/^curl .*$/gm, '$&; echo');
    const out = await run('sh', ['-euc', `FARTHING_KEY=${key}\n${script}`], folder);
    const [ingested, found, listed] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.match(ingested, { item: { name: 'log.txt', state: 'searchable', expires_at: null }, charged: false });
    t.match(found, { hits: [{ item: { name: 'log.txt' } }], charged: false });
    t.match(listed, { workspaces: [{ house: true, name: 'notes' }], next: null });
  },
);

t.test('the README’s TypeScript pays and finds', async (t) => {
  t.match(await runTypeScript(t, blocks('../README.md', 'ts')[0]!), /^almanac\.pdf 1 0\.\d+\n$/);
});

const recipes = blocks('recipes.md', 'ts');

t.test('the recipe stops at its budget', async (t) => {
  const out = await runTypeScript(t, recipes[1]!);
  t.match(out, /^0\.03 USD 0x\w+\n(0\.006 USD 0x\w+\n){3}stopped with 0\.002 USD left\n$/);
});

t.test('the recipe verifies a receipt', async (t) => {
  t.match(await runTypeScript(t, recipes[2]!), /^1 item destroyed at 20\d\d-/);
});

interface HostEntry {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly url: string;
  readonly headers: Record<string, string>;
}

t.test('each MCP configuration starts a server with all tools', async (t) => {
  const home = await folderFor(t);
  await run(process.execPath, [join(root, 'src/bin/farthing.js'), 'wallet', 'new'], root, home);
  const workspace = await new TestAgent(server.url).rent();
  const [overStdio, other, overHttp] = blocks('mcp.md', 'json') as [string, string, string];
  for (const configuration of [overStdio, ...deep([], [other]), overHttp]) {
    const copied = configuration
      .replaceAll('/path/to/farthing', root)
      .replace('ws_…', workspace.id)
      .replace('fws_…', workspace.token);
    const { mcpServers, servers } = JSON.parse(copied) as Record<string, Record<string, HostEntry>>;
    const { url, command, args, env, headers } = (mcpServers ?? servers)!.farthing!;
    const client = new Client({ name: 'test', version: '0' });
    const transport = url
      ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
      : new StdioClientTransport({ command, args, env: { ...BARE_ENVIRONMENT, HOME: home, ...env } });
    await client.connect(transport, { timeout: 300_000 });
    t.equal((await client.listTools()).tools.length, TOOL_NAMES.length);
    if (url) {
      const usage = await client.callTool({ name: 'workspace_usage', arguments: {} });
      t.match(usage, { structuredContent: { id: workspace.id } });
    }
    await client.close();
  }
});
