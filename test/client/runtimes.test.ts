import { accessSync, constants, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import t, { type Test } from 'tap';
import { chromiumMissing, openBrowser, PATIENCE_MS, visit } from '../console/browser.ts';
import { noChain, startChain } from '../payment/chain/chain.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { listening } from '../rig/ports.ts';
import { outputOf } from '../rig/run-program.ts';
import { startTestServer } from '../rig/test-server.ts';
import type { JourneyReport } from './runtimes/journey.ts';

/** One and the same program, with the built client, in every runtime that it is for. */

t.setTimeout(4 * PATIENCE_MS);
const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'test/client/runtimes');
const almanac = join(root, 'samples/almanac.pdf');
const server = await startTestServer(t);

const EXPECTED = {
  searchedEmpty: { hits: 0, charged: false },
  item: { state: 'searchable', media_type: 'application/pdf' },
  hit: { name: 'almanac.pdf', page: Number },
  preview: 'image/webp',
  payments: ['0.03', '0.006', '0.002', '0.0175'],
  stages: Array,
  inside: ['puffin.txt'],
  overBudget: 'budget_exceeded',
  claims: { items: 2, reason: 'deleted' },
  forged: 'receipt_invalid',
  afterwards: 'workspace_unauthorized',
  spentUsd: '0.0555',
};

/** The binary of a package that `make runtimes` installs; undefined without it. */
function binary(path: string): string | undefined {
  const whole = join(root, 'bench/peers/runtimes/node_modules', path);
  try {
    accessSync(whole, constants.X_OK);
    return whole;
  } catch {
    return undefined;
  }
}

async function run(
  t: Pick<Test, 'testdir'>,
  command: string,
  args: readonly string[],
): Promise<JourneyReport> {
  const home = t.testdir({});
  const env = { ...BARE_ENVIRONMENT, HOME: home, DENO_DIR: join(home, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
  const words = [...args, join(folder, 'command.ts'), server.url, almanac];
  return JSON.parse(await outputOf(command, words, { env: { ...env, NO_COLOR: '1' } })) as JourneyReport;
}

t.test('in Node it pays, ingests, finds, shows, and verifies the receipt', async (t) => {
  t.match(await run(t, process.execPath, []), EXPECTED);
});

const deno = binary('@deno/linux-x64-glibc/deno');
const absent = 'is not installed here (make runtimes)';
t.test(
  'in Deno it does the same, with permission for the server and for reading only',
  { skip: deno ? false : `Deno ${absent}` },
  async (t) => {
    const allowed = [`--allow-net=${new URL(server.url).host}`, '--allow-read', '--allow-env'];
    t.match(
      await run(t, deno!, ['run', '--no-remote', '--no-prompt', '--node-modules-dir=manual', ...allowed]),
      EXPECTED,
    );
  },
);

const bun = binary('@oven/bun-linux-x64/bin/bun');
t.test('in Bun it does the same', { skip: bun ? false : `Bun ${absent}` }, async (t) => {
  t.match(await run(t, bun!, ['run', '--no-install']), EXPECTED);
});

const lacking = chromiumMissing() ?? noChain;
t.test(
  'in a browser it does the same, from another origin, with an EIP-1193 wallet outside the page',
  { skip: lacking ?? false },
  async (t) => {
    const wallet = await startChain(t);
    const bundled = await build({
      entryPoints: [join(folder, 'page.ts')],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      write: false,
      logLevel: 'silent',
    });
    const { page, faults } = await visit(
      await openBrowser(t),
      await servePage(t, bundled.outputFiles[0]!.contents),
    );
    // A node that holds the key and signs: the page sees addresses and signatures alone.
    await page.exposeFunction('askWallet', async (call: { method: string; params?: unknown }) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, params: [], ...call });
      const headers = { 'Content-Type': 'application/json' };
      return (await fetch(wallet.url, { method: 'POST', headers, body })).json();
    });
    await page.evaluate(`globalThis.ethereum = { request: async (call) => {
    const { result, error } = await askWallet(call);
    if (error) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  } }`);
    t.match(await page.evaluate(`travel(${JSON.stringify(server.url)})`), EXPECTED);
    const toServer = `leaves the origin: ${server.url}/`;
    t.same(
      faults.filter((fault) => !fault.startsWith(toServer)),
      [],
      'no fault, and nobody but the server is asked',
    );
  },
);

/** An origin of its own, with the bundle and the file. */
async function servePage(t: Pick<Test, 'teardown'>, script: Uint8Array): Promise<string> {
  const files: Record<string, [string, Uint8Array | string]> = {
    '/': [
      'text/html',
      '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    ],
    '/page.js': ['text/javascript', script],
    '/almanac.pdf': ['application/pdf', readFileSync(almanac)],
  };
  const site = createServer(({ url = '/' }, response) => {
    const [type, content] = files[url] ?? ['text/plain', ''];
    response.writeHead(files[url] ? 200 : 404, { 'Content-Type': type }).end(content);
  });
  return (await listening(t, site)).url;
}
