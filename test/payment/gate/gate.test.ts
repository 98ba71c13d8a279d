import t from 'tap';
import type { WorkOutcome } from '../../../src/payment/purchase.ts';
import { FarthingError } from '../../../src/protocol/error.ts';
import { chargesOf, openRig } from '../rig/gate-rig.ts';
import { addressOf, paid, paymentOf, receiptOf, sign, v2Header, wallet } from '../rig/payments.ts';
import { ask, buy, buyAndLose, codeOf, making, numberedWork } from '../rig/requests.ts';

const KEY = 'a-private-key-of-mine';

t.test('a v2 payment buys the answer, with a receipt in both headers', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  const answer = await buy(rig, await paid(account));
  t.equal(answer.status, 200);
  t.equal(answer.headers['Cache-Control'], 'private');
  t.equal(answer.headers['X-PAYMENT-RESPONSE'], answer.headers['PAYMENT-RESPONSE']);
  t.match(receiptOf(answer), {
    success: true,
    network: 'eip155:8453',
    payer: addressOf(account),
    extra: { moneyMoved: false },
  });
  t.match(String(receiptOf(answer)?.transaction), /^0x10ca1[0-9a-f]{59}$/);
  const { timing } = answer.body as { timing: { verify_ms: number; settle_ms: number } };
  t.ok(timing.settle_ms > 0 && timing.verify_ms >= 0);
  t.equal(rig.local.balance(addressOf(account)), 99_994_000n);
});

t.test('rule 4(a): copies whose bodies arrived before the settlement get the very same answer', async (t) => {
  const rig = openRig(t);
  const header = v2Header(await sign(wallet()));
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => buy(rig, { paymentSignature: header })),
  );
  t.equal(chargesOf(rig), 1);
  t.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
  t.equal(new Set(answers.map(({ headers }) => headers['PAYMENT-RESPONSE'])).size, 1);
});

t.test('a copy whose body arrives after the settlement was sent is refused', async (t) => {
  const rig = openRig(t);
  const header = v2Header(await sign(wallet()));
  const { promise: body, resolve: arrive } = Promise.withResolvers<void>();
  const late = buy(rig, { paymentSignature: header, onPrepare: () => body });
  t.equal((await buy(rig, { paymentSignature: header })).status, 200);
  arrive();
  t.equal((await late).body.error, 'authorization_already_used');
});

t.test('rule 4(b): the same idempotency key gets the stored answer, however paid', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  rig.index(account);
  const payload = await sign(account);
  const first = await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY });
  const again = await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY });
  const fresh = await sign(account);
  const withFresh = await buy(rig, { paymentSignature: v2Header(fresh, { identifier: KEY }) });
  for (const answer of [again, withFresh]) {
    t.same(answer.body, first.body);
    t.same(answer.headers, first.headers);
  }
  t.equal(chargesOf(rig), 1);
  t.equal(
    (await buy(rig, { paymentSignature: v2Header(fresh), hash: 'b'.repeat(64) })).status,
    200,
    'the fresh payment stayed unused',
  );
});

t.test('a stored answer is given again after the authorization has expired', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  rig.index(account);
  const payload = await sign(account);
  const first = await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY });
  rig.clock.offsetMs = 10 * 60_000;
  t.same((await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY })).body, first.body);
  t.equal((await buy(rig, { paymentSignature: v2Header(payload) })).body.error, 'authorization_already_used');
  await rig.gate.close();
  rig.clock.offsetMs = 16 * 60_000;
  await rig.gate.sweep();
  t.equal(
    (await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY })).body.error,
    'authorization_expired',
  );
});

t.test('a stored answer that was lost is made anew, uncharged, with its receipt', async (t) => {
  const rig = openRig(t);
  const payload = await sign(wallet());
  const first = await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY });
  await rig.gate.close();
  const again = await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY });
  t.equal(again.status, 200);
  t.not(again.body.work, first.body.work, 'this Tenant has no folder, so nothing was stored');
  t.equal(again.headers['PAYMENT-RESPONSE'], first.headers['PAYMENT-RESPONSE']);
  t.equal(chargesOf(rig), 1);
});

t.test('rule 6: an idempotency key with another request is a conflict, for its payer', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  const payload = await sign(account);
  await buy(rig, { paymentSignature: v2Header(payload), idempotencyKey: KEY });
  const other = { idempotencyKey: KEY, hash: 'b'.repeat(64) };
  t.equal(
    await codeOf(buy(rig, { ...other, paymentSignature: v2Header(payload) })),
    'idempotency_key_reused',
  );
  t.equal(await codeOf(buy(rig, { ...other, ...(await paid(account)) })), 'idempotency_key_reused');
  t.equal((await buy(rig, { ...other, ...(await paid()) })).status, 200);
});

