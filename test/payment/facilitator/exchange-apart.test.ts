import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { exchangeApart } from '../../../src/payment/facilitator/exchange-apart.ts';
import { listening } from '../../rig/ports.ts';

/** One exchange with a facilitator, by what its server does. */

const REQUEST = { method: 'POST', body: { a: 'é' }, deadlineMs: 60_000 } as const;

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

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

t.test('of an answer over the limit only the status is taken, and its connection ends', async (t) => {
  const ended = Promise.withResolvers<void>();
  const url = await speaking(t, (socket) => {
    socket.on('close', () => ended.resolve());
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{"a": "');
    socket.write('x'.repeat(5000));
  });
  t.match(await exchangeApart(url, { ...REQUEST, replyBytesMax: 4096 }), {
    kind: 'reply',
    status: 200,
    body: undefined,
  });
  await ended.promise;
});

t.test('an answer that ends early, or is no HTTP, is lost', async (t) => {
  for (const told of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{', 'SSH-2.0-x\r\n\r\n']) {
    const url = await speaking(t, (socket) => socket.end(told));
    t.match(await exchangeApart(url, REQUEST), { kind: 'lost' }, JSON.stringify(told));
  }
});

t.test('an answer that does not come in time is lost, and its connection ends', async (t) => {
  const ended = Promise.withResolvers<void>();
  const url = await speaking(t, (socket) => socket.on('close', () => ended.resolve()));
  t.same(await exchangeApart(url, { ...REQUEST, deadlineMs: 50 }), {
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
  t.same(await exchangeApart(url, REQUEST), { kind: 'not_sent', detail: 'ECONNREFUSED' });
  for (const wrong of ['no address', 'ftp://127.0.0.1/', 'http://127.0.0.1:1/a b\u0000'])
    t.match(await exchangeApart(wrong, REQUEST), { kind: 'not_sent' }, wrong);
});

t.test('a TLS handshake that fails comes before the request: it was certainly not sent', async (t) => {
  const url = await speaking(t, (socket) => socket.destroy());
  t.match(await exchangeApart(url.replace('http:', 'https:'), REQUEST), { kind: 'not_sent' });
});

t.test('a kept connection that the server closed is not used again', async (t) => {
  const closed = Promise.withResolvers<void>();
  const url = await speaking(t, (socket, _, connection) => {
    if (connection === 1) socket.on('close', () => closed.resolve());
    if (connection === 1) socket.end(OK);
    else socket.write(OK);
  });
  t.match(await exchangeApart(url, REQUEST), { kind: 'reply', status: 200 });
  await closed.promise;
  t.match(await exchangeApart(url, REQUEST), { kind: 'reply', status: 200 });
});

t.test('a request on a kept connection that breaks is lost, and sent nowhere else', async (t) => {
  const heard: string[] = [];
  const url = await speaking(t, (socket, request, connection) => {
    heard.push(`${connection} ${request.split('\r\n')[0]}`);
    if (heard.length === 1) socket.write(OK);
    else socket.destroy();
  });
  t.match(await exchangeApart(`${url}/verify`, REQUEST), { kind: 'reply', status: 200 });
  await turn();
  t.match(await exchangeApart(`${url}/settle`, REQUEST), { kind: 'lost' });
  t.match(await exchangeApart(`${url}/supported`, REQUEST), { kind: 'lost' });
  t.same(heard, ['1 POST /verify HTTP/1.1', '1 POST /settle HTTP/1.1', '2 POST /supported HTTP/1.1']);
});
