import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** Hostile or wrong requests: each is refused by a clear answer, and the server stays up and takes no money. */

interface Case {
  readonly name: string;
  readonly raw: string | Buffer;
  /** Statuses that are right; `closed`: what uWebSockets.js refuses while parsing may just close the connection. */
  readonly expect: readonly (number | 'closed')[];
  /** A problem document must come with it. */
  readonly problem: boolean;
}

const server = await startTestServer(t);
const { host, port } = server;
const agent = new TestAgent(server.url);
const workspace = await agent.rent();
const bearer = `Authorization: Bearer ${workspace.token}\r\n`;
const WS = `/agent/v1/workspaces/${workspace.id}`;

function request(method: string, path: string, body: string | Buffer = '', headers = ''): Buffer {
  const bytes = Buffer.from(body);
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

const cases: Case[] = [];
const refuse = (name: string, raw: string | Buffer, expect: Case['expect'], problem = true) =>
  cases.push({ name, raw, expect, problem });

// ── JSON that cannot be right, for every route that takes JSON
const searchBodies: Record<string, string | Buffer> = {
  'truncated object': '{"query": "a"',
  'trailing comma': '{"query": "a",}',
  'two documents': '{"query":"a"}{"query":"b"}',
  'an array': '[]',
  null: 'null',
  XML: '<query>a</query>',
  'NUL bytes': Buffer.alloc(32),
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  '200 levels deep, unclosed': '{"query":'.repeat(200),
  'an empty object': '{}',
  'an empty query': '{"query":""}',
  'a blank query': '{"query":"   "}',
  'query a number': '{"query":5}',
  'query an object': '{"query":{"$ne":1}}',
  'query too long': JSON.stringify({ query: 'a'.repeat(8193) }),
  'k zero': '{"query":"a","k":0}',
  'k negative': '{"query":"a","k":-1}',
  'k too large': '{"query":"a","k":1001}',
  'k beyond all numbers': '{"query":"a","k":1e999}',
  'k a fraction': '{"query":"a","k":1.5}',
  'k a string': '{"query":"a","k":"5"}',
  'families empty': '{"query":"a","families":[]}',
  'an unknown family': '{"query":"a","families":["smell"]}',
  'a family that is null': '{"query":"a","families":[null]}',
  'too many families': JSON.stringify({ query: 'a', families: Array(17).fill('raw') }),
  'a family that cannot apply': '{"image_b64":"aGk=","families":["text_semantic"]}',
  'image not base64': '{"image_b64":"%%%"}',
  'image no picture': '{"image_b64":"aGVsbG8gd29ybGQ="}',
  'image a truncated PNG': `{"image_b64":"${Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64')}"}`,
  'image a pixel flood': `{"image_b64":"${pixelFlood().toString('base64')}"}`,
  'image a script': `{"image_b64":"${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>').toString('base64')}"}`,
  'prototype pollution': '{"__proto__":{"query":"a"}}',
};
for (const [name, body] of Object.entries(searchBodies))
  refuse(`search: ${name}`, request('POST', `${WS}/search`, body, bearer), [400]);

refuse(
  'search: compressed',
  request('POST', `${WS}/search`, gzipSync('{"query":"a"}'), `${bearer}Content-Encoding: gzip\r\n`),
  [400],
);
refuse(
  'ingest: compressed',
  request('POST', `${WS}/ingest`, gzipSync('words'), `${bearer}Content-Encoding: gzip\r\n`),
  [400],
);

for (const [name, body] of Object.entries({
  'a megabyte of nesting': '['.repeat(1_000_000),
  'a megabyte of nested objects': '{"query":'.repeat(100_000),
  '100,000 unknown fields': JSON.stringify({
    query: 'a',
    ...Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 0])),
  }),
  'a megabyte of families': JSON.stringify({ query: 'a', families: Array(200_000).fill('raw') }),
})) {
  refuse(`search: ${name}`, request('POST', `${WS}/search`, body, bearer), [413]);
}

