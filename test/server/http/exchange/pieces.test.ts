import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { serveRoutes } from './serve-routes.ts';

const PIECE_BYTES = 64 * 1024;
const PIECES = 512;

interface GivenOut {
  readonly port: number;
  /** Pieces that were asked for so far. */
  readonly asked: () => number;
  /** Resolves when the content was closed. */
  readonly closed: Promise<void>;
}

/** A server whose one route gives out 32 MiB, of which each piece is filled with its number; `pieces` of them exist. */
async function serve(t: Test, pieces = PIECES): Promise<GivenOut> {
  let asked = 0;
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  async function* content() {
    for (let index = 0; index < pieces; index++) {
      asked = index + 1;
      yield new Uint8Array(PIECE_BYTES).fill(index % 251);
    }
  }
  const port = await serveRoutes(t, [
    {
      method: 'GET',
      path: '/content',
      handle: () => ({
        status: 200,
        headers: {},
        content: { bytes: PIECES * PIECE_BYTES, pieces: content(), close: async () => close() },
      }),
    },
  ]);
  return { port, asked: () => asked, closed };
}

t.test('a large body arrives whole and in order at a slow reader', async (t) => {
  const { port, closed } = await serve(t);
  const answer = await fetch(`http://127.0.0.1:${port}/content`);
  let received = 0;
  let wrong = 0;
  for await (const piece of answer.body!) {
    for (const byte of piece as Uint8Array) {
      if (byte !== Math.floor(received / PIECE_BYTES) % 251) wrong += 1;
      received += 1;
    }
    await new Promise(setImmediate);
  }
  t.same([received, wrong], [PIECES * PIECE_BYTES, 0]);
  await closed;
});

t.test('content is read only as fast as the client, and closed when the client leaves', async (t) => {
  const { port, asked, closed } = await serve(t);
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /content HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  socket.pause();
  for (let turn = 0; turn < 1000; turn++) await new Promise(setImmediate);
  t.ok(asked() < PIECES, `${asked()} of ${PIECES} pieces were asked for`);
  socket.destroy();
  await closed;
});

t.test('a body that ends too early closes its connection', async (t) => {
  const { port, closed } = await serve(t, 3);
  const answer = await fetch(`http://127.0.0.1:${port}/content`);
  await t.rejects(answer.arrayBuffer());
  await closed;
});
