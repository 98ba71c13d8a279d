import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { prepaidOn } from '../../../../src/payment/asset.ts';
import { PAY_TO, sign, v1Header, v2Header } from '../../../payment/rig/payments.ts';
import { tokenDomain } from '../../../rig/sign-transfer.ts';
import { startTestServer, TestAgent, type TestServer } from '../../../rig/test-server.ts';

/**
 * Many requests in one read: 16 are answered, or four with a token, then the connection ends, and nobody else is refused. Behind one
 * that is still running nothing is begun: it is answered, and says that the connection ends.
 */

const server = await startTestServer(t, { PAY_TO });
const PREPAID = prepaidOn('eip155:8453');
const { host, port } = server;
const ANSWERED_MAX = 16;
/** They come in one read. */
const MANY = 200;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip\r\n\r\n`;
const unpaid = `POST /agent/v1/search HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 13\r\n\r\n{"query":"a"}`;

/** All that comes until the server ends the connection. */
function answersTo(raw: string, to = port): Promise<string> {
  const socket = connect(to, host);
  socket.write(raw);
  return text(socket.setEncoding('latin1'));
}

/** Times that the first request may be answered before the rest has come, on a machine that does other things. */
const TRIES_MAX = 10;

/** The same for requests that come in two reads, the second while the first one is answered. */
async function answersApart(
  first: () => Promise<string> | string,
  rest: string,
  to: number,
): Promise<string> {
  for (let tries = 1; ; tries++) {
    const socket = connect(to, host);
    socket.setNoDelay(true);
    socket.write(await first(), () => setImmediate(() => socket.write(rest)));
    const answers = await text(socket.setEncoding('latin1'));
    // Its head says that it ends the connection, unless nothing was behind it yet.
    const [head = ''] = answers.split('\r\n\r\n', 1);
    if (tries === TRIES_MAX || /^Connection: close\r?$/m.test(head)) return answers;
  }
}

const count = (answers: string, sought: RegExp) => answers.match(sought)?.length ?? 0;

t.test('after 16 answers out of one read the last says so, and the connection ends', async (t) => {
  for (const [name, request, status] of [
    ['liveness', get('/healthz'), 200],
    ['an unknown path', get('/nothing'), 404],
  ] as const) {
    const answers = await answersTo(request.repeat(MANY));
    t.equal(count(answers, new RegExp(`HTTP/1.1 ${status} `, 'g')), ANSWERED_MAX, name);
    t.equal(count(answers, /HTTP\/1\.1 /g), ANSWERED_MAX, `${name}: no other answer`);
    t.equal(count(answers, /^Connection: close\r$/gm), 1, name);
    const last = answers.slice(answers.lastIndexOf('HTTP/1.1 '));
    t.match(last, /Connection: close/, `${name}: the last says so`);
  }
});

t.test('answers that are more than the connection takes at once end it earlier', async (t) => {
  for (const [name, request, status] of [
    ['an unpaid search', unpaid, 402],
    ['the description', get('/openapi.json'), 200],
  ] as const) {
    const answers = await answersTo(request.repeat(MANY));
    const answered = count(answers, new RegExp(`HTTP/1.1 ${status} `, 'g'));
    // The one behind them may run in the next turn, and is answered.
    t.ok(answered > 0 && answered <= ANSWERED_MAX + 1, `${name}: ${answered} answers`);
    t.equal(count(answers, /HTTP\/1\.1 /g), answered, `${name}: no other answer`);
  }
});

t.test('fewer leave the connection open', async (t) => {
  const socket = connect(port, host);
  t.teardown(() => socket.destroy());
  let answers = '';
  socket.setEncoding('latin1').on('data', (piece) => {
    answers += piece;
  });
  const arrive = async (number: number) => {
    while (count(answers, /HTTP\/1\.1 200/g) < number) await new Promise((next) => setImmediate(next));
  };
  socket.write(get('/healthz').repeat(7));
  await arrive(7);
  socket.write(get('/healthz').repeat(7));
  await arrive(14);
  t.notMatch(answers, /Connection: close/);
});

/** Each way to ask with each thing behind it. @returns a search of a workspace */
async function answersFirst(t: Test, server: TestServer): Promise<string> {
  const agent = new TestAgent(server.url);
  const workspace = await agent.rent();
  const { item } = (await workspace.ingest('gulls.txt', 'Gulls nest on the cliff.')).body;
  await agent.ingest('gulls.txt', 'Gulls nest on the cliff.');
  await agent.post('/agent/v1/prepaid', { usd: 1 });
  const bearer = `Authorization: Bearer ${workspace.token}\r\n`;
  const WS = `/agent/v1/workspaces/${workspace.id}`;
  const body = '{"query":"where do gulls nest"}';
  const head = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}`;
  const post = (path: string, headers: string) =>
    `${head(path, headers)}Content-Length: ${body.length}\r\n\r\n${body}`;
  const chunked = (path: string, headers: string) =>
    `${head(path, headers)}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const own = post(`${WS}/search`, bearer);
  const PAID = '/agent/v1/search';
  const paid = async () => `X-PAYMENT: ${v1Header(await sign(agent.account))}\r\n`;
  const voucher = async () => {
    const extra = { name: PREPAID.name, version: PREPAID.version, prepaid: true };
    const payload = await sign(agent.account, { domain: tokenDomain(PREPAID) });
    const header = v2Header(payload, { accepted: { asset: PREPAID.displayedAddress, extra } });
    return `PAYMENT-SIGNATURE: ${header}\r\n`;
  };
  const firsts: Record<string, () => Promise<string> | string> = {
    'a search of a workspace': () => own,
    'one in chunks': () => chunked(`${WS}/search`, bearer),
    'a paid one': async () => post(PAID, await paid()),
    'a paid one in chunks': async () => chunked(PAID, await paid()),
    'a prepaid one': async () => post(PAID, await voucher()),
    'a stored file': () => `GET ${WS}/items/${item.id}/content HTTP/1.1\r\nHost: ${host}\r\n${bearer}\r\n`,
  };
  const behind = { 'the same': own, 'a GET': get('/healthz'), 'more than is read': own.repeat(5000) };
  for (const [name, first] of Object.entries(firsts))
    for (const [follower, rest] of Object.entries(behind))
      for (const isApart of [false, true]) {
        const shown = `${name}, behind it ${follower}${isApart ? ' in another write' : ''}`;
        const answers = await (isApart
          ? answersApart(first, rest, server.port)
          : answersTo((await first()) + rest, server.port));
        t.same(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200'], `${shown}: none behind it is begun`);
        t.match(answers, /^Connection: close\r$/m, shown);
        t.match(answers, name === 'a stored file' ? /\r\n\r\nGulls nest/ : /"answered":true/, shown);
      }
  return own;
}

t.test('a request that others follow is answered, and says that the connection ends', async (t) => {
  const own = await answersFirst(t, server);
  const answers = await answersTo(get('/healthz').repeat(3) + own + own);
  const statuses = answers.match(/HTTP\/1\.1 \d+/g);
  t.same(statuses, Array(4).fill('HTTP/1.1 200'), 'what was answered before it is sent, too');
  t.match(answers.slice(answers.lastIndexOf('HTTP/1.1 ')), /^Connection: close\r$[\s\S]*"answered":true/m);
});

t.test('so it is behind front threads, where the first of all requests is such a one', async (t) => {
  const behindFronts = await startTestServer(t, { PAY_TO, FRONTS: '2' });
  await answersFirst(t, behindFronts);
  for (const path of ['/healthz', '/agents.md', '/nothing']) {
    const answers = await answersTo(get(path).repeat(8), behindFronts.port);
    t.same(answers.match(/HTTP\/1\.1 \d+/g), [`HTTP/1.1 ${path === '/nothing' ? 404 : 200}`], path);
    t.match(answers, /^Connection: close\r$/m, path);
  }
});

t.test('an answer without a body leaves its connection to the next request', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const asked = request({ host, port, agent, method, path, headers });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return { status: answer.statusCode, headers: answer.headers, reused: asked.reusedSocket };
  };
  const whole = await ask('GET', '/agents.md');
  const known = { 'If-None-Match': whole.headers.etag ?? '' };
  for (const [method, headers, status] of [
    ['HEAD', {}, 200],
    ['HEAD', known, 304],
    ['GET', known, 304],
    ['GET', {}, 200],
  ] as const) {
    t.match(await ask(method, '/agents.md', headers), {
      status,
      reused: true,
      headers: { 'content-length': whole.headers['content-length'] },
    });
  }
});
