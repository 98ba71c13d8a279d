import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { exchangeJson, type JsonReply } from '../../../src/payment/facilitator/json-http.ts';
import { listening } from '../../rig/ports.ts';

/** One exchange with a facilitator, by what its server does. */

const REQUEST = { method: 'POST', body: { a: 'é' }, deadlineMs: 60_000 } as const;

const serving = async (t: Test, answer: RequestListener) =>
  (await listening(t, createHttpServer(answer))).url;

/** Answers each connection's bytes by hand. */
const speaking = async (t: Test, speak: (socket: Socket, heard: string, connection: number) => void) => {
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    socket.on('error', () => undefined);
    socket.on('data', (piece) => speak(socket, piece.toString('latin1'), connection));
  });
  return (await listening(t, server)).url;
};

/** A connection is taken again in a later turn of the event loop than its last answer's. */
const turn = () => new Promise(setImmediate);

const headerOf = (reply: JsonReply, name: string) =>
  reply.kind === 'reply' ? reply.header(name) : undefined;

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

t.test('JSON goes out and comes back over one connection that is kept', async (t) => {
  const ports = new Set<number | undefined>();
  const url = await serving(t, async (request, response) => {
    ports.add(request.socket.remotePort);
    const sent = (await request.toArray()).join('');
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, sent, headers }));
  });
  for (let time = 0; time < 3; time++) {
    const reply = await exchangeJson(`${url}/verify?x=1`, {
      ...REQUEST,
      headers: { authorization: 'Bearer secret' },
    });
    t.match(reply, {
      kind: 'reply',
      status: 200,
      body: {
        method: 'POST',
        url: '/verify?x=1',
        sent: '{"a":"é"}',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'content-length': '10',
          authorization: 'Bearer secret',
        },
      },
    });
    await turn();
  }
  t.equal(ports.size, 1);
});

t.test('a user in the address is told to the server, unless a header tells another', async (t) => {
  const url = await serving(t, ({ headers }, response) => response.end(JSON.stringify(headers)));
  const named = url.replace('//', '//us%2Fer:pass%3A@');
  const basic = `Basic ${Buffer.from('us/er:pass:').toString('base64')}`;
  const get = { method: 'GET', deadlineMs: 60_000 } as const;
  t.match(await exchangeJson(named, get), { body: { authorization: basic } });
  t.match(await exchangeJson(named, { ...get, headers: { authorization: 'Bearer x' } }), {
    body: { authorization: 'Bearer x' },
  });
});

t.test('status, Retry-After and a body that is no JSON are told', async (t) => {
  const url = await serving(t, (_, response) => {
    response.writeHead(429, { 'Retry-After': '7' }).end('slow down');
  });
  const reply = await exchangeJson(url, REQUEST);
  t.match(reply, { kind: 'reply', status: 429, body: undefined });
  t.same([headerOf(reply, 'retry-after'), headerOf(reply, 'location')], ['7', undefined]);
});

t.test('an interim answer is not the answer', async (t) => {
  const url = await speaking(t, (socket) =>
    socket.write(`HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n${OK}`),
  );
  const reply = await exchangeJson(url, REQUEST);
  t.match(reply, { kind: 'reply', status: 200, body: {} });
  t.equal(headerOf(reply, 'retry-after'), undefined);
});

t.test('a redirect is an answer, and followed nowhere', async (t) => {
  let asked = 0;
  const url = await serving(t, (_, response) => {
    asked++;
    response.writeHead(307, { location: '/elsewhere' }).end('{}');
  });
  t.match(await exchangeJson(url, REQUEST), { kind: 'reply', status: 307 });
  t.equal(asked, 1);
});

t.test('of an answer over the limit only the status is taken, and its connection ends', async (t) => {
  const ended = Promise.withResolvers<void>();
  const url = await speaking(t, (socket) => {
    socket.on('close', () => ended.resolve());
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{"a": "');
    socket.write('x'.repeat(5000));
  });
  t.match(await exchangeJson(url, { ...REQUEST, replyBytesMax: 4096 }), {
    kind: 'reply',
    status: 200,
    body: undefined,
  });
  await ended.promise;
});

t.test('an answer that ends early, or is no HTTP, is lost', async (t) => {
  for (const told of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{', 'SSH-2.0-x\r\n\r\n']) {
    const url = await speaking(t, (socket) => socket.end(told));
    t.match(await exchangeJson(url, REQUEST), { kind: 'lost' }, JSON.stringify(told));
  }
});

t.test('an answer that does not come in time is lost, and its connection ends', async (t) => {
  const ended = Promise.withResolvers<void>();
  const url = await speaking(t, (socket) => socket.on('close', () => ended.resolve()));
  t.same(await exchangeJson(url, { ...REQUEST, deadlineMs: 50 }), {
    kind: 'lost',
    detail: 'no answer within 50 ms',
  });
  await ended.promise;
});

t.test('nobody listens: the request was certainly not sent', async (t) => {
  const server = createServer();
  const { url } = await listening(t, server);
  server.close();
  await once(server, 'close');
  t.same(await exchangeJson(url, REQUEST), { kind: 'not_sent', detail: 'ECONNREFUSED' });
  for (const wrong of ['no address', 'ftp://127.0.0.1/', 'http://127.0.0.1:1/a b\u0000'])
    t.match(await exchangeJson(wrong, REQUEST), { kind: 'not_sent' }, wrong);
});

t.test('a TLS handshake that fails comes before the request: it was certainly not sent', async (t) => {
  const url = await speaking(t, (socket) => socket.destroy());
  t.match(await exchangeJson(url.replace('http:', 'https:'), REQUEST), { kind: 'not_sent' });
});

t.test('a kept connection that the server closed is not used again', async (t) => {
  const closed = Promise.withResolvers<void>();
  const url = await speaking(t, (socket, _, connection) => {
    if (connection === 1) socket.on('close', () => closed.resolve());
    if (connection === 1) socket.end(OK);
    else socket.write(OK);
  });
  t.match(await exchangeJson(url, REQUEST), { kind: 'reply', status: 200 });
  await closed.promise;
  t.match(await exchangeJson(url, REQUEST), { kind: 'reply', status: 200 });
});

t.test('a request on a kept connection that breaks is lost, and sent nowhere else', async (t) => {
  const heard: string[] = [];
  const url = await speaking(t, (socket, request, connection) => {
    heard.push(`${connection} ${request.split('\r\n')[0]}`);
    if (heard.length === 1) socket.write(OK);
    else socket.destroy();
  });
  t.match(await exchangeJson(`${url}/verify`, REQUEST), { kind: 'reply', status: 200 });
  await turn();
  t.match(await exchangeJson(`${url}/settle`, REQUEST), { kind: 'lost' });
  t.match(await exchangeJson(`${url}/supported`, REQUEST), { kind: 'lost' });
  t.same(heard, ['1 POST /verify HTTP/1.1', '1 POST /settle HTTP/1.1', '2 POST /supported HTTP/1.1']);
});
