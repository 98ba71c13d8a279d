import t from 'tap';
import { safeAnswers } from '../../../src/cluster/forward/safe-answers.ts';
import { RequestPayment } from '../../../src/payment/wire/request-payment.ts';
import type { Exchange } from '../../../src/server/http/exchange/exchange.ts';

const ANSWER = { status: 200, headers: {}, body: {} };
const FAST = { lagMsMax: 10, lookMs: 1 };

function exchangeWith(headers: Record<string, string>): Exchange {
  return {
    head: { method: 'POST', path: '/' },
    payment: new RequestPayment({ xPayment: headers['x-payment'] }),
  } as unknown as Exchange;
}

t.test(
  'while the log lags, new requests are refused before they begin, with when to come again',
  async (t) => {
    let begun = 0;
    let lag = 11;
    const handle = safeAnswers(
      () => {
        begun += 1;
        return ANSWER;
      },
      { lagMs: () => lag },
      FAST,
    );
    await t.rejects(Promise.resolve(handle(exchangeWith({}), {})), {
      code: 'books_unavailable',
      retryAfterS: 5,
    });
    t.equal(begun, 0);
    lag = 0;
    t.equal(await handle(exchangeWith({}), {}), ANSWER);
  },
);

t.test('a request that runs is given up; what it still answers counts as not delivered', async (t) => {
  for (const [headers, code] of [
    [{}, 'books_unavailable'],
    [{ 'x-payment': 'signed' }, 'settlement_pending'],
  ] as const) {
    const delivered: boolean[] = [];
    const { promise, resolve } = Promise.withResolvers<typeof ANSWER & { delivered(whole: boolean): void }>();
    let lag = 0;
    const answering = Promise.resolve(
      safeAnswers(() => promise, { lagMs: () => lag }, FAST)(exchangeWith(headers), {}),
    );
    lag = 11;
    await t.rejects(answering, { code, retryAfterS: 5 });
    resolve({ ...ANSWER, delivered: (whole) => delivered.push(whole) });
    await new Promise(setImmediate);
    t.same(delivered, [false]);
  }
});
