import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Cors } from '../../../../src/server/http/exchange/cors.ts';
import { listen } from '../../../../src/server/http/exchange/server.ts';
import { eventually } from '../../../rig/eventually.ts';

/** Answers that nobody reads: one waits for each connection, within a budget, and nothing behind it is served. */

const MEBIBYTE = 2 ** 20;
/** More than the kernel takes for a connection. */
const ANSWER_BYTES = 8 * MEBIBYTE;
/** A third of the budget of all. */
const UNPAID_BYTES = 21 * MEBIBYTE;
const ASSET = Buffer.alloc(ANSWER_BYTES, 'a');

/** A server that counts handled requests by path. */
async function serve(
  t: Test,
): Promise<{ port: number; handled: Record<string, number>; left: () => number }> {
  const handled: Record<string, number> = {};
  let left = 0;
  const count = (path: string) => {
    handled[path] = (handled[path] ?? 0) + 1;
  };
  const delivered = (whole: boolean) => {
    if (!whole) left += 1;
  };
  const route = (path: string, raw: () => Buffer) => ({
    method: 'GET' as const,
    path,
    handle: () => {
      count(path);
      return { status: 200, headers: {}, raw: raw(), delivered };
    },
  });
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    cors: new Cors([]),
    routes: [
      route('/own', () => Buffer.alloc(ANSWER_BYTES, 'a')),
      route('/shared', () => ASSET),
      route('/small', () => Buffer.from('small')),
      {
        method: 'GET',
        path: '/json',
        handle: () => {
          count('/json');
          return { status: 200, headers: {}, body: { text: 'j'.repeat(ANSWER_BYTES) }, delivered };
        },
      },
    ],
    onAnswered: () => undefined,
    onFault: (error) => t.fail(String(error)),
  });
  t.teardown(() => server.close());
  return { port: server.port, handled, left: () => left };
}

const get = (path: string, headers = '', method = 'GET') =>
  `${method} ${path} HTTP/1.1\r\nHost: here\r\n${headers}\r\n`;

/** A connection that reads nothing until it is told to. */
async function unread(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

t.test('an answer arrives whole however late it is read, and its connection serves on', async (t) => {
  const { port, handled } = await serve(t);
  for (const path of ['/own', '/shared', '/json']) {
    const socket = await unread(t, port);
    socket.write(get(path));
    await eventually(() => handled[path] === 1);
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    let received = '';
    socket.setEncoding('latin1').on('data', (piece) => {
      received += piece;
    });
    socket.resume();
    await eventually(() => received.length > ANSWER_BYTES);
    const length = Number(/Content-Length: (\d+)/.exec(received)?.[1]);
    await eventually(() => received.length >= received.indexOf('\r\n\r\n') + 4 + length);
    received = '';
    socket.write(get('/small'));
    await eventually(() => received.endsWith('small'));
    socket.destroy();
  }
});

t.test('nothing is served behind an answer that is not read', async (t) => {
  const { port, handled, left } = await serve(t);
  for (const path of ['/own', '/json']) {
    const socket = await unread(t, port);
    socket.write(get(path) + get('/small').repeat(10));
    socket.resume();
    await once(socket, 'close');
  }
  await eventually(() => left() === 2);
  t.notOk(handled['/small'], 'in the same read');
  const later = await unread(t, port);
  later.write(get('/own'));
  await eventually(() => handled['/own'] === 2);
  later.write(get('/small'));
  await eventually(() => left() === 3);
  t.notOk(handled['/small'], 'in a later one');
});

t.test('what waits has a budget, over which connections end; what is shared counts once', async (t) => {
  const { port, handled, left } = await serve(t);
  const connections = 10;
  for (let each = 0; each < connections; each++) (await unread(t, port)).write(get('/shared'));
  await eventually(() => handled['/shared'] === connections);
  for (let each = 0; each < connections; each++) (await unread(t, port)).write(get('/own'));
  const fit = Math.floor(UNPAID_BYTES / ANSWER_BYTES);
  // Where the shared answer was counted, one fewer fits.
  await eventually(() => handled['/own'] === connections && left() >= connections - fit);
  t.ok(left() <= connections - fit + 1, `${left()} of ${connections} ended`);
  const answer = await fetch(`http://127.0.0.1:${port}/small`);
  t.equal(await answer.text(), 'small', 'others are served');
});

t.test('nothing behind a chunked body is served', async (t) => {
  const { port, handled } = await serve(t);
  const socket = connect(port, '127.0.0.1');
  socket.write(`${get('/small', 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n${get('/small').repeat(3)}`);
  const answers = await text(socket.setEncoding('latin1'));
  t.equal(handled['/small'], 1);
  t.ok((answers.match(/HTTP\/1\.1 /g)?.length ?? 0) <= 1);
  const alone = connect(port, '127.0.0.1');
  alone.write(`${get('/small', 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n`);
  t.match(
    await text(alone.setEncoding('latin1')),
    /Connection: close\r\n(.+\r\n)*\r\nsmall$/,
    'alone it is answered',
  );
});