// ── every paid route without a good payment: 402 whatever its body, and never a problem document
const payments: Record<string, string> = {
  none: '',
  'empty v1': 'X-PAYMENT:\r\n',
  garbage: 'X-PAYMENT: garbage!!\r\n',
  'base64 of garbage': `X-PAYMENT: ${Buffer.from('garbage').toString('base64')}\r\n`,
  'an empty object': `X-PAYMENT: ${Buffer.from('{}').toString('base64')}\r\n`,
  'an array': `PAYMENT-SIGNATURE: ${Buffer.from('[]').toString('base64')}\r\n`,
  'nested 5,000 deep': `PAYMENT-SIGNATURE: ${Buffer.from('['.repeat(5000)).toString('base64')}\r\n`,
  '12 kB of nothing': `X-PAYMENT: ${'A'.repeat(12_000)}\r\n`,
  'a wrong scheme': `X-PAYMENT: ${Buffer.from('{"x402Version":1,"scheme":"upto","network":"base","payload":{}}').toString('base64')}\r\n`,
  'version 3': `X-PAYMENT: ${Buffer.from('{"x402Version":3}').toString('base64')}\r\n`,
};
const paidRoutes = [
  ['POST', '/agent/v1/search'],
  ['POST', '/agent/v1/ingest'],
  ['GET', '/agent/v1/items/item_0'],
  ['POST', '/agent/v1/workspaces'],
  ['POST', `${WS}/extend`],
] as const;
for (const [method, path] of paidRoutes) {
  for (const [name, header] of Object.entries(payments)) {
    refuse(
      `${method} ${path.replace(workspace.id, '{id}')}, payment: ${name}`,
      request(method, path, method === 'GET' ? '' : '{"bad', header),
      [402],
      false,
    );
  }
}

// ── tokens and workspace ids
const badTokens: Record<string, string> = {
  none: '',
  empty: 'Authorization: Bearer \r\n',
  basic: 'Authorization: Basic dXNlcjpwYXNz\r\n',
  wrong: `Authorization: Bearer fws_${'A'.repeat(43)}\r\n`,
  'with spaces': `Authorization: Bearer ${workspace.token} x\r\n`,
  long: `Authorization: Bearer ${'A'.repeat(4000)}\r\n`,
  'cut short': `Authorization: Bearer ${workspace.token.slice(0, -1)}\r\n`,
};
for (const [name, header] of Object.entries(badTokens)) {
  refuse(`usage, token: ${name}`, request('GET', `${WS}/usage`, '', header), [401]);
  refuse(`search, token: ${name}`, request('POST', `${WS}/search`, '{"query":"a"}', header), [401]);
  refuse(`ingest, token: ${name}`, request('POST', `${WS}/ingest`, 'text', header), [401]);
  refuse(`DELETE, token: ${name}`, request('DELETE', WS, '', header), [401]);
}
for (const id of ['ws_0', '..', '%2e%2e', '%00', 'ws_%F0%9F%98%80', 'a'.repeat(120), `${workspace.id}0`]) {
  refuse(
    `usage of workspace ${id.slice(0, 20)}`,
    request('GET', `/agent/v1/workspaces/${id}/usage`, '', bearer),
    [401],
  );
}

// ── uploads
const form = (parts: string, end = '--b--\r\n') => `${parts}${end}`;
const part = (field: string, name: string | undefined, content: string) =>
  `--b\r\nContent-Disposition: form-data; name="${field}"${name === undefined ? '' : `; filename="${name}"`}\r\n\r\n${content}\r\n`;
const multipart = `${bearer}Content-Type: multipart/form-data; boundary=b\r\n`;
const uploads: [string, string | Buffer, string, number[]][] = [
  ['no parts', form(''), multipart, [400]],
  ['no body', '', multipart, [400]],
  ['no boundary', form(part('file', 'a.txt', 'x')), `${bearer}Content-Type: multipart/form-data\r\n`, [400]],
  [
    'another boundary',
    form(part('file', 'a.txt', 'x')),
    `${bearer}Content-Type: multipart/form-data; boundary=c\r\n`,
    [400],
  ],
  ['without an end', form(part('file', 'a.txt', 'x'), ''), multipart, [400]],
  ['cut in a part’s head', '--b\r\nContent-Disposition: form-da', multipart, [400]],
  ['a field instead of a file', form(part('file', undefined, 'x')), multipart, [400]],
  ['another field', form(part('upload', 'a.txt', 'x')), multipart, [400]],
  [
    'two files',
    form(part('file', 'a.txt', 'some words') + part('file', 'b.txt', 'other words')),
    multipart,
    [400],
  ],
  ['1,000 parts', form(part('x', undefined, 'y').repeat(1000)), multipart, [400]],
  ['an empty file', form(part('file', 'a.txt', '')), multipart, [422]],
  ['an empty raw body', '', bearer, [422]],
  ['a truncated PDF', '%PDF-1.7\n1 0 obj\n<<', bearer, [422]],
  ['a truncated PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), bearer, [422]],
  ['a pixel flood', pixelFlood(), bearer, [413, 422]],
  ['a zip', Buffer.from('504b0304140000000800', 'hex'), bearer, [415, 422]],
  ['an executable', Buffer.concat([Buffer.from('7f454c46020101', 'hex'), Buffer.alloc(200)]), bearer, [415]],
  [
    'random bytes',
    Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 197 + 13) % 256)),
    bearer,
    [415],
  ],
];
for (const [name, body, headers, statuses] of uploads)
  refuse(`upload: ${name}`, request('POST', `${WS}/ingest`, body, headers), statuses);

