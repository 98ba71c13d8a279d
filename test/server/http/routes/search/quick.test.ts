import { request as ask } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { Search } from '../../../../../src/engine/search/search.ts';
import { eventually } from '../../../../rig/eventually.ts';
import { startTestServer, TestAgent, type TestWorkspace } from '../../../../rig/test-server.ts';

/**
 * The short way of a workspace's searches, beside the general one: a caller cannot tell which has answered. A header that searches do not
 * look at (`Idempotency-Key`) keeps a request out of the short way.
 */

const METRICS_PORT = '0';
const server = await startTestServer(t, { METRICS_PORT, TENANT_REQUESTS_PER_SECOND: '1000' });
const agent = new TestAgent(server.url);
const workspace = await agent.rent();
const other = await agent.rent();
for (const [name, text] of [
  ['gulls.md', '# Gulls\n\nThe lighthouse keeper counts gulls at dawn.\n\n## Terns\n\nTerns come in May.'],
  ['tides.txt', 'Tides follow the moon. "High water" is at nine.'],
  ['bread.txt', 'Knead the dough for ten minutes and let it rise twice.'],
] as const)
  await workspace.ingest(name, text);

/** Searches that have begun in the short way of this thread. With fronts these are theirs. */
let quick = 0;
const IS_SEEN = (process.env.FRONTS ?? '1') === '1';
const { begin } = Search.prototype;
Search.prototype.begin = function counting(...asked) {
  const giveUp = begin.apply(this, asked);
  quick += Number(giveUp !== undefined);
  return giveUp;
};

interface Raw {
  readonly status: number;
  readonly names: readonly string[];
  readonly headers: Record<string, unknown>;
  readonly text: string;
}

function send(
  of: Pick<TestWorkspace, 'id' | 'token'>,
  body: string,
  headers: Record<string, string> = {},
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const all = { 'Content-Length': Buffer.byteLength(body), ...headers };
    const authorization = { Authorization: `Bearer ${of.token}` };
    const sent = ask(`${server.url}/agent/v1/workspaces/${of.id}/search`, {
      method: 'POST',
      headers: { ...authorization, ...all },
    });
    sent.on('error', reject);
    sent.on('response', async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      const names = answer.rawHeaders.filter((_, at) => at % 2 === 0);
      resolve({
        status: answer.statusCode!,
        names,
        headers: answer.headers,
        text: Buffer.concat(chunks).toString(),
      });
    });
    sent.end(body);
  });
}

