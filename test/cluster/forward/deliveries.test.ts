import { connect } from 'node:net';
import t, { type Test } from 'tap';
import type { ForwardingLimits } from '../../../src/cluster/forward/forwarding.ts';
import { PAYMENT, paidRoute, startNodes } from './nodes.ts';

/** Whether an answer was delivered is known where the payment is, though another server has the client. */

const PATH = '/agent/v1/search';
const ASK = { method: 'POST', headers: { 'x-payment': PAYMENT }, body: '{}' };

/** The owner answers with so many bytes; reports of deliveries are gathered. */
async function owner(t: Test, bytes: number, limits: Partial<ForwardingLimits> = {}) {
  const reports: boolean[] = [];
  let onReport = (): void => undefined;
  const answering = Promise.withResolvers<void>();
  const answer = { gate: Promise.resolve() };
  const nodes = await startNodes(
    t,
    () => [
      paidRoute('POST', PATH, async () => {
        answering.resolve();
        await answer.gate;
        return {
          status: 200,
          headers: {},
          body: { text: 'x'.repeat(bytes) },
          delivered: (whole) => {
            reports.push(whole);
            onReport();
          },
        };
      }),
    ],
    limits,
  );
  const reported = async () => {
    while (reports.length === 0)
      await new Promise<void>((resolve) => {
        onReport = resolve;
      });
    return reports;
  };
  return { ...nodes, reports, reported, answering: answering.promise, answer };
}

t.test('an answer that the client got is reported as delivered, once, and not before', async (t) => {
  for (const bytes of [10, 200_000]) {
    const { a, b, reported, reports } = await owner(t, bytes);
    const answer = await fetch(a.url + PATH, ASK);
    t.notOk([...answer.headers.keys()].some((name) => name.startsWith('farthing-')));
    t.equal(((await answer.json()) as { text: string }).text.length, bytes);
    t.same(await reported(), [true]);
    await Promise.all([a.stop(), b.stop()]);
    t.same(reports, [true]);
  }
});

t.test('an answer whose client reads nothing of it and leaves was not delivered', async (t) => {
  const { a, reported } = await owner(t, 30_000_000);
  const socket = connect(a.port, '127.0.0.1');
  socket.write(`POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-Payment: ${PAYMENT}\r\nContent-Length: 2\r\n\r\n{}`);
  await new Promise((resolve) => socket.once('readable', resolve));
  socket.destroy();
  t.same(await reported(), [false]);
});

t.test('an answer whose client left before it came was not delivered', async (t) => {
  const { a, reported, answering, answer } = await owner(t, 10);
  const late = Promise.withResolvers<void>();
  answer.gate = late.promise;
  const leaving = new AbortController();
  const asked = fetch(a.url + PATH, { ...ASK, signal: leaving.signal }).catch(() => undefined);
  await answering;
  leaving.abort();
  await asked;
  while (a.answered.length === 0) await new Promise(setImmediate);
  late.resolve();
  t.same(await reported(), [false]);
});

t.test('an answer that nobody reports counts as lost', async (t) => {
  const { a, b, reported } = await owner(t, 10, { reportMsMax: 100 });
  const about = { method: 'POST', path: PATH, about: 'forwarded mine' };
  const headers = { ...ASK.headers, 'x-request-id': 'mine', 'farthing-peer': a.signatures.sign('b', about) };
  const answer = await fetch(b.url + PATH, { ...ASK, headers });
  t.match(answer.headers.get('farthing-delivery'), /^[0-9a-f]{32}$/);
  await answer.arrayBuffer();
  t.same(await reported(), [false]);
});