// ── paths and methods
for (const path of [
  '/agent',
  '/agent/v1',
  '/agent/v1/',
  '/agent/v2/search',
  '/agent/v1/search//',
  '//agent/v1/search',
  '/agent/v1/../../etc/passwd',
  '/AGENT/V1/SEARCH',
  '/.env',
  '/agent/v1/items/',
  '/agent/v1/items/a/b',
  `/${'a'.repeat(3000)}`,
]) {
  refuse(`GET ${path.slice(0, 40)}`, request('GET', path), [404]);
}
for (const [method, path] of [
  ['GET', '/agent/v1/search'],
  ['PUT', '/agent/v1/search'],
  ['DELETE', '/agent/v1/search'],
  ['PATCH', '/agent/v1/ingest'],
  ['POST', '/agent/v1/items/x'],
  ['GET', '/agent/v1/workspaces'],
  ['POST', `${WS}/usage`],
  ['PUT', WS],
  ['TRACE', '/agent/v1/search'],
  ['POST', '/openapi.json'],
  ['BREW', '/agent/v1/search'],
] as const) {
  refuse(`${method} ${path.replace(workspace.id, '{id}')}`, request(method, path), [405]);
}
for (const id of ['job_0', 'x', '..', `job_${'0'.repeat(32)}`])
  refuse(`job ${id.slice(0, 10)}`, request('GET', `/agent/v1/jobs/${id}`), [404]);

for (const limit of ['0', '-1', 'abc', '201', '1.5', '1e9', '', '0x10', 'null']) {
  refuse(`items with limit=${limit}`, request('GET', `${WS}/items?limit=${limit}`, '', bearer), [400]);
}
for (const item of ['item_0', 'x', '..', `item_${'0'.repeat(32)}`, '%00']) {
  refuse(
    `item ${item.slice(0, 10)} of a workspace`,
    request('GET', `${WS}/items/${item}`, '', bearer),
    [404],
  );
}

// ── heads that cannot be right: refused by us where they reach a route, by uWebSockets.js while parsing otherwise
const bare = [400, 431, 505, 'closed'] as const;
const head = (lines: string) => `${lines}\r\n\r\n`;
refuse(
  'two Content-Lengths',
  head(
    `POST ${WS}/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\nContent-Length: 3`,
  ),
  [400, 'closed'],
  false,
);
refuse(
  'length and chunks',
  head(
    `POST ${WS}/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\nTransfer-Encoding: chunked`,
  ),
  bare,
  false,
);
for (const framing of [
  'Content-Length: ',
  'Transfer-Encoding: ',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: Chunked',
  'Transfer-Encoding: identity',
]) {
  refuse(framing, head(`POST ${WS}/search HTTP/1.1\r\nHost: x\r\n${bearer}${framing}`), [400]);
}
refuse('no Host', head('GET /healthz HTTP/1.1\r\nConnection: close'), bare, false);
refuse('HTTP/1.0', head('GET /healthz HTTP/1.0\r\nHost: x'), bare, false);
refuse('HTTP/9.9', head('GET /healthz HTTP/9.9\r\nHost: x'), bare, false);
refuse(
  'a length that is no number',
  head(`POST ${WS}/search HTTP/1.1\r\nHost: x\r\nContent-Length: abc`),
  bare,
  false,
);
refuse('a negative length', head(`POST ${WS}/search HTTP/1.1\r\nHost: x\r\nContent-Length: -5`), bare, false);
refuse('20 kB of headers', head(`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}`), bare, false);
refuse(
  '200 headers',
  head(
    `GET /healthz HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 200 }, (_, n) => `X-${n}: 1`).join('\r\n')}`,
  ),
  bare,
  false,
);
refuse('NUL in a header', head('GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\0b'), bare, false);

/** A PNG whose head claims 60,000 × 60,000 pixels. */
function pixelFlood(): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(60_000, 0);
  size.writeUInt32BE(60_000, 4);
  const header = Buffer.concat([Buffer.from('IHDR'), size, Buffer.from([8, 2, 0, 0, 0])]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
    header,
    Buffer.from('6d2a1c5d', 'hex'),
    Buffer.from('0000000049454e44ae426082', 'hex'),
  ]);
}

