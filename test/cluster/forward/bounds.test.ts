import { connect, type Socket } from 'node:net';
import t from 'tap';
import { sharesOf } from '../../../src/server/http/body/shared-bytes.ts';
import { BEARER, inWorkspace, startNodes, workspaceRoute } from './nodes.ts';
import { relayBefore } from './relay.ts';

/** What a server holds of what it passes on. */

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

t.test('connections to an owner are used again', async (t) => {
  const { a, b, reach } = await startNodes(t, () => [
    workspaceRoute('POST', '/search', async (exchange) => {
      await exchange.body.whole(1000);
      return { status: 200, headers: {}, body: {} };
    }),
  ]);
  const relay = await relayBefore(t, b.port);
  reach('b', relay.url);
  for (let time = 0; time < 20; time++) {
    const answer = await fetch(a.url + inWorkspace('/search'), {
      method: 'POST',
      headers: BEARER,
      body: '{}',
    });
    await answer.arrayBuffer();
  }
  t.equal(relay.connections(), 1);
});

t.test(
  'bodies that wait for an owner count, and whose they are is known where their token was accepted',
  async (t) => {
    const shares = sharesOf(3 * 2 ** 20);
    const moving = new Promise<void>(() => undefined);
    const { a, place } = await startNodes(
      t,
      () => [
        workspaceRoute('GET', '/usage', (exchange) => {
          exchange.body.proved('known');
          return { status: 200, headers: {}, body: {} };
        }),
        workspaceRoute('POST', '/ingest', () => t.fail() as never),
      ],
      { waitMsMax: 500 },
      { bodies: shares },
    );
    const upload = async () => {
      const asked = fetch(a.url + inWorkspace('/ingest'), {
        method: 'POST',
        headers: BEARER,
        body: Buffer.alloc(200_000),
      });
      while (shares.unproved.bytes + shares.proved.bytes === 0) await new Promise(setImmediate);
      const part = shares.proved.bytes > 0 ? 'proved' : 'unproved';
      t.equal((await asked).status, 503);
      return part;
    };
    place({ moving });
    t.equal(await upload(), 'unproved');
    place('b');
    await fetch(a.url + inWorkspace('/usage'), { headers: BEARER });
    place({ moving });
    t.equal(await upload(), 'proved');
    t.equal(shares.proved.bytes + shares.unproved.bytes, 0);
  },
);

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
