import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { ExactEvmScheme } from '@x402/evm';
import { type PaymentRequired, x402Client } from '@x402/fetch';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { PREPAID_CONTRACT } from '../../src/protocol/money.ts';
import { Agent } from '../cli/cli-agent.ts';
import { startTestServer } from '../rig/test-server.ts';

const LAUNCHER = resolve(import.meta.dirname, '../../src/bin/farthing.js');
const almanac = resolve(import.meta.dirname, '../../samples/almanac.pdf');
const QUESTION = 'how do insects tell each other where food is?';
const NAMES = [
  'search',
  'grep',
  'ingest',
  'workspace_create',
  'workspace_extend',
  'workspace_end_reserve',
  'workspace_usage',
  'workspace_dispose',
  'item_list',
  'item_read',
  'item_delete',
];
/** As agents see it; resources are read below its path. */
const ADDRESS = 'https://files.example/farthing';
const server = await startTestServer(t, { BASE_URL: ADDRESS });

/** A call may wait for an ingest on a busy machine. */
const PATIENT = { timeout: 300_000 };

class TestHost {
  readonly client = new Client({ name: 'test', version: '0' });

  async call(name: string, given: object, meta?: object): Promise<CallToolResult> {
    const call = { name, arguments: { ...given }, ...(meta && { _meta: { ...meta } }) };
    return (await this.client.callTool(call, undefined, PATIENT)) as CallToolResult;
  }
}

async function overHttp(t: Pick<Test, 'teardown'>, query = '', token?: string): Promise<TestHost> {
  const host = new TestHost();
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const url = new URL(`${server.url}/mcp${query}`);
  await host.client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  t.teardown(() => host.client.close());
  return host;
}

const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;