function send(raw: string | Buffer): Promise<{ status: number | 'closed'; head: string; body: string }> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const pieces: Buffer[] = [];
    const done = () => {
      const text = Buffer.concat(pieces).toString('utf8');
      const [head = '', ...rest] = text.split('\r\n\r\n');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
      resolve({ status: status ? Number(status) : 'closed', head, body: rest.join('\r\n\r\n') });
    };
    socket.on('data', (piece) => {
      pieces.push(piece);
      const text = Buffer.concat(pieces).toString('utf8');
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const bodyAt = text.indexOf('\r\n\r\n');
      if (bodyAt >= 0 && length && Buffer.byteLength(text.slice(bodyAt + 4)) >= Number(length))
        socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', done);
    socket.write(raw);
  });
}

t.test(`${cases.length} hostile or wrong requests are refused clearly`, async (t) => {
  for (const { name, raw, expect, problem } of cases) {
    const { status, head, body } = await send(raw);
    if (!expect.includes(status))
      t.fail(`${name}: ${status}, expected ${expect.join(' or ')}: ${body.slice(0, 300)}`);
    if (problem || status === 402) {
      const [method = '', url = ''] = raw.toString('latin1').split(' ');
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line): [string, string] => [line.split(': ')[0]!, line.slice(line.indexOf(': ') + 2)]),
      );
      const faults = server.described.faults({ method, url, status: Number(status), headers, text: body });
      if (faults.length > 0) t.fail(`${name}: not as described: ${faults.join('; ')}`);
    }
    if (!problem) continue;
    const document = JSON.parse(body || '{}') as Record<string, unknown>;
    const clear =
      document.status === status &&
      typeof document.code === 'string' &&
      String(document.detail).length > 10 &&
      document.charged === false;
    if (!clear || !/application\/problem\+json/i.test(head))
      t.fail(`${name}: no clear problem document: ${body.slice(0, 300)}`);
  }
});

/** All that comes until the server closes the connection. */
function toTheEnd(raw: string): Promise<string> {
  const socket = connect(port, host);
  socket.write(raw);
  return text(socket);
}

/** The first bytes of the answer; the connection stays open until then. */
function toTheFirst(raw: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => socket.write(raw));
    socket.once('data', (piece) => {
      socket.destroy();
      resolve(piece.toString('latin1'));
    });
    socket.once('error', reject);
  });
}

t.test('a head with two lengths is refused for every method, and nothing after it is read', async (t) => {
  for (const method of ['POST', 'OPTIONS']) {
    const twice = `${method} /agent/v1/search HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\n`;
    const behind = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    t.match(await toTheEnd(twice), /^HTTP\/1\.1 400 [\s\S]*"code":"request_malformed"/, method);
    t.notMatch(await toTheEnd(twice + behind), /"ok"/, method);
  }
});

t.test('a length of more digits than numbers have is refused once', async (t) => {
  for (const length of ['9007199254740993', '18446744073709551617', '9'.repeat(40)])
    for (const line of [`POST ${WS}/search`, 'POST /agent/v1/search', 'GET /healthz']) {
      const framing = `Content-Length: ${length}\r\n\r\n`;
      const answers = await toTheEnd(`${line} HTTP/1.1\r\nHost: ${host}\r\n${bearer}${framing}{"query":"a"}`);
      t.same(answers.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 400'], `${line.slice(0, 12)}, ${length}`);
    }
});

t.test('a body announced over the limit is answered before it comes', async (t) => {
  const over = `Content-Length: ${16 * 2 ** 20 + 1}\r\n`;
  const announce = (path: string, header = '') =>
    toTheFirst(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${header}${over}\r\n{`);
  t.match(await announce(`${WS}/search`, bearer), /^HTTP\/1\.1 413 [\s\S]*"limit_bytes":16777216/);
  t.match(await announce('/mcp'), /^HTTP\/1\.1 413 /);
  for (const path of ['/agent/v1/search', '/agent/v1/ingest', '/agent/v1/workspaces'])
    t.match(await announce(path), /^HTTP\/1\.1 402 /, `${path}, unpaid`);
});

t.test('after all of it the server answers, and no play money has moved but the rent', async (t) => {
  t.equal((await fetch(`${server.url}/healthz`)).status, 200);
  t.equal((await workspace.search({ query: 'anything' })).status, 200);
});
