import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { missing, openBrowser } from '../console/browser.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { pythonWith } from '../rig/python.ts';
import { startTestServer } from '../rig/test-server.ts';

/** The examples run to their end, each as its head says. */

const root = resolve(import.meta.dirname, '../..');
const server = await startTestServer(t);

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A stand-in for a language model: it gives these replies, one after the other, and the last for ever. */
async function fakeModel(t: Pick<Test, 'teardown'>, replies: readonly string[]) {
  const asked: string[] = [];
  const model = createServer(async (request, response) => {
    const { messages } = (await json(request)) as Asked;
    asked.push(messages.at(-1)!.content);
    const content = replies[Math.min(asked.length, replies.length) - 1];
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
  });
  await new Promise<void>((listening) => model.listen(0, '127.0.0.1', listening));
  t.teardown(() => model.close());
  return { url: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`, asked };
}

async function run(command: string, words: readonly string[], environment: object, input = '') {
  const env = { ...BARE_ENVIRONMENT, FARTHING_URL: server.url, ...environment };
  const child = spawn(command, words, { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  return text(child.stdout);
}

const research = (environment: object) =>
  run(
    process.execPath,
    ['examples/research.ts', 'How do bees tell where flowers are?', 'samples/almanac.pdf'],
    environment,
  );

t.test(
  'research searches for what the model asks, and names the passages that it answers from',
  async (t) => {
    const model = await fakeModel(t, [
      '{"search": ["how bees tell each other about flowers"]}',
      '{"answer": "They dance.", "sources": [1]}',
    ]);
    const out = await research({ MODEL_URL: model.url });
    t.match(out, /^They dance\.\n\[1\] almanac\.pdf, page \d+\nspent 0\.036 USD\n$/);
    t.match(model.asked[1], /\[1\] almanac\.pdf, page \d+\n[\s\S]*dance/, 'it read the passage');
  },
);

t.test('research ends within its budget, whatever the model wants', async (t) => {
  const model = await fakeModel(t, ['{"search": ["bees", "flowers", "dances"]}']);
  const out = await research({ MODEL_URL: model.url, BUDGET_USD: '0.043' });
  t.match(out, /^spent 0\.042 USD\n$/);
  t.match(model.asked.at(-1), /Answer now/);
  t.match(model.asked[1], /The budget is spent/);
});

const { python, absent } = pythonWith('httpx', 'eth_account', 'x402', 'cryptography');

t.test('chat answers about a folder, and destroys what it uploaded', { skip: absent }, async (t) => {
  const model = await fakeModel(t, ['By dancing [1].']);
  const environment = { MODEL_URL: model.url, PYTHONPATH: join(root, 'clients/python/src'), PYTHONUTF8: '1' };
  const out = await run(
    python,
    ['examples/chat.py', 'samples'],
    environment,
    'how do bees tell each other where flowers are?\n\n',
  );
  t.match(out, /By dancing \[1\]\.\n\[1\] almanac\.pdf/);
  t.match(out, /destroyed \d+ files; 0\.\d+ USD spent/);
  t.match(model.asked[0], /dance/, 'it read the passage');
});

t.test('the shop shows what the server sells, at its prices', { skip: missing() ?? false }, async (t) => {
  const page = await (await openBrowser(t)).newPage();
  const address = pathToFileURL(join(root, 'examples/shop.html'));
  await page.goto(`${address}?server=${encodeURIComponent(server.url)}`);
  const rows = page.locator('#prices tr');
  await rows.nth(1).waitFor();
  const shown = (await rows.allInnerTexts()).join('\n');
  t.match(shown, /\$0\.006/);
  t.match(shown, /\$0\.03\b/);
  t.match(await page.locator('#agent').textContent(), `${server.url}/agents.md`);
});
