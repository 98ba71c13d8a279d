import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { onlyDeep } from '../rig/deep.ts';
import { startTestServer } from '../rig/test-server.ts';
import { installPackages, installPython, V1_PACKAGES, V2_PACKAGES } from './published/install.ts';

/**
 * The published clients of x402, unmodified, each installed into an empty folder and run there: what an agent has that has never seen
 * this tree. `DEEP=1 npm test -- test/client/x402-clients.test.ts`
 */

const MINUTES_MAX = 15;
t.setTimeout(MINUTES_MAX * 60_000);
const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
/** The host's own Node, which may be another major version than the pinned one. */
const HOST_NODE = spawnSync(
  'sh',
  ['-c', 'PATH=$(echo "$PATH" | tr : "\\n" | grep -v node_modules | paste -sd:); command -v node'],
  {
    encoding: 'utf8',
  },
).stdout.trim();

const FETCH_V2 = `
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactEvmScheme } from '@x402/evm';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
const client = new x402Client().register('eip155:8453', new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())));
const pay = wrapFetchWithPayment(fetch, client);
const answer = await pay(process.argv[2] + '/agent/v1/ingest', { method: 'POST', body: 'The keeper counts gulls.' });
console.log(answer.status, (await answer.json()).charged, answer.headers.has('payment-response'));
`;
const AXIOS_V2 = `
import axios from 'axios';
import { wrapAxiosWithPayment, x402Client } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
const client = new x402Client().register('eip155:8453', new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())));
const api = wrapAxiosWithPayment(axios.create({ baseURL: process.argv[2] }), client);
const answer = await api.post('/agent/v1/ingest', 'The keeper counts gulls.', { headers: { 'Content-Type': 'text/plain' } });
console.log(answer.status, answer.data.charged, 'payment-response' in answer.headers);
`;
const FETCH_V1 = `
import { wrapFetchWithPayment } from 'x402-fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
const pay = wrapFetchWithPayment(fetch, privateKeyToAccount(generatePrivateKey()));
const answer = await pay(process.argv[2] + '/agent/v1/ingest', { method: 'POST', body: 'The keeper counts gulls.' });
console.log(answer.status, (await answer.json()).charged, answer.headers.has('x-payment-response'));
`;
const AXIOS_V1 = `
import axios from 'axios';
import { withPaymentInterceptor } from 'x402-axios';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
const api = withPaymentInterceptor(axios.create({ baseURL: process.argv[2] }), privateKeyToAccount(generatePrivateKey()));
const answer = await api.post('/agent/v1/ingest', 'The keeper counts gulls.', { headers: { 'Content-Type': 'text/plain' } });
console.log(answer.status, answer.data.charged, 'x-payment-response' in answer.headers);
`;
const REQUESTS = `
import sys
from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client
client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(Account.create()))
with x402_requests(client) as session:
    answer = session.post(sys.argv[1] + '/agent/v1/ingest', data=b'The keeper counts gulls.')
    print(answer.status_code, str(answer.json()['charged']).lower(), str('payment-response' in answer.headers).lower())
`;
const HTTPX = `
import asyncio, sys
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client
async def main():
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.create()))
    async with x402HttpxClient(client) as http:
        answer = await http.post(sys.argv[1] + '/agent/v1/ingest', content=b'The keeper counts gulls.')
        print(answer.status_code, str(answer.json()['charged']).lower(), str('payment-response' in answer.headers).lower())
asyncio.run(main())
`;

async function paid(
  folder: string,
  program: string,
  url: string,
  command = process.execPath,
): Promise<string> {
  const path = join(folder, `paid-${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(path, program);
  return (await run(command, [path, url], { cwd: folder })).stdout.trim();
}

t.test('published clients pay', { skip: onlyDeep }, async (t) => {
  // A folder for each: another `testdir` of the same test would empty it.
  const folders = t.testdir({});
  const server = await startTestServer(t, { DATA_DIR: join(folders, 'server') });
  const both = await startTestServer(t, { DATA_DIR: join(folders, 'both'), X402_BODY_NETWORK: 'base' });

  await t.test('@x402/fetch and @x402/axios, with either name of the network in the body', async (t) => {
    const folder = await installPackages(join(t.testdirName, 'v2'), V2_PACKAGES);
    for (const { url } of [server, both]) {
      t.equal(await paid(folder, FETCH_V2, url), '200 true true');
      t.equal(await paid(folder, AXIOS_V2, url), '200 true true');
    }
    const quickstart = readFileSync(join(root, 'docs/quickstart-typescript.md'), 'utf8');
    const snippet = /```js\n([\s\S]*?)```/.exec(quickstart)![1]!.replace('http://127.0.0.1:8402', server.url);
    for (const node of new Set([process.execPath, HOST_NODE].filter(existsSync)))
      t.match(
        await paid(folder, snippet, '', node),
        /lighthouse keeper[\s\S]*charged: true/,
        `the quickstart under ${node}`,
      );
  });

  await t.test('x402-fetch and x402-axios of v1, with the setting, and by default they fail', async (t) => {
    const folder = await installPackages(join(t.testdirName, 'v1'), V1_PACKAGES);
    t.equal(await paid(folder, FETCH_V1, both.url), '200 true true');
    t.equal(await paid(folder, AXIOS_V1, both.url), '200 true true');
    await t.rejects(paid(folder, FETCH_V1, server.url), /nvalid.enum/, 'which the guide names');
  });

  await t.test('x402 for Python, over requests and httpx', { skip: withoutPython() }, async (t) => {
    const python = await installPython(join(t.testdirName, 'python'));
    for (const program of [REQUESTS, HTTPX]) {
      const { stdout } = await run(python, ['-c', program, server.url]);
      t.equal(stdout.trim(), '200 true true');
    }
  });
});

function withoutPython(): string | false {
  return spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0 ? false : 'no python3 with venv';
}
