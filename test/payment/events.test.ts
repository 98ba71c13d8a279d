import t from 'tap';
import type { WorkOutcome } from '../../src/domain/payment.ts';
import { countedFault } from '../../src/payment/fault.ts';
import { buy, openBench, PRICE, sign, v2Header, wallet } from './fixture.ts';

const route = 'POST /agent/v1/search';

t.test('how each request ended is told once, with its route', async (t) => {
  const bench = openBench(t);
  const account = wallet();
  const payment = {
    paymentSignature: v2Header(await sign(account)),
    idempotencyKey: 'a-private-key-of-mine',
  };
  const empty = async (): Promise<WorkOutcome> => ({
    charged: false,
    answer: { status: 200, headers: {}, body: { hits: [], charged: false } },
  });
  await buy(bench, {});
  await buy(bench, { ...payment, run: empty });
  await buy(bench, payment);
  await buy(bench, payment);
  await buy(bench, { paymentSignature: payment.paymentSignature });
  t.match(bench.ends, [
    { kind: 'quoted', route },
    { kind: 'uncharged', route },
    { kind: 'sold', route, amount: PRICE, timing: { verify_ms: Number, settle_ms: Number } },
    { kind: 'repeated', route },
    { kind: 'refused', route, reason: 'authorization_already_used' },
  ]);
  t.equal(bench.ends.length, 5);
});

t.test('of 100 copies one is sold and the others are repeated', async (t) => {
  const bench = openBench(t);
  const paymentSignature = v2Header(await sign(wallet()));
  await Promise.all(Array.from({ length: 100 }, () => buy(bench, { paymentSignature })));
  const count = (kind: string) => bench.ends.filter((end) => end.kind === kind).length;
  t.same([count('sold'), count('repeated'), bench.ends.length], [1, 99, 100]);
});

t.test('a stranger’s word for a refusal is counted as other', async (t) => {
  t.equal(countedFault('insufficient_funds'), 'insufficient_funds');
  t.equal(countedFault('some_word_of_a_facilitator'), 'other');
});
