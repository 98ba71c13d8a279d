import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { startTestServer } from '../../../rig/test-server.ts';

/** Many requests in one read: 16 are answered, or four with a token, then the connection ends, and nobody else is refused. */

const server = await startTestServer(t);
const { host, port } = server;
const ANSWERED_MAX = 16;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip\r\n\r\n`;
const unpaid = `POST /agent/v1/search HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 13\r\n\r\n{"query":"a"}`;

/** All that comes until the server ends the connection. */
function answersTo(raw: string): Promise<string> {
  const socket = connect(port, host);
  socket.write(raw);
  return text(socket.setEncoding('latin1'));
}

const count = (answers: string, sought: RegExp) => answers.match(sought)?.length ?? 0;

t.test('after 16 answers out of one read the last says so, and the connection ends', async (t) => {
  for (const [name, request, status] of [
    ['liveness', get('/healthz'), 200],
    ['an unknown path', get('/nothing'), 404],
  ] as const) {
    const answers = await answersTo(request.repeat(1000));
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
    const answers = await answersTo(request.repeat(1000));
    const answered = count(answers, new RegExp(`HTTP/1.1 ${status} `, 'g'));
    t.ok(answered > 0 && answered <= ANSWERED_MAX, `${name}: ${answered} answers`);
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
