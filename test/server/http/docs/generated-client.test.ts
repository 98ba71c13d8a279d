import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import t from 'tap';
import ts from 'typescript';
import { BARE_ENVIRONMENT } from '../../../rig/environment.ts';
import { runProgram } from '../../../rig/run-program.ts';
import { startTestServer } from '../../../rig/test-server.ts';

/** The description is enough for a client that is made from it alone, by a generator that others use, to pay, upload, search and rent. */

const root = resolve(import.meta.dirname, '../../../..');

const PROGRAM = `
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import createClient from 'openapi-fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { paths } from './api.ts';

const account = privateKeyToAccount(generatePrivateKey());
const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }] });
const api = createClient<paths>({ baseUrl: process.env.SERVER, fetch: pay });
const formOf = (body?: { file: string } | string) => {
  const form = new FormData();
  form.set('file', new File([typeof body === 'string' ? body : (body?.file ?? '')], 'log.txt'));
  return form;
};
const file = { file: 'The lighthouse keeper counts gulls at dawn.' };

const uploaded = await api.POST('/agent/v1/ingest', { params: { header: { Prefer: 'wait=60' } }, body: file, bodySerializer: formOf });
const state: string | undefined = uploaded.data?.job?.state;
const found = await api.POST('/agent/v1/search', { body: { query: 'who watches birds in the morning?', k: 3 } });
const name: string | undefined = found.data?.hits[0]?.item.name;
const charged: boolean | undefined = found.data?.charged;
const shown = await api.GET('/agent/v1/items/{item_id}', { params: { path: { item_id: uploaded.data?.item?.id ?? '' } } });
const media_type: string | undefined = shown.data?.media_type;

const rented = await api.POST('/agent/v1/workspaces', { body: { ttl_minutes: 15 } });
if (!rented.data) throw new Error(JSON.stringify(rented.error));
const { id, capability_token } = rented.data;
const headers = { Authorization: \`Bearer \${capability_token}\` };
const path = { id };
await api.POST('/agent/v1/workspaces/{id}/ingest', { params: { path, header: { Prefer: 'wait=60' } }, headers, body: file, bodySerializer: formOf });
const inside = await api.POST('/agent/v1/workspaces/{id}/search', { params: { path }, headers, body: { query: 'gulls' } });
const ended = await api.DELETE('/agent/v1/workspaces/{id}', { params: { path }, headers });
const refused = await api.POST('/agent/v1/search', { body: { query: 'x', k: 0 } });
const code = refused.error && 'code' in refused.error ? refused.error.code : undefined;
console.log(JSON.stringify({
  state, name, charged, media_type, code,
  inside: inside.data?.hits.length,
  receipt: typeof ended.data?.receipt,
  refused: refused.response.status,
}));
`;

t.test('a generated client pays, uploads, searches, rents and disposes as its types say', async (t) => {
  const server = await startTestServer(t);
  const description = await (await fetch(`${server.url}/openapi.json`)).text();
  // Inside the tree, so that it finds the packages.
  const folder = join(root, '.build', `generated-${process.pid}`);
  await mkdir(folder, { recursive: true });
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'api.ts'), astToString(await openapiTS(description)));
  const program = join(folder, 'program.ts');
  await writeFile(program, PROGRAM);

  t.same(faultsOfTypes(program), [], 'the program fits the generated types');
  const { status, output } = await runProgram(process.execPath, ['--no-warnings', program], {
    cwd: root,
    // Without what the test runner puts into NODE_OPTIONS.
    env: { ...BARE_ENVIRONMENT, SERVER: server.url },
  });
  t.equal(status, 0, output);
  t.match(JSON.parse(output), {
    state: 'searchable',
    name: 'log.txt',
    charged: true,
    media_type: 'text/plain',
    code: 'field_invalid',
    inside: 1,
    receipt: 'string',
    refused: 400,
  });
});

function faultsOfTypes(path: string): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
  };
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([path], options));
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
