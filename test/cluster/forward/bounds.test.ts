import { connect, type Socket } from 'node:net';
import t from 'tap';
import { BEARER, inWorkspace, startNodes, workspaceRoute } from './nodes.ts';

/** Limits of the data that a server holds while it passes requests on. */

/** As many as one connection holds in the kernel and in a server, and more. */
const MUCH_BYTES = 64 * 2 ** 20;

t.test('an upload is taken from the client no faster than the owner takes it', async (t) => {
  const go = Promise.withResolvers<void>();
  let bytes = 0;
  const { a } = await startNodes(t, () => [
    workspaceRoute('POST', '/ingest', async (exchange) => {
      await go.promise;
      for await (const piece of exchange.body.pieces()) bytes += piece.byteLength;
      return { status: 200, headers: {}, body: { bytes } };
    }),
  ]);
  const socket = connect(a.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const head = `POST ${inWorkspace('/ingest')} HTTP/1.1\r\nHost: a\r\nAuthorization: ${BEARER.authorization}\r\n`;
  socket.write(`${head}Content-Length: ${MUCH_BYTES}\r\n\r\n`);
  let taken = 0;
  const piece = Buffer.alloc(256 * 1024);
  const send = () => {
    if (taken >= MUCH_BYTES) return;
    socket.write(piece, () => {
      taken += piece.length;
      send();
    });
  };
  send();
  t.ok((await whenSteady(() => taken)) < MUCH_BYTES / 2, 'it waits for the owner');
  go.resolve();
  const answered = await new Promise<string>((resolve) =>
    socket.once('data', (data) => resolve(String(data))),
  );
  t.match(answered, `{"bytes":${MUCH_BYTES}}`);
});

t.test('a download is taken from the owner no faster than the client takes it', async (t) => {
  const piece = Buffer.alloc(64 * 1024);
  let given = 0;
  const { a } = await startNodes(t, () => [
    workspaceRoute('GET', '/file', () => ({
      status: 200,
      headers: {},
      content: {
        bytes: MUCH_BYTES,
        pieces: (async function* () {
          for (; given < MUCH_BYTES; given += piece.length) yield piece;
        })(),
        close: async () => undefined,
      },
    })),
  ]);
  const socket: Socket = connect(a.port, '127.0.0.1').pause();
  t.teardown(() => socket.destroy());
  socket.write(
    `GET ${inWorkspace('/file')} HTTP/1.1\r\nHost: a\r\nAuthorization: ${BEARER.authorization}\r\n\r\n`,
  );
  t.ok((await whenSteady(() => given)) < MUCH_BYTES / 2, 'it waits for the client');
  let got = 0;
  for await (const data of socket) {
    got += (data as Buffer).length;
    if (got >= MUCH_BYTES) break;
  }
  t.ok(got >= MUCH_BYTES);
});

/** The figure, once it has not changed over many turns of the loop. */
async function whenSteady(figure: () => number): Promise<number> {
  let [last, turns] = [-1, 0];
  while (turns < 2000) {
    await new Promise(setImmediate);
    turns = figure() === last ? turns + 1 : 0;
    last = figure();
  }
  return last;
}
