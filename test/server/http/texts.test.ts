import { connect } from 'node:net';
import { text as allOf } from 'node:stream/consumers';
import { strToU8, zipSync } from 'fflate';
import t from 'tap';
import { deep } from '../../rig/deep.ts';
import { Random } from '../../rig/random.ts';
import { startTestServer, TestAgent, type TestAnswer } from '../../rig/test-server.ts';

/**
 * Texts that are none, at every door: halves of surrogate pairs, bytes that are no UTF-8, characters that nobody sees. FUZZ_SECONDS sets
 * the duration; FUZZ_SEED repeats a run.
 */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? deep(4, 60));
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);

const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const workspace = await agent.rent({ ttl_minutes: 15 + Math.ceil(SECONDS / 60) });
const bearer = `Authorization: Bearer ${workspace.token}\r\n`;
const WS = `/agent/v1/workspaces/${workspace.id}`;
const HALF = '\ud800';

const refused = { status: 400, body: { code: 'field_invalid', charged: false } };
type Parts = readonly (readonly [head: string, content: string | Uint8Array])[];

function multipart(parts: Parts): Buffer {
  const written = parts.flatMap(([head, content]) => [
    Buffer.from(`--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...written, Buffer.from('--b--\r\n')]);
}

async function post(path: string, body: Uint8Array | string, headers = ''): Promise<TestAnswer> {
  const bytes = Buffer.from(body as string);
  const socket = connect(server.port, server.host);
  socket.on('error', () => undefined);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`;
  socket.write(Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
  socket.on('data', (piece) => {
    const length = /content-length: (\d+)/i.exec(piece.toString('latin1'))?.[1];
    if (length !== undefined) socket.end();
  });
  const answer = await allOf(socket).catch(() => '');
  const at = answer.indexOf('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
  const json = answer.slice(at + 4);
  return { status, headers: new Headers(), body: json.startsWith('{') ? JSON.parse(json) : undefined };
}

const upload = (parts: Parts, headers = '') =>
  post(
    `${WS}/ingest`,
    multipart(parts),
    `${bearer}Prefer: wait=60\r\n${headers}Content-Type: multipart/form-data; boundary=b\r\n`,
  );
const file = (content: string | Uint8Array, name = 'a.txt') =>
  [`name="file"; filename="${name}"`, content] as const;
const call = (name: string, given: string) =>
  post(
    `/mcp?workspace=${workspace.id}`,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`,
    `${bearer}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n`,
  );

t.test('half of a surrogate pair is refused at every door, by the name of its field', async (t) => {
  const half = JSON.stringify(HALF);
  for (const [field, body] of [
    ['query', `{"query":${half}}`],
    ['queries', `{"queries":["gulls",{"query":${half}}]}`],
    ['families', `{"query":"gulls","families":[${half}]}`],
    ['\ufffd', `{"query":"gulls",${half}:1}`],
    ...['items', 'media_type', 'name', 'key'].map((name) => ['filter', filter(`{"${name}":[${half}]}`)]),
    ...[half, `[${half}]`, `{"gt":${half}}`].map((each) => ['filter', filter(`{"metadata":{"a":${each}}}`)]),
    ['filter', filter(`{"metadata":{${half}:1}}`)],
    ['filter', filter(`{"not":{"or":[{"name":${half}}]}}`)],
  ] as const)
    t.match(await post(`${WS}/search`, body!, bearer), { ...refused, body: { field } }, body);
  for (const metadata of [`{"a":${half}}`, `{${half}:"a"}`]) {
    t.match(await upload([file('Words.'), ['name="metadata"', metadata]]), refused, metadata);
    const headers = `${bearer}Item-Metadata: ${metadata}\r\n`;
    t.match(await post(`${WS}/ingest`, 'Words.', headers), refused, `${metadata}, in a header`);
    t.match(
      await call('ingest', `{"text":"Words.","metadata":${metadata}}`),
      toolFault,
      `${metadata}, over MCP`,
    );
  }
  const utf16 = 'name="key"\r\nContent-Type: text/plain; charset=utf-16le';
  t.match(await upload([file('Words.'), [utf16, Buffer.from(HALF, 'utf16le')]]), refused, 'a key in UTF-16');
  t.match(await post(`${WS}/ingest`, 'Words.', `${bearer}Item-Key: %ED%A0%80\r\n`), refused);
  for (const given of [`{"text":"Words.","key":${half}}`, `{"text":"Words.","name":${half}}`])
    t.match(await call('ingest', given), toolFault, given);
  t.match(await call('search', `{"query":${half}}`), toolFault);
  t.match((await workspace.send('GET', '/items')).body, { items: [] }, 'nothing was stored');

  function filter(json: string): string {
    return `{"query":"gulls","filter":${json}}`;
  }
});
const toolFault = {
  status: 200,
  body: { result: { structuredContent: { error: { code: 'field_invalid' } } } },
};

t.test('keys and names of metadata that look alike cannot differ in what nobody sees', async (t) => {
  for (const unseen of ['\u202e', '\u{e0041}', '\u200b', '\ufeff', '\u0007', '\u2028', '\n', '\ufffd']) {
    const [shown, name] = [`U+${unseen.codePointAt(0)!.toString(16)}`, `a${unseen}`];
    t.match(await upload([file('Words.'), ['name="key"', name]]), refused, `key ${shown}`);
    const header = `${bearer}Item-Key: ${encodeURIComponent(name)}\r\n`;
    t.match(await post(`${WS}/ingest`, 'Words.', header), refused, `key ${shown}, in a header`);
    const metadata = JSON.stringify({ [name]: 1 });
    t.match(await upload([file('Words.'), ['name="metadata"', metadata]]), refused, `metadata ${shown}`);
    for (const filter of [{ key: name }, { name: [name] }, { metadata: { [name]: 1 } }])
      t.match(
        await workspace.search({ query: 'gulls', filter }),
        refused,
        `filter ${Object.keys(filter)[0]!} ${shown}`,
      );
  }
  const latin1 = ['gr\xf6\xdfe', 'gr\xfc\xdfe'].map((key) => Buffer.from(key, 'latin1'));
  for (const key of latin1)
    t.match(await upload([file('Words.'), ['name="key"', key]]), refused, 'two keys in Latin-1 are not one');
  const { body } = await upload([file('Gulls.', 'a\u202etxt.exe\u{e0041}')]);
  t.equal(body.item.name, 'atxt.exe', 'a name is shown without them');
});

t.test('a name that is cut is cut between characters', async (t) => {
  const long = `${'a'.repeat(254)}😀`;
  const { body } = await upload([file('Terns nest on the cliff.', long)]);
  t.match(body, { item: { name: 'a'.repeat(254), state: 'searchable' } });
  const member = `${'b'.repeat(1100)}😀${'c'.repeat(1023)}`;
  const archive = await upload([
    file(zipSync({ [member]: strToU8('Puffins dive for sand eels.') }), 'a.zip'),
  ]);
  t.match(archive.body, { job: { state: 'searchable' } });
  t.match((await workspace.search({ query: 'puffins dive' })).body, { answered: true });
});

const PIECES = [
  ...['\ud800', '\udfff', '\ud83d', '😀', '\u0000', '\u0007', '\u001b[31m', '\u202e', '\u{e0041}', '\ufeff'],
  ...['\ufffd', '\uffff', '\u2028', '\u200d', '\u0301', 'ß', 'ﬃ', 'İ', '  ', '\n', '"', '\\', '\\ud800', "'"],
  ...['*', '?', '%', '/', '../', 'gulls', 'terns ', '𝒜', 'ก', 'אב', '日本'],
];
const LENGTHS = [1, 1, 2, 3, 5, 64, 65, 255, 256, 512, 513, 1024, 4096];

t.test(
  `nothing that is sent is a fault of the server or damages the index (FUZZ_SEED=${SEED})`,
  async (t) => {
    const random = new Random(SEED);
    const oneOf = <T>(values: readonly T[]): T => values[random.below(values.length)]!;
    const word = (): string => {
      const length = oneOf(LENGTHS);
      let word = random.below(2) === 0 ? 'a'.repeat(Math.max(0, length - 1 - random.below(3))) : '';
      while (word.length < length) word += oneOf(PIECES);
      return word;
    };
    /** For a request's head, which has room for 16 kB. */
    const short = (): string => word().slice(0, 300).toWellFormed();
    const value = (): unknown =>
      oneOf<() => unknown>([word, word, () => [word(), word()], () => 1e308, () => null])();
    const json = (): string => JSON.stringify(word());
    const bytes = (): Buffer => oneOf([() => Buffer.from(word()), () => Buffer.from(word(), 'latin1')])();
    const filter = (): object =>
      oneOf<() => object>([
        () => ({ [oneOf(['items', 'name', 'key', 'media_type', 'created_after', word()])]: value() }),
        () => ({
          metadata: {
            [word().slice(0, 70)]: oneOf([value, () => ({ [oneOf(['gt', 'eq', 'in'])]: value() })])(),
          },
        }),
        () => ({ [oneOf(['and', 'or'])]: [filter()] }),
        () => ({ not: filter() }),
      ])();
    const labels = (): Parts => [
      ...(random.below(4) === 0 ? [['name="key"', bytes()] as const] : []),
      ...(random.below(4) === 0 ? [[`name="metadata"`, `{${json()}:${json()}}`] as const] : []),
    ];
    const contents: readonly (() => string | Uint8Array)[] = [
      word,
      () => `{${json()}:${json()}}`,
      () => `<html><title>${word()}&#xD800;</title><h1>&#55357;${word()}</h1>${word()}</html>`,
      () => `# ${word()}\n\n${word()}`,
      () => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`${word()} ${word()}`, 'utf16le')]),
      () => `${word()},${word()}\n${word()},${word()}`,
      () => zipSync({ [word()]: strToU8(word()), [`${word()}.txt`]: strToU8(word()) }),
      () => `Subject: ${word()}\nFrom: ${word()}\nMIME-Version: 1.0\n\n${word()}`,
      () => `{\\rtf1 {\\info{\\title \\u-10240?${word()}}}\\u-10240?${word()}}`,
      () => `BEGIN:VCARD\nFN:${word()}\nNOTE:${word()}\nEND:VCARD`,
      () => bytes(),
    ];
    const doors: Readonly<Record<string, () => Promise<TestAnswer>>> = {
      query: () => post(`${WS}/search`, JSON.stringify({ query: word(), explain: true }), bearer),
      'raw bytes': () =>
        post(`${WS}/search`, Buffer.concat([Buffer.from('{"query":"'), bytes(), Buffer.from('"}')]), bearer),
      queries: () =>
        post(
          `${WS}/search`,
          JSON.stringify({ queries: [word(), { query: word(), filter: filter() }] }),
          bearer,
        ),
      filter: () =>
        post(`${WS}/search`, JSON.stringify({ query: 'gulls', filter: filter(), [word()]: value() }), bearer),
      upload: () => upload([file(oneOf(contents)(), word().replaceAll(/["\r\n]/g, '')), ...labels()]),
      'raw upload': () =>
        post(
          `${WS}/ingest`,
          oneOf(contents)(),
          `${bearer}Prefer: wait=60\r\n${random.below(2) === 0 ? `Item-Key: ${encodeURIComponent(short())}\r\n` : ''}Item-Metadata: {${json().replaceAll(/[^ -~]/g, '?')}:1}\r\nContent-Disposition: attachment; filename="${bytes()
            .toString('latin1')
            .replaceAll(/[^ -~¡-ÿ]/g, '')}"\r\n`,
        ),
      'a tool': () =>
        call(
          oneOf(['search', 'ingest']),
          JSON.stringify({ query: word(), text: word(), key: word(), name: word() }),
        ),
      'a tool’s filter': () => call('search', JSON.stringify({ query: word(), filter: filter() })),
      'query string': () =>
        workspace.send(
          'GET',
          `/items?${new URLSearchParams({ after: short(), parent: short(), limit: short() })}`,
        ),
      path: () =>
        workspace.send(
          'GET',
          `/items/${encodeURIComponent(short())}/text?from=${encodeURIComponent(short())}`,
        ),
      payment: () =>
        post(
          '/agent/v1/workspaces',
          JSON.stringify({ ttl_minutes: value(), [word()]: word() }),
          `X-PAYMENT: ${Buffer.from(JSON.stringify({ x402Version: 1, scheme: word(), network: word(), payload: { [word()]: word() } }).slice(0, 8000)).toString('base64')}\r\nIdempotency-Key: ${json()
            .replaceAll(/[^!-~]/g, '?')
            .slice(0, 300)}\r\n`,
        ),
    };
    const statuses = new Map<string, number>();
    const end = performance.now() + SECONDS * 1000;
    for (let count = 0; count === 0 || performance.now() < end; count++) {
      const [door, ask] = oneOf(Object.entries(doors));
      const { status, body } = await ask();
      const code = body?.job?.error?.code ?? body?.code ?? body?.result?.structuredContent?.error?.code;
      const kind = `${door}: ${status}${code === undefined ? '' : ` ${code}`}`;
      statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
      const isFault =
        status === 0 ||
        (status >= 500 && code !== 'overloaded') ||
        /internal|corrupt$|^failed/.test(String(code));
      if (isFault && !/^file_corrupt$/.test(String(code)))
        t.fail(`${kind}, request ${count}: ${JSON.stringify(body)}`);
    }
    t.comment(JSON.stringify(Object.fromEntries([...statuses].toSorted())));
    t.match(await workspace.send('GET', '/items?limit=200'), { status: 200 });
    t.match(await workspace.search({ query: 'gulls terns' }), { status: 200 });
  },
);
