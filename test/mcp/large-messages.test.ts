import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';
import { startTestServer, TestAgent } from '../rig/test-server.ts';

/** Messages to `/mcp` from somebody who has paid for nothing, and files that come within one. */

const server = await startTestServer(t);
const rocket = readFileSync(resolve(import.meta.dirname, '../../samples/rocket.jpg'));
const cat = readFileSync(resolve(import.meta.dirname, '../../samples/chelsea.png'));
const HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
const REST_BYTES_MAX = 64 * 1024;

async function post(body: string, query = '', headers: Record<string, string> = {}) {
  const init = { method: 'POST', headers: { ...HEADERS, ...headers }, body };
  const answer = await fetch(`${server.url}/mcp${query}`, init);
  const text = await answer.text();
  return { status: answer.status, bytes: text.length, body: JSON.parse(text) };
}

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const call = (name: string, given: object) => message('tools/call', { name, arguments: given });
const search = (given: object) => call('search', given);
const initialize = (icons: object[]) =>
  message('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '1', icons },
  });

/** The length of the longest JSON text that this process, the server's, has parsed or made while `work` ran. */
async function longestJson(work: () => Promise<unknown>): Promise<number> {
  const { parse, stringify } = JSON;
  let longest = 0;
  const see = (text: unknown) => {
    if (typeof text === 'string') longest = Math.max(longest, text.length);
  };
  const watched = <F extends typeof parse | typeof stringify>(made: F): F =>
    new Proxy(made, {
      apply: (target, self, given) => {
        // Before it is parsed: that may fail.
        see(given[0]);
        const result: unknown = Reflect.apply(target, self, given);
        see(result);
        return result;
      },
    });
  Object.assign(JSON, { parse: watched(parse), stringify: watched(stringify) });
  try {
    await work();
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
  return longest;
}

t.test('without picture or file a message has at most 64 KiB and 1,024 values', async (t) => {
  const bodies = {
    families: search({ families: Array(2 ** 19).fill({}) }),
    unknown: search(Object.fromEntries(Array.from({ length: 2 ** 16 }, (_, index) => [`k${index}`, 0]))),
    query: search({ query: 'x'.repeat(REST_BYTES_MAX) }),
    elsewhere: message('tools/list', { text: 'x'.repeat(REST_BYTES_MAX) }),
    meta: message('tools/call', { name: 'search', _meta: { 'x402/payment': 'x'.repeat(REST_BYTES_MAX) } }),
    member: JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(REST_BYTES_MAX), method: 'ping' }),
    icons: initialize(Array(1024).fill({})),
    nested: search({}).replace('{}}}', `{"families":${'['.repeat(1024)}${']'.repeat(1024)}}}}`),
  };
  const longest = await longestJson(async () => {
    for (const [name, body] of Object.entries(bodies)) {
      const init = { method: 'POST', headers: HEADERS, body };
      const answer = await fetch(`${server.url}/mcp`, init);
      t.equal(answer.status, 413, name);
      const problem = await answer.text();
      t.match(problem, /"code":"body_too_large".*"limit_bytes":65536/, name);
      t.ok(problem.length < 1000);
    }
  });
  t.ok(longest < 1000, `${longest} characters of JSON`);
});

t.test('a body that is not a message is refused unparsed', async (t) => {
  const large = 2 ** 20;
  const longest = await longestJson(async () => {
    for (const body of [
      '['.repeat(large),
      ' '.repeat(large),
      '{"a":'.repeat(large),
      `{"a":"${'x'.repeat(large)}`,
    ]) {
      const answer = await fetch(`${server.url}/mcp`, { method: 'POST', headers: HEADERS, body });
      t.equal(answer.status, 400);
      t.ok((await answer.text()).length < 1000);
    }
  });
  t.ok(longest < 1000, `${longest} characters of JSON`);
});

t.test('files and pictures pass through whole and unparsed', async (t) => {
  const { inside, contentOf } = await rented();
  // Large by its spaces: every word costs time to encode.
  const text = Buffer.from('A "puffin" is no gull \\ é 🐧.\n'.repeat(200) + ' '.repeat(REST_BYTES_MAX));
  const files: [string, Buffer, object][] = [
    ['text', text, { text: text.toString(), name: 'puffin.txt' }],
    ['base64', rocket, { content_b64: rocket.toString('base64'), name: 'rocket.jpg' }],
    ['base64 in lines', cat, { content_b64: inLines(cat), name: 'chelsea.png' }],
  ];
  const uploads = files.map(([name, bytes, given]) => ({ name, bytes, body: call('ingest', given) }));
  const picture = call('search', { image_b64: rocket.toString('base64'), k: 1 });
  for (const { name, bytes, body } of uploads) {
    const { item, job } = await inside(body);
    t.match(job, { state: 'searchable' }, name);
    t.ok(bytes.equals(await contentOf(item.id)), name);
  }
  t.match(await inside(picture), { hits: [{ item: { name: 'rocket.jpg' } }] });
  // Unpaid, so that nothing of a reader's is counted.
  const longest = await longestJson(async () => {
    for (const body of [picture, ...uploads.map((upload) => upload.body)]) {
      t.match(await post(body), { body: { result: { structuredContent: { x402Version: 2 } } } });
    }
  });
  t.ok(longest < REST_BYTES_MAX, `${longest} characters of JSON`);
});

async function rented() {
  const { id, token } = await new TestAgent(server.url).rent();
  const headers = { Authorization: `Bearer ${token}` };
  return {
    inside: async (body: string) =>
      (await post(body, `?workspace=${id}`, headers)).body.result.structuredContent,
    contentOf: async (item: string) => {
      const path = `/agent/v1/workspaces/${id}/items/${item}/content`;
      return Buffer.from(await (await fetch(server.url + path, { headers })).arrayBuffer());
    },
  };
}

/** As `base64` prints it. */
function inLines(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{76}/g, '$&\n');
}