t.test('over HTTP the official client lists the tools and pays in _meta', async (t) => {
  const host = await overHttp(t);
  const { tools } = await host.client.listTools();
  t.same(
    tools.map(({ name }) => name),
    NAMES,
  );
  t.ok(tools.every(({ annotations, outputSchema }) => annotations?.title && outputSchema));
  t.equal(tools.find(({ name }) => name === 'workspace_dispose')!.annotations!.destructiveHint, true);
  const told = JSON.stringify(tools.map(({ description, inputSchema }) => [description, inputSchema]));
  t.notMatch(told, /\b(image_)?path\b/i, 'this server reads no file by its path');
  const nothing = await host.call('ingest', { name: 'a.txt' });
  t.ok(nothing.isError);
  t.notMatch(textOf(nothing), /\bpath\b/);

  const payer = new x402Client().register(
    'eip155:*',
    new ExactEvmScheme(privateKeyToAccount(generatePrivateKey())),
  );
  const payFor = async (asked: CallToolResult) => ({
    'x402/payment': await payer.createPaymentPayload(asked.structuredContent as unknown as PaymentRequired),
  });
  const file = { content_b64: readFileSync(almanac, 'base64'), name: 'almanac.pdf' };
  const unpaid = await host.call('ingest', file);
  t.match(unpaid, { isError: true, structuredContent: { x402Version: 2, accepts: [{ amount: '30000' }] } });
  t.match(JSON.parse(textOf(unpaid)), { 'x402/error': { code: 402, data: { x402Version: 2 } } });
  const payment = await payFor(unpaid);
  const paid = await host.call('ingest', file, payment);
  t.match(paid, {
    structuredContent: { charged: true, item: { name: 'almanac.pdf', state: 'searchable' } },
    _meta: { 'x402/payment-response': { success: true, transaction: /^0x/ } },
  });
  t.notOk(paid.isError);
  const again = await host.call('search', { query: QUESTION }, payment);
  t.match(
    again,
    { isError: true, structuredContent: { error: 'authorization_already_used' } },
    'a payment pays once',
  );
  const found = await host.call(
    'search',
    { query: QUESTION, k: 3 },
    await payFor(await host.call('search', {})),
  );
  t.match(textOf(found), /^1\. almanac\.pdf \(page \d+/m);
  t.match(found.content[1], { type: 'resource_link', name: 'almanac.pdf', mimeType: 'application/pdf' });
  const rent = { ttl_minutes: 20 };
  const rented = await host.call(
    'workspace_create',
    rent,
    await payFor(await host.call('workspace_create', rent)),
  );
  const { id, capability_token: token } = rented.structuredContent as {
    id: string;
    capability_token: string;
  };
  t.match(token, /^fws_/);
  const inside = await overHttp(t, `?workspace=${id}`, token);
  t.match(await inside.call('ingest', { text: 'A puffin is no gull.', name: 'puffin.txt' }), {
    structuredContent: { charged: false, item: { state: 'searchable' } },
  });
  const hits = await inside.call('search', { query: 'puffin' });
  t.match(textOf(hits), /puffin\.txt/);
  t.notMatch(textOf(hits), /Understood/);
  const slip = await inside.call('search', { query: 'pufin' });
  t.match(slip.structuredContent, { corrected: 'puffin' });
  t.match(textOf(slip), /^Understood as: puffin\n/);
  t.match(hits.content[1], { uri: `${ADDRESS}/agent/v1/workspaces/${id}/items/` });
  await inside.call('ingest', file);
  const shown = await inside.call('search', { query: QUESTION, k: 1, thumbnails: 1 });
  const [image, , link] = shown.content.slice(1);
  t.match(image, { type: 'image', mimeType: 'image/webp', data: String }, 'the page is shown');
  t.match(link, {
    type: 'resource_link',
    name: /^thumbnail of almanac\.pdf \(page \d/,
    mimeType: 'image/webp',
  });
  const { uri } = link as { uri: string };
  t.match(uri, /\/preview\?page=\d+$/);
  const [thumbnail] = (await inside.client.readResource({ uri })).contents;
  t.match(thumbnail, { mimeType: 'image/webp', blob: (image as { data: string }).data });
  const [item] = (await inside.client.readResource({ uri: uri.replace(/\/preview.*$/, '') })).contents;
  t.match(JSON.parse((item as { text: string }).text), { name: 'almanac.pdf', pages: Number });
  await t.rejects(host.client.readResource({ uri }), { message: /unauthorized/ }, 'not without the token');
  const elsewhere = uri.replace('/farthing', '');
  await t.rejects(inside.client.readResource({ uri: elsewhere }), { message: /no resource/ });
  const byCall = await host.call('search', {
    query: QUESTION,
    k: 1,
    thumbnails: 1,
    workspace: id,
    token,
  });
  t.match(byCall.content[1], image as object, 'with the token of the call, too');
  t.notMatch(JSON.stringify(byCall), token);
  await t.rejects(inside.client.readResource({ uri: 'file:///etc/passwd' }), { message: /no resource/ });
  const { resourceTemplates } = await inside.client.listResourceTemplates();
  t.ok(
    resourceTemplates.every(({ uriTemplate }) => uriTemplate.startsWith(`${ADDRESS}/agent/v1/workspaces/`)),
  );
  const own = await payFor(await host.call('search', {}));
  const linked = await host.call('search', { query: QUESTION, k: 1, thumbnails: 1 }, own);
  t.same(
    linked.content.map(({ type }) => type),
    ['text', 'resource_link', 'resource_link'],
    'no second payment',
  );
  const ownPicture = (linked.content[2] as { uri: string }).uri;
  await t.rejects(host.client.readResource({ uri: ownPicture }), { message: /paid for/ });
  const listed = await inside.call('item_list', { limit: 1 });
  t.match(textOf(listed), /^puffin\.txt \(item_\w+\), text\/plain\nThere are more: after "item_\w+"\.$/);
  const { next: after } = listed.structuredContent as { next: string };
  const [{ id: pdf }] = (await inside.call('item_list', { after })).structuredContent!.items as [
    { id: string },
  ];
  t.match(textOf(await inside.call('item_read', { item: pdf, page: 2 })), /^\(page 2.*\)\n\S/);
  const lines = await inside.call('grep', { pattern: 'PUFFIN', ignore_case: true, max_lines: 1 });
  t.match(textOf(lines), /^puffin\.txt, item_\w+, from 0:\n1: .*puffin/);
  t.match(lines.structuredContent, { lines: [{ item: { id: after }, passage: 0, line: 1 }] });
  t.match(await inside.call('grep', { pattern: '(' }), {
    isError: true,
    structuredContent: { error: { code: 'field_invalid', field: 'pattern' } },
  });
  t.match(await inside.call('item_delete', { item: after }), { structuredContent: { state: 'deleted' } });
  t.match(await inside.call('item_read', { item: after }), {
    isError: true,
    structuredContent: { error: { code: 'item_not_found' } },
  });
  const more = { ttl_minutes: 5, workspace: id };
  const asked = await host.call('workspace_extend', more);
  t.match(asked, { isError: true, structuredContent: { accepts: [{ amount: '2500' }] } });
  t.match(await host.call('workspace_extend', more, await payFor(asked)), {
    structuredContent: { ttl_minutes: 5, price_usd: '0.0025' },
  });
  const reserve = await host.call('workspace_extend', { ...more, reserve: true });
  t.match(reserve, { structuredContent: { accepts: [{ asset: PREPAID_CONTRACT }] } });
  t.match(await inside.call('workspace_end_reserve', {}), { structuredContent: { returned_minutes: 0 } });
  const refused = await host.call('workspace_usage', { workspace: id, token: 'fws_wrong' });
  t.match(refused, {
    isError: true,
    structuredContent: { error: { code: 'workspace_unauthorized', status: 401 } },
  });
  for (const token of ['a\r\nX-Other: y', 'schl\u00fcssel', '\u2028'])
    t.match(await host.call('workspace_usage', { workspace: id, token }), {
      structuredContent: { error: { code: 'workspace_unauthorized' } },
    });
  const leaked = await inside.call('workspace_usage', { workspace: `ws_${'0'.repeat(32)}` });
  t.match(leaked, { isError: true }, 'the connection’s token goes to its own workspace alone');
  t.match(await host.call('workspace_usage', { workspace: id, token }), {
    structuredContent: { items: 1 },
  });
  t.match(await inside.call('workspace_dispose', {}), { isError: true }, 'never by default');
  t.match(await inside.call('workspace_dispose', { workspace: id }), {
    structuredContent: { claims: { workspace: id } },
  });
});

t.test('clients that announce large bodies and send none do not block others', async (t) => {
  const { host, port } = server;
  const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${16 * 2 ** 20}\r\n\r\n`;
  const silent = Array.from({ length: 300 }, () => connect(port, host));
  t.teardown(() => {
    for (const socket of silent) socket.destroy();
  });
  await Promise.all(silent.map((socket) => new Promise<void>((sent) => socket.write(head, () => sent()))));
  t.equal((await (await overHttp(t)).client.listTools()).tools.length, NAMES.length);
});

t.test('a header that the web platform rejects is left out', async (t) => {
  const asked = request({
    host: server.host,
    port: server.port,
    path: '/mcp',
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      // Bytes of UTF-8, as they are.
      'X-City': Buffer.from('Łódź').toString('latin1'),
      'Mcp-City': Buffer.from('Łódź').toString('latin1'),
    },
  });
  asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
  const [{ statusCode }] = (await once(asked, 'response')) as [IncomingMessage];
  t.equal(statusCode, 200);
});

t.test('requests that are not MCP are refused, and GET has nothing to stream', async (t) => {
  t.equal((await fetch(`${server.url}/mcp`)).status, 405);
  const answer = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    body: '{"no": "rpc"}',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
  });
  t.equal(answer.status, 400);
  t.match(await answer.json(), { jsonrpc: '2.0', error: { code: Number } });
  for (const [method, params, fault] of [
    ['tools/call', undefined, /^params: /],
    ['tools/call', { name: 5 }, /^params\.name: /],
    ['tools/call', { name: 'search', arguments: ['gulls'] }, /^params\.arguments: /],
    ['resources/read', {}, /^params\.uri: /],
    ['initialize', { protocolVersion: 1 }, /^params\.protocolVersion: /],
  ] as const) {
    const asked = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    });
    t.match(await asked.json(), { id: 7, error: { code: ErrorCode.InvalidParams, message: fault } }, method);
  }
  const batch = await fetch(`${server.url}/mcp`, { method: 'POST', body: ' [{"jsonrpc": "2.0"}]' });
  t.match(await batch.json(), { code: 'request_malformed', status: 400 });
  const large = await fetch(`${server.url}/mcp`, { method: 'POST', body: 'x'.repeat(17 * 2 ** 20) });
  t.equal(large.status, 413);
});

t.test('over stdio it pays from a local wallet within its budget', async (t) => {
  const agent = new Agent(t.testdir({ 'gull.txt': 'A gull.' }), server.url);
  await agent.run(['wallet', 'new']);
  const host = new TestHost();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, 'mcp', '--budget', '0.06'],
    env: { ...agent.environment },
  });
  await host.client.connect(transport, PATIENT);
  t.teardown(() => host.client.close());
  t.same(
    (await host.client.listTools()).tools.map(({ name }) => name),
    NAMES,
  );
  t.match(await host.call('ingest', { path: join(agent.home, 'gull.txt') }), {
    structuredContent: { charged: true },
  });
  t.match(await host.call('workspace_usage', {}), {
    isError: true,
    content: [{ text: /create one first/ }],
  });
  const rented = await host.call('workspace_create', { ttl_minutes: 15 });
  t.match(rented.structuredContent, { ttl_minutes: 15, left_usd: '0.0125' });
  t.notMatch(JSON.stringify(rented), /fws_/, 'the model never sees the token');
  t.match(await host.call('ingest', { path: almanac }), { structuredContent: { charged: false } });
  const found = await host.call('search', { query: QUESTION, k: 1 });
  t.match(textOf(found), /^1\. almanac\.pdf \(page \d+/m);
  t.notMatch(JSON.stringify(found), /gull\.txt/, 'the workspace is meant');
  t.match(
    await agent.run(['workspace', 'usage']),
    { code: 2 },
    'the commands have their own current workspace',
  );
  const over = await host.call('workspace_create', { ttl_minutes: 60 });
  t.ok(over.isError);
  t.match(
    textOf(over),
    /budget_exceeded: The price is 0\.04 USD and 0\.0125 of the budget of 0\.06 USD are left/,
  );
  const { id } = rented.structuredContent as { id: string };
  t.match(await host.call('workspace_dispose', { workspace: id }), {
    structuredContent: { claims: { workspace: id } },
  });
  const ended = await host.call('search', { query: 'gull' });
  t.match(
    textOf(ended),
    /has ended.*workspace "none".*workspace_create/s,
    'it is not paid by the call instead',
  );
  t.match(textOf(await host.call('search', { query: 'gull', workspace: 'none' })), /^1\. gull\.txt/m);
});

t.test('over stdio without a wallet it says how to make one, and finds it without a restart', async (t) => {
  const agent = new Agent(t.testdir({}), server.url);
  const host = new TestHost();
  await host.client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, 'mcp'],
      env: { ...agent.environment },
    }),
    PATIENT,
  );
  t.teardown(() => host.client.close());
  t.match(textOf(await host.call('workspace_create', {})), /^wallet_missing: .*npx farthing wallet new/);
  await agent.run(['wallet', 'new']);
  t.match(await host.call('workspace_create', {}), { structuredContent: { ttl_minutes: 15 } });
});

t.test('odd workspace ids and payments too large for a header are refused', async (t) => {
  const host = await overHttp(t);
  for (const workspace of ['..', '../..', '%2e%2e', 'ws_0/../..', 'search']) {
    const { isError, structuredContent } = await host.call('search', { query: 'a', workspace, token: 'x' });
    t.match(
      { isError, structuredContent },
      {
        isError: true,
        structuredContent: { error: { code: 'workspace_unauthorized' } },
      },
    );
  }
  const large = await host.call('search', { query: 'a' }, { 'x402/payment': { x: 'x'.repeat(20_000) } });
  t.match(large, { isError: true, structuredContent: { error: { code: 'request_malformed' } } });
  t.match(textOf(large), /payment in _meta/);
  const nested = JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`) as object;
  const deep = await host.call('search', { query: 'a' }, { 'x402/payment': nested });
  t.match(deep, { isError: true, structuredContent: { error: 'payment_malformed' } });
});