t.test('a second request with the same idempotency key waits for the first', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  rig.index(account);
  const headers = await Promise.all(Array.from({ length: 10 }, async () => v2Header(await sign(account))));
  const answers = await Promise.all(
    headers.map((paymentSignature) => buy(rig, { paymentSignature, idempotencyKey: KEY })),
  );
  t.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
  t.equal(chargesOf(rig), 1);
});

t.test('an idempotency key is 16 to 128 characters, in extension or header', async (t) => {
  const rig = openRig(t);
  const payload = await sign(wallet());
  const paid = { paymentSignature: v2Header(payload) };
  t.equal(await codeOf(buy(rig, { ...paid, idempotencyKey: 'x'.repeat(15) })), 'idempotency_key_invalid');
  t.equal(await codeOf(buy(rig, { ...paid, idempotencyKey: 'x'.repeat(129) })), 'idempotency_key_invalid');
  const both = { paymentSignature: v2Header(payload, { identifier: KEY }) };
  t.equal(await codeOf(buy(rig, { ...both, idempotencyKey: `${KEY}-other` })), 'idempotency_key_invalid');
  t.equal((await buy(rig, { ...both, idempotencyKey: KEY })).status, 200);
  t.equal((await buy(rig, { idempotencyKey: 'short' })).status, 402, 'without a payment it is a 402');
});

t.test('rule 4(c): a fresh payment gets the answer that was lost, and stays unused', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  rig.index(account);
  const first = await buyAndLose(rig, await paid(account));
  const fresh = v2Header(await sign(account));
  const second = await buy(rig, { paymentSignature: fresh });
  t.same(second.body, first.body);
  t.equal(chargesOf(rig), 1);
  const third = await buy(rig, { paymentSignature: fresh });
  t.not(third.body.work, first.body.work, 'once delivered, the next such request is a new purchase');
  t.equal(chargesOf(rig), 2);
});

t.test('rule 4(c) needs a fresh payment of the same payer for the same request', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  const payload = await sign(account);
  const first = await buyAndLose(rig, { paymentSignature: v2Header(payload) });
  t.equal((await buy(rig, { paymentSignature: v2Header(payload) })).body.error, 'authorization_already_used');
  const stranger = await buy(rig, await paid());
  t.not(stranger.body.work, first.body.work);
  const otherRequest = await buy(rig, {
    ...(await paid(account)),
    hash: 'b'.repeat(64),
  });
  t.not(otherRequest.body.work, first.body.work);
  const tooLittle = await buy(rig, { ...(await paid(account, { value: 1n })) });
  t.equal(tooLittle.body.error, 'amount_mismatch');
  t.equal(chargesOf(rig), 3);
});

t.test('rule 4(c) waits while the first runs, and is a new purchase when that was delivered', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  const running = rig.gate.handle(ask(await paid(account)));
  let second: Awaited<ReturnType<typeof buy>> | undefined;
  const waiting = buy(rig, await paid(account)).then((answer) => {
    second = answer;
  });
  const first = await running;
  t.equal(second, undefined, 'nobody knows yet whether the first was delivered');
  first.delivered(true);
  await waiting;
  t.not(second?.body.work, first.body.work);
  t.equal(chargesOf(rig), 2);
});

t.test('rule 4(c) gives the answer of one idempotency key to no other', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  rig.index(account);
  const bought = async (buying: typeof buy, idempotencyKey: string) =>
    (await buying(rig, { ...(await paid(account)), idempotencyKey })).body;
  const first = await bought(buyAndLose, KEY);
  const other = await bought(buyAndLose, `${KEY}-other`);
  t.not(other.work, first.work, 'it asks for a purchase of its own');
  t.same(await bought(buy, KEY), first);
  t.same(await bought(buy, `${KEY}-other`), other);
  t.equal(chargesOf(rig), 2);
});

