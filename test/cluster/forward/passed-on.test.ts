import t from 'tap';
import { FarthingError } from '../../../src/protocol/error.ts';
import { attachmentHeaders } from '../../../src/server/http/exchange/attachment.ts';
import {
  BEARER,
  FORGED,
  inWorkspace,
  JOB,
  PAYMENT,
  paidRoute,
  raw,
  startNodes,
  workspaceRoute,
} from './nodes.ts';

/** Answers to a client whose slot is at another server. */

const JOB_PATH = `/agent/v1/jobs/${JOB}`;

t.test('any server answers, as the owner of the slot would', async (t) => {
  const kept = {
    'Content-Type': 'text/plain',
    ETag: '"1"',
    Vary: 'Accept-Encoding',
    'Content-Encoding': 'br',
  };
  const { a, b } = await startNodes(t, ({ name }) => [
    workspaceRoute('POST', '/echo', async (exchange) => {
      const { method, path, query } = exchange.head;
      const body = (await exchange.body.whole(2 ** 20)).toString('utf8');
      return {
        status: 201,
        headers: { 'Preference-Applied': 'wait=1' },
        body: {
          name,
          method,
          path,
          query,
          body,
          said: exchange.header('x-said'),
        },
      };
    }),
    workspaceRoute('GET', '/kept', (exchange) => ({
      status: exchange.header('if-none-match') ? 304 : 200,
      headers: kept,
      raw: Buffer.from('zipped, say'),
    })),
    workspaceRoute('GET', '/file', () => ({
      status: 200,
      headers: attachmentHeaders({ name: 'größe 🐚.txt', media_type: 'text/plain' }),
      content: { bytes: 3, pieces: pieces('a', 'bc'), close: async () => undefined },
    })),
    workspaceRoute('GET', '/lines', () => ({
      status: 200,
      headers: { 'Content-Type': 'application/x-ndjson' },
      content: { bytes: undefined, pieces: pieces('{}\n', '[]\n'), close: async () => undefined },
    })),
    workspaceRoute('DELETE', '', () => {
      throw new FarthingError('rate_limited', 'Slow.', { retryAfterS: 17, facts: { limit: 3 } });
    }),
    {
      method: 'GET',
      path: '/agent/v1/jobs/{job_id}',
      handle: () => ({ status: 200, headers: {}, body: { name } }),
    },
  ]);
  const same = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const ids = { 'x-request-id': 'mine', origin: 'https://page.example' };
    const [direct, passed] = await Promise.all(
      [b, a].map(({ url }) => raw(url + path, { method, headers: { ...ids, ...headers }, body })),
    );
    t.same(comparable(passed!), comparable(direct!), `${method} ${path}`);
    return passed!;
  };
  const echoed = await same(
    'POST',
    inWorkspace('/echo?x=%20é&y'),
    { 'x-said': 'so', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
    'words é',
  );
  t.match(JSON.parse(echoed.body.toString()), { name: 'b', body: 'words é', said: 'so' });
  for (const method of ['GET', 'HEAD'])
    for (const path of ['/kept', '/file'])
      for (const condition of [{}, { 'if-none-match': '"1"' }] as Record<string, string>[])
        await same(method, inWorkspace(path), condition);
  await same('GET', inWorkspace('/lines'));
  await same('DELETE', inWorkspace(''));
  await same('GET', JOB_PATH);
  await same('PUT', inWorkspace('/echo'));
  const own = await raw(a.url + JOB_PATH);
  const id = own.headers[own.headers.findIndex((name) => /^x-request-id$/i.test(name)) + 1];
  t.ok(
    [a, b].every(({ answered }) => answered.some(({ requestId }) => requestId === id)),
    'one id in both logs',
  );
  t.notOk(
    echoed.headers.some((name) => /^farthing-/i.test(name)),
    'nothing internal is told',
  );
  t.same([...a.faults, ...b.faults], []);
});

t.test('what no payment or token comes with is answered by the server that has it', async (t) => {
  const { a, b } = await startNodes(t, ({ name }) => [
    paidRoute('POST', '/agent/v1/search', () => ({
      status: name === 'front' ? 402 : 200,
      headers: {},
      body: { name },
    })),
    paidRoute('GET', '/agent/v1/items/item_1/text', () => ({ status: 200, headers: { name }, body: {} })),
    workspaceRoute('GET', '/usage', () => ({ status: 200, headers: {}, body: { name } })),
    {
      method: 'GET',
      path: '/agent/v1/jobs/{job_id}',
      handle: () => ({ status: 200, headers: {}, body: { name } }),
    },
  ]);
  const ask = async (path: string, init: RequestInit = {}) => (await fetch(a.url + path, init)).json();
  t.same(await ask('/agent/v1/search', { method: 'POST' }), { name: 'front' });
  t.same(await ask('/agent/v1/search', { method: 'POST', headers: { 'x-payment': 'made up' } }), {
    name: 'front',
  });
  t.same(await ask('/agent/v1/search', { method: 'POST', headers: { 'x-payment': FORGED } }), {
    name: 'front',
  });
  t.same(await ask(inWorkspace('/usage')), { name: 'front' });
  t.same(await ask('/agent/v1/workspaces/ws_1/usage', { headers: BEARER }), { name: 'front' });
  t.same(await ask('/agent/v1/jobs/job_1'), { name: 'front' });
  const text = (method: string) =>
    fetch(`${a.url}/agent/v1/items/item_1/text`, { method, headers: { 'x-payment': PAYMENT } });
  t.equal((await text('HEAD')).headers.get('name'), 'front', 'a HEAD brings no payment');
  t.same(b.answered, []);
  t.equal((await text('GET')).headers.get('name'), 'b');
  t.same(await ask('/agent/v1/search', { method: 'POST', headers: { 'x-payment': PAYMENT } }), { name: 'b' });
  t.same(await ask(inWorkspace('/usage'), { headers: BEARER }), { name: 'b' });
  t.same(
    a.forwarded.map(({ outcome }) => outcome),
    ['answered', 'answered', 'answered'],
  );
});

