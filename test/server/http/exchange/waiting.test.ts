import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Exchange } from '../../../../src/server/http/exchange/exchange.ts';
import { onlyDeep } from '../../../rig/deep.ts';
import { serveRoutes } from './serve-routes.ts';

/** Enough to be held back, and little enough to lie in the kernel's buffers meanwhile. */
const BODY = Buffer.alloc(1_800_000, 'a');
/** uWebSockets.js looks every 4 s for connections that were idle for 10 s. */
const LONGER_THAN_IDLE_MS = 15_000;

/** A server whose one route reads its body, calls `work`, and answers with the number of bytes. */
async function serve(t: Test, work: (exchange: Exchange) => Promise<unknown>): Promise<number> {
  return serveRoutes(t, [
    {
      method: 'POST',
      path: '/upload',
      handle: async (exchange) => {
        let bytes = 0;
        // As a disk may be slower than the network: more is held back than is read.
        await wait(50);
        for await (const piece of exchange.body.stream()) bytes += (piece as Buffer).byteLength;
        await work(exchange);
        return { status: 200, headers: {}, body: { bytes } };
      },
    },
  ]);
}

const LONG_WORK = 'a large upload whose work takes longer than a connection may be idle is answered';
t.test(LONG_WORK, { skip: onlyDeep }, async (t) => {
  const port = await serve(t, () => wait(LONGER_THAN_IDLE_MS));
  const url = `http://127.0.0.1:${port}/upload`;
  const answers = await Promise.all(
    [BODY, BODY.subarray(0, 100)].map(async (body) => (await fetch(url, { method: 'POST', body })).json()),
  );
  t.same(answers, [{ bytes: BODY.byteLength }, { bytes: 100 }]);
});

t.test('a client that leaves after a large upload is noticed', async (t) => {
  const { promise: arrived, resolve: received } = Promise.withResolvers<void>();
  const { promise: left, resolve: noticed } = Promise.withResolvers<void>();
  const port = await serve(t, async ({ signal }) => {
    received();
    if (!signal.aborted) await once(signal, 'abort');
    noticed();
  });
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST /upload HTTP/1.1\r\nHost: here\r\nContent-Length: ${BODY.byteLength}\r\n\r\n`);
  socket.write(BODY);
  await arrived;
  socket.destroy();
  await left;
  t.pass('its signal was aborted');
});

t.test('an unread body stays with its sender, and other requests are answered', async (t) => {
  const flood = 256 * 2 ** 20;
  const quiet = 20;
  const { promise: asked, resolve: finish } = Promise.withResolvers<void>();
  const port = await serveRoutes(t, [
    { method: 'GET', path: '/quiet', handle: () => ({ status: 200, headers: {}, body: {} }) },
    {
      method: 'POST',
      path: '/flood',
      handle: async ({ body }) => {
        await asked;
        await body.whole(2 * flood);
        return { status: 200, headers: {}, body: {} };
      },
    },
  ]);
  const sender = fork(join(import.meta.dirname, 'flood.ts'), [String(port), String(flood)]);
  await once(sender, 'message');
  for (let answered = 0; answered < quiet; answered++) {
    const answer = await fetch(`http://127.0.0.1:${port}/quiet`);
    await answer.arrayBuffer();
  }
  sender.send('how much?');
  const [taken] = (await once(sender, 'message')) as [number];
  t.ok(taken < flood / 16, `${taken} bytes were taken from the sender`);
  sender.disconnect();
  await once(sender, 'exit');
  finish();
});