t.test('rule 5: an uncharged outcome frees the authorization and the idempotency key', async (t) => {
  const rig = openRig(t);
  const header = v2Header(await sign(wallet()));
  const empty: WorkOutcome = {
    charged: false,
    answer: { status: 200, headers: {}, body: { hits: [], charged: false } },
  };
  const unpaid = await buy(rig, {
    paymentSignature: header,
    idempotencyKey: KEY,
    run: async () => empty,
  });
  t.equal(unpaid.body.charged, false);
  t.equal(receiptOf(unpaid), undefined);
  const failing = async () => Promise.reject(new FarthingError('item_not_found', 'No such item.'));
  t.equal(
    await codeOf(buy(rig, { paymentSignature: header, idempotencyKey: KEY, run: failing })),
    'item_not_found',
  );
  const badBody = () => Promise.reject(new FarthingError('search_empty', 'Nothing to search for.'));
  t.equal(await codeOf(buy(rig, { paymentSignature: header, onPrepare: badBody })), 'search_empty');
  t.equal(chargesOf(rig), 0);
  t.equal(
    (await buy(rig, { paymentSignature: header, idempotencyKey: KEY, hash: 'b'.repeat(64) })).status,
    200,
  );
  t.equal(chargesOf(rig), 1);
});

t.test('an effect is committed after the settlement, and answered again with a new token', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  const asking = making(rig);
  const first = await buyAndLose(rig, { ...asking, ...(await paid(account)) });
  t.match(first, { status: 201, body: { id: 'one', token: 'token-1' } });
  const again = await buy(rig, { ...asking, ...(await paid(account)) });
  t.match(again, { status: 201, body: { id: 'one', token: 'token-2' } });
  t.equal(again.headers['PAYMENT-RESPONSE'], first.headers['PAYMENT-RESPONSE']);
  t.same(rig.things.states(), ['committed']);
  t.equal(chargesOf(rig), 1);
});

t.test('an effect is undone when the wallet cannot pay at settlement', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  const everything = { value: 100_000_000n, to: '0x1111111111111111111111111111111111111111' } as const;
  const spending = paymentOf(await paid(account, everything));
  const run = async (): Promise<WorkOutcome> => {
    const effect = await rig.things.make('one');
    // Between verification and settlement the wallet spends all it has.
    await rig.local.settle(spending, { amount: spending.value, resource: '', description: '' });
    return { charged: true, effect };
  };
  const answer = await buy(rig, { ...(await paid(account)), mode: 'effect', run });
  t.equal(answer.status, 402);
  t.equal(answer.body.error, 'insufficient_funds');
  t.match(receiptOf(answer), { success: false, errorReason: 'insufficient_funds' });
  t.same(rig.things.states(), []);
  t.match(rig.gate.journal.totals(), { refused: { count: 1 }, settled: { count: 0 } });
});

t.test('a client that leaves before the settlement is not charged, and its effect is undone', async (t) => {
  const rig = openRig(t);
  const leaving = new AbortController();
  const run = async (): Promise<WorkOutcome> => {
    const effect = await rig.things.make('one');
    leaving.abort();
    return { charged: true, effect };
  };
  const header = v2Header(await sign(wallet()));
  await t.rejects(buy(rig, { paymentSignature: header, mode: 'effect', run, signal: leaving.signal }));
  t.same(rig.things.states(), []);
  t.equal(chargesOf(rig), 0);
  t.equal((await buy(rig, { paymentSignature: header })).status, 200, 'the authorization is free');
});

t.test('a client that leaves while its copy waits is charged once, and the copy is answered', async (t) => {
  const rig = openRig(t);
  const header = v2Header(await sign(wallet()));
  const leaving = new AbortController();
  const { promise: working, resolve: finish } = Promise.withResolvers<void>();
  const first = rig.gate.handle(
    ask({ paymentSignature: header, signal: leaving.signal, run: () => working.then(numberedWork) }),
  );
  const copy = buy(rig, { paymentSignature: header });
  await new Promise(setImmediate);
  leaving.abort();
  finish();
  (await first).delivered(false);
  t.equal((await copy).status, 200);
  t.equal(chargesOf(rig), 1);
});

/** Work that is given up when it is told to. */
function stoppableWork(): { run: (signal: AbortSignal) => Promise<WorkOutcome>; finish: () => void } {
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  const run = async (signal: AbortSignal) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('given up')));
      void done.then(resolve);
    });
    return numberedWork();
  };
  return { run, finish };
}

t.test('work is given up when everybody left; a copy then is a new purchase', async (t) => {
  const rig = openRig(t);
  const { paymentSignature } = await paid();
  const [first, copy] = [new AbortController(), new AbortController()];
  const { run } = stoppableWork();
  const left = [
    rig.gate.handle(ask({ paymentSignature, run, signal: first.signal })),
    rig.gate.handle(ask({ paymentSignature, signal: copy.signal })),
  ];
  await new Promise(setImmediate);
  first.abort();
  copy.abort();
  const late = buy(rig, { paymentSignature });
  t.same(
    (await Promise.allSettled(left)).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.equal((await late).status, 200);
  t.equal(chargesOf(rig), 1);
});