/** A search of the workspace, as it is on the wire. */
const requestOf = (body: string) =>
  [
    `POST /agent/v1/workspaces/${workspace.id}/search HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${workspace.token}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');

const GENERAL = { 'Idempotency-Key': 'general' };
const TIMES = /"(latency_ms|encode_ms|scan_ms|fuse_ms|total_ms|waited_ms|ran_ms)":[\d.]+|"request_id":"\w+"/g;
/** All but times and ids. */
const shown = ({ status, names, headers, text }: Raw) => {
  const { date: _, 'x-request-id': __, 'content-length': ___, ...rest } = headers;
  const seconds = Math.round(Number(rest['x-workspace-ttl-seconds']) / 10);
  return { status, names, ...rest, 'x-workspace-ttl-seconds': seconds, text: text.replace(TIMES, '"$1"') };
};

const QUICK = [
  { query: 'who counts gulls at dawn?' },
  { query: 'gulls', k: 1 },
  { query: 'tides', families: ['raw'] },
  { query: 'dough', families: ['text_semantic', 'raw'], k: 2, exact: true },
  { query: 'zxqv blorp', min_confidence: 1 },
  { query: 'zxqv', families: ['raw'] },
  { query: 'lighthose keepr', families: ['raw'] },
  { query: 'terns in May', passages: 1, max_chars: 200 },
  { query: '  Möwen zählen \u{1f426} ', min_confidence: 0.000001, explain: false },
  { query: 'gulls', k: null, families: null },
];
const ELSE = [
  {},
  { query: ' ' },
  { query: 7 },
  { query: 'gulls', k: 0 },
  { query: 'gulls', k: 1.5 },
  { query: 'gulls', K: 5 },
  { query: 'gulls', families: [] },
  { query: 'gulls', families: ['words'] },
  { query: '"high water"', families: ['raw'] },
  { query: 'gulls', explain: true },
  { query: 'gulls', filter: { name: '*.md' } },
  { query: 'gulls', where: 'x' },
  { queries: ['gulls', 'tides'] },
  { query: 'x'.repeat(9000) },
  [],
];
const BROKEN = [
  '{"query":"gulls"',
  '\ufeff{"query":"gulls"}',
  '{"query":"\\ud800"}',
  '{"query":"a","query":"gulls"}',
  '',
];

t.before(async () => {
  // A token is known once it has opened its workspace.
  await send(workspace, '{"query":"first"}', GENERAL);
  await send(other, '{"query":"first"}', GENERAL);
});

t.test('answers the same in either way', async (t) => {
  for (const body of [...QUICK, ...ELSE].map((sent) => JSON.stringify(sent)).concat(BROKEN)) {
    const before = quick;
    const inShort = await send(workspace, body, { Origin: 'https://a.example' });
    const took = quick - before;
    const isSimple = QUICK.some((sent) => JSON.stringify(sent) === body) || body === BROKEN[3];
    t.equal(
      took,
      Number(IS_SEEN && isSimple),
      `${body.slice(0, 80)} goes ${isSimple ? 'the short' : 'the general'} way`,
    );
    const general = await send(workspace, body, { Origin: 'https://a.example', ...GENERAL });
    t.equal(quick, before + took, 'the header keeps it out');
    t.same(shown(inShort), shown(general), body.slice(0, 80));
  }
  t.same(
    shown(await send(other, '{"query":"gulls"}')),
    shown(await send(other, '{"query":"gulls"}', GENERAL)),
  );
});

t.test('counts the same in either way', async (t) => {
  const counted = async (headers: Record<string, string>) => {
    const before = await counts();
    const { body: was } = await workspace.send('GET', '/usage');
    for (const body of QUICK) await send(workspace, JSON.stringify(body), headers);
    const { body: now } = await workspace.send('GET', '/usage');
    const after = await counts();
    const history = await workspace.send('GET', `/history?limit=${QUICK.length}`);
    return {
      metrics: Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]),
      searches: now.searches - was.searches,
      history: history.body.entries.map(
        ({ at: _, latency_ms: __, ...entry }: Record<string, unknown>) => entry,
      ),
    };
  };
  const inShort = await counted({});
  t.same(inShort, await counted(GENERAL));
  t.equal(inShort.searches, QUICK.length);
});

/** Counters of searches and requests; of histograms, how many were observed. */
async function counts(): Promise<Record<string, number>> {
  const text = await (await fetch(server.running.metricsUrl!)).text();
  const lines = text.split('\n').filter((line) => /^farthing_(search|requests|encoder_\w+_count)/.test(line));
  const stable = lines.filter(
    (line) => !/_(bucket|sum)\b/.test(line) || /rows_(scanned|rescored)|index_segments/.test(line),
  );
  return Object.fromEntries(
    stable
      .filter((line) => line.includes('search'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

t.test('a request id of the client is kept', async (t) => {
  const { headers } = await send(workspace, '{"query":"gulls"}', { 'X-Request-Id': 'mine-1' });
  t.equal(headers['x-request-id'], 'mine-1');
});

t.test('a body in pieces and bodies that come later are answered', async (t) => {
  const text = '{"query":"who counts gulls at dawn?"}';
  const head = requestOf(text).slice(0, -text.length);
  for (const pieces of [
    [head, text],
    [head, text.slice(0, 9), text.slice(9)],
    [head + text.slice(0, 5), text.slice(5)],
  ]) {
    const socket = connect(server.port, '127.0.0.1').setNoDelay();
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise(setImmediate);
    }
    await eventually(() => answer.includes('"charged":false}'));
    t.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    socket.destroy();
  }
});

t.test('many at a time are answered, each with its own', async (t) => {
  const words = ['gulls', 'tides', 'dough', 'terns'];
  const alone = new Map<string, unknown>();
  for (const query of words) alone.set(query, shown(await send(workspace, JSON.stringify({ query }))).text);
  const asked = Array.from({ length: 200 }, (_, at) => words[at % words.length]!);
  const answers = await Promise.all(asked.map((query) => send(workspace, JSON.stringify({ query }))));
  for (const [at, answer] of answers.entries())
    if (answer.status === 200) t.equal(shown(answer).text, alone.get(asked[at]!));
    else t.match(answer.text, /"code":"(rate_limited|overloaded)"/);
});

t.test('who leaves before the answer leaves no place taken', async (t) => {
  for (let n = 0; n < 80; n++) {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(requestOf(`{"query":"gulls ${n}"}`));
    await new Promise(setImmediate);
    socket.destroy();
  }
  const { status } = await send(workspace, '{"query":"gulls"}');
  t.equal(status, 200);
});

t.test('a workspace that has ended opens no more, at once', async (t) => {
  const ended = await agent.rent();
  await ended.ingest('gulls.txt', 'Gulls.');
  const before = quick;
  t.equal((await send(ended, '{"query":"gulls"}', GENERAL)).status, 200);
  t.equal((await send(ended, '{"query":"gulls"}')).status, 200);
  t.equal(quick, before + Number(IS_SEEN));
  const wrong = { id: ended.id, token: workspace.token };
  t.equal((await send(wrong, '{"query":"gulls"}')).status, 401);
  await ended.send('DELETE', '');
  const [short, general] = [
    await send(ended, '{"query":"gulls"}'),
    await send(ended, '{"query":"gulls"}', GENERAL),
  ];
  t.equal(short.status, 401);
  t.same(shown(short), shown(general));
  t.equal(quick, before + Number(IS_SEEN));
});
