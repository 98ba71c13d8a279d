import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { ANSWERS_FILE, blockingClient, CLIENT_FILE, pythonAnswers } from '../../scripts/python-answers.ts';
import { deep, onlyDeep } from '../rig/deep.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { pythonWith } from '../rig/python.ts';
import { outputOf, runProgram } from '../rig/run-program.ts';
import { CACHE_DIR, startTestServer } from '../rig/test-server.ts';
import { docBlocks } from './doc-blocks.ts';

/** The Python client of clients/python pays, searches, rents and checks receipts; its quickstart and recipes run as printed. */

const root = resolve(import.meta.dirname, '../..');
const client = join(root, 'clients/python');
const CHAT = join(root, 'examples/chat.py');
const { python, absent } = pythonWith('x402', 'httpx', 'cryptography', 'eth_account', 'pytest');
const server = await startTestServer(t);
const folder = mkdtempSync(join(tmpdir(), 'farthing-python-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
symlinkSync(join(root, 'samples'), join(folder, 'samples'));
const env = {
  ...BARE_ENVIRONMENT,
  HOME: folder,
  FARTHING_URL: server.url,
  FARTHING_KEY: (await server.running.firstKey()) ?? '',
  PYTHONPATH: join(client, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUTF8: '1',
};
const run = (...words: string[]) => outputOf(python, words, { cwd: folder, env });
const without = (...modules: string[]) => absent || pythonWith(...modules).absent;

t.test('its types are the server’s schemas, and its blocking half is its async one', async (t) => {
  t.equal(readFileSync(ANSWERS_FILE, 'utf8'), pythonAnswers(), 'make python-answers writes them');
  t.equal(readFileSync(CLIENT_FILE, 'utf8'), blockingClient());
});

t.test('its own tests pass', { skip: absent }, async (t) => {
  const tests = join(client, 'tests');
  const { status, output } = await runProgram(
    python,
    ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', tests],
    {
      cwd: folder,
      env,
    },
  );
  t.equal(status, 0, output);
  t.match(output, /\n(?:1\d|\d{2,}) passed/);
});

t.test('mypy --strict and ruff find nothing', { skip: without('mypy', 'ruff') }, async (t) => {
  const recipes = docBlocks('recipes.md', 'python', server.url);
  recipes.forEach((code, at) => {
    writeFileSync(join(folder, `recipe_${at}.py`), code);
  });
  const hasRecipes = deep(false, pythonWith('langchain_core', 'llama_index.core').absent === false);
  const checked = [
    ['-p', 'farthing'],
    [join(client, 'tests')],
    [CHAT],
    ...(hasRecipes ? recipes.map((_, at) => [join(folder, `recipe_${at}.py`)]) : []),
  ];
  for (const words of checked) {
    const { status, output } = await runProgram(
      python,
      ['-m', 'mypy', '--strict', '--cache-dir', join(CACHE_DIR, 'mypy'), ...words],
      { cwd: folder, env: { ...env, MYPYPATH: env.PYTHONPATH } },
    );
    t.equal(status, 0, output);
  }
  const sources = [join(client, 'src'), join(client, 'tests')];
  const chat = ['--config', join(client, 'pyproject.toml'), CHAT];
  for (const words of [['check'], ['format', '--check']])
    for (const files of [sources, chat]) {
      const { status, output } = await runProgram(python, ['-m', 'ruff', ...words, '--no-cache', ...files], {
        env,
      });
      t.equal(status, 0, output);
    }
});

const [first, rented, awaited] = docBlocks('quickstart-python.md', 'python', server.url);

t.test('the README’s program and the quickstart’s three pay and find', { skip: absent }, async (t) => {
  const [shortest] = docBlocks('../README.md', 'python', server.url);
  t.match(await run('-c', shortest!), /^almanac\.pdf 1 0\.\d+\n$/);
  const paid = await run('-c', first!);
  t.match(paid, /almanac\.pdf: \d+ pages, searchable\nalmanac\.pdf, page \d+, \d\.\d\d: /);
  t.match(paid, "Spending(spent_usd='0.036', held_usd='0', left_usd='0.064')");
  t.match(await run('-c', rented!), /^sending 100%\n[\s\S]*searchable 100%\nalmanac\.pdf, page \d\n20\d\d-/);
  t.match(await run('-c', awaited!), /^log\.txt \d+\n$/);
});

t.test('installed into an empty environment it pays and finds', { skip: onlyDeep || absent }, async (t) => {
  const environment = join(folder, 'installed');
  await outputOf('python3', ['-m', 'venv', environment]);
  await outputOf(join(environment, 'bin/pip'), ['install', '-q', client]);
  const out = await outputOf(join(environment, 'bin/python3'), ['-c', first!], {
    cwd: folder,
    env: { ...env, PYTHONPATH: '' },
  });
  t.match(out, /almanac\.pdf, page \d+, \d\.\d\d: /);
});

const [langChain, llamaIndex] = docBlocks('recipes.md', 'python', server.url);
const RENT = `
import sys
from eth_account import Account
from farthing import Farthing
with Farthing(${JSON.stringify(server.url)}, account=Account.create()) as farthing, farthing.rent(minutes=5) as workspace:
    workspace.ingest("samples/almanac.pdf")
`;

t.test('the LangChain retriever retrieves', { skip: without('langchain_core') }, async (t) => {
  const use = `
    retriever = FarthingRetriever(workspace=workspace, k=3)
    found = retriever.invoke("how do insects tell each other where flowers are?")
    print(found[0].metadata["source"], found[0].metadata["page"], "angle" in found[0].page_content, len(found) <= 3)
    print(len(retriever.invoke("who repairs diesel submarines in Antarctica?")))
`;
  t.match(await run('-c', `${langChain}${RENT}${use}`), /^almanac\.pdf 1 True True\n0\n$/);
});

t.test('the LlamaIndex retriever retrieves', { skip: without('llama_index.core') }, async (t) => {
  const use = `
    found = FarthingRetriever(workspace, k=3).retrieve("how do insects tell each other where flowers are?")
    print(found[0].metadata["source"], found[0].metadata["page"], "angle" in found[0].text, found[0].score > 0.5)
`;
  t.match(await run('-c', `${llamaIndex}${RENT}${use}`), /^almanac\.pdf 1 True True\n$/);
});
