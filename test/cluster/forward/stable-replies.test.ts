import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { safeAnswers } from '../../../src/cluster/forward/safe-answers.ts';
import { RequestPayment } from '../../../src/payment/wire/request-payment.ts';
import type { Exchange } from '../../../src/server/http/exchange/exchange.ts';
import type { Reply } from '../../../src/server/http/exchange/reply.ts';

const ANSWER = { status: 200, headers: {}, body: {} };
/** A request, with or without a payment. */
const exchangeOf = (paymentSignature?: string) =>
  ({
    head: { method: 'POST', path: '/' },
    payment: new RequestPayment({ paymentSignature }),
  }) as Partial<Exchange> as Exchange;
const exchange = exchangeOf();

/** A log that is stable when it is told to be. */
function heldLog() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  return { stable: () => promise, resolve, reject };
}

t.test('an answer, and a refusal, waits for the log', async (t) => {
  for (const handle of [() => ANSWER, () => Promise.reject(new Error('refused'))]) {
    const log = heldLog();
    let told = false;
    const reply = Promise.resolve(safeAnswers(handle, log)(exchange, {})).then(
      () => (told = true),
      ({ message }: Error) => {
        told = true;
        t.equal(message, 'refused');
      },
    );
    await setImmediate();
    t.equal(told, false);
    log.resolve();
    await reply;
    t.equal(told, true);
  }
});

t.test('what the log will never have is not told, and counts as not delivered', async (t) => {
  const seen: unknown[] = [];
  const replies: Reply[] = [
    { ...ANSWER, delivered: (whole) => seen.push(whole) },
    { status: 200, headers: {}, raw: 'x', delivered: (whole) => seen.push(whole) },
    {
      status: 200,
      headers: {},
      content: {
        bytes: 1,
        pieces: (async function* () {})(),
        close: async () => void seen.push('content closed'),
      },
    },
    { status: 200, headers: {}, events: (async function* () {})(), close: () => seen.push('events closed') },
  ];
  for (const reply of replies) {
    const log = heldLog();
    log.reject(new Error('fenced'));
    await t.rejects(Promise.resolve(safeAnswers(() => reply, log)(exchange, {})), /fenced/);
  }
  t.same(seen, [false, false, 'content closed', 'events closed']);
});

t.test('whether a payment is charged whose answer may never be told is not known', async (t) => {
  const paid = exchangeOf('x');
  for (const handle of [() => ANSWER, () => Promise.reject(new Error('a closed store'))]) {
    const log = heldLog();
    log.reject(new Error('fenced'));
    const reply = Promise.resolve(safeAnswers(handle, log)(paid, {}));
    await t.rejects(reply, { code: 'settlement_pending', retryAfterS: 2 });
  }
});

t.test('a request that runs is given up; what it still answers counts as not delivered', async (t) => {
  for (const [paymentSignature, code] of [
    [undefined, 'books_unavailable'],
    ['x', 'settlement_pending'],
  ] as const) {
    const delivered: boolean[] = [];
    const { promise, resolve } = Promise.withResolvers<typeof ANSWER & { delivered(whole: boolean): void }>();
    let lag = 0;
    const answering = Promise.resolve(
      safeAnswers(
        () => promise,
        { lagMs: () => lag },
        { lagMsMax: 10, lookMs: 1 },
      )(exchangeOf(paymentSignature), {}),
    );
    lag = 11;
    await t.rejects(answering, { code, retryAfterS: 5 });
    resolve({ ...ANSWER, delivered: (whole) => delivered.push(whole) });
    await setImmediate();
    t.same(delivered, [false]);
  }
});