t.test('a client’s headers reach the owner, but those of the connection and of servers', async (t) => {
  const { a } = await startNodes(t, () => [
    workspaceRoute('GET', '/heard', ({ head }) => ({
      status: 200,
      headers: {},
      body: { heard: [...head.headers.keys()] },
    })),
  ]);
  const headers = {
    connection: 'close, x-hop',
    'x-hop': '1',
    te: 'gzip',
    'farthing-own': '1',
    'x-said': '1',
    prefer: 'wait=1',
  };
  const { body } = await raw(a.url + inWorkspace('/heard'), { headers });
  const { heard } = JSON.parse(body.toString()) as { heard: string[] };
  t.same(heard.sort(), ['authorization', 'farthing-peer', 'host', 'prefer', 'x-request-id', 'x-said']);
});

t.test('a client cannot pass for a server', async (t) => {
  const { a, b, place } = await startNodes(t, ({ name }) => [
    workspaceRoute('GET', '/usage', () => ({ status: 200, headers: {}, body: { name } })),
  ]);
  place('b', ['a']);
  place('c', ['b', 'c']);
  const path = inWorkspace('/usage');
  const about = { method: 'GET', path, about: 'forwarded mine' };
  const headers = (header: string) => ({ ...BEARER, 'x-request-id': 'mine', 'farthing-peer': header });
  t.equal(
    (await fetch(b.url + path, { headers: headers('v1 a 1 x') })).status,
    200,
    'it is passed on as a client’s',
  );
  t.equal(
    (await fetch(b.url + path, { headers: headers(a.signatures.sign('b', about)) })).status,
    421,
    'a server’s is not',
  );
  for (const wrong of [{ method: 'POST' }, { path: inWorkspace('/file') }, { about: 'forwarded other' }])
    t.equal(
      (await fetch(b.url + path, { headers: headers(a.signatures.sign('b', { ...about, ...wrong })) }))
        .status,
      200,
    );
});

t.test('an answer that comes before the end of an upload reaches the client', async (t) => {
  const { a } = await startNodes(t, () => [
    workspaceRoute('POST', '/ingest', async (exchange) => {
      for await (const _ of exchange.body.pieces()) break;
      throw new FarthingError('tenant_full', 'The index is full.');
    }),
  ]);
  const body = Buffer.alloc(30_000_000);
  for (let time = 0; time < 3; time++) {
    const answer = await raw(a.url + inWorkspace('/ingest'), { method: 'POST', body });
    t.match([answer.status, JSON.parse(answer.body.toString())], [413, { code: 'tenant_full' }]);
  }
});

t.test('each event of a stream comes through before the next one', async (t) => {
  let next: ((text: string) => void) | undefined;
  let closed = 0;
  const { a } = await startNodes(t, () => [
    workspaceRoute('GET', '/events', () => ({
      status: 200,
      headers: {},
      events: (async function* () {
        yield { event: 'job', data: { text: 'at once' } };
        for (;;) {
          const text = await new Promise<string>((resolve) => {
            next = resolve;
          });
          yield { event: 'job', data: { text } };
          if (text === 'last') return;
        }
      })(),
      close: () => {
        closed += 1;
      },
    })),
  ]);
  const answer = await fetch(a.url + inWorkspace('/events'), { headers: BEARER });
  t.equal(answer.headers.get('content-type'), 'text/event-stream');
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  t.match((await reader.read()).value, 'at once');
  for (const text of ['first', 'second', 'last']) {
    next!(text);
    t.match((await reader.read()).value, `"text":"${text}"`);
  }
  t.equal((await reader.read()).done, true);
  t.equal(closed, 1);
});

/** Without what differs between two answers to the same request. */
function comparable({ status, reason, headers, body }: Awaited<ReturnType<typeof raw>>) {
  const pairs = headers.flatMap((name, at) => (at % 2 ? [] : [[name, headers[at + 1]!]]));
  const changing = /^(?:date|connection|keep-alive)$/i;
  const kept = pairs
    .filter(([name]) => !changing.test(name!))
    .map(([name, value]) => [name, name === 'traceparent' ? value!.replace(/-\w{16}-/, '-span-') : value]);
  const text = body.toString('latin1').replace(/"port":\d+/, '');
  return { status, reason, headers: kept.sort(), body: text };
}

async function* pieces(...all: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield Buffer.from(piece);
}
