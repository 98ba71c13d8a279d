import t from 'tap';
import type { PrivateKeyAccount } from 'viem/accounts';
import { prepaidOn } from '../../../src/payment/asset.ts';
import type { Settlement } from '../../../src/payment/facilitator/facilitator.ts';
import { prepaidRefunds, prepaying } from '../../../src/server/purchases/prepaid.ts';
import { openStore, type Store } from '../../../src/server/state/store.ts';
import { Random } from '../../rig/random.ts';
import { tokenDomain } from '../../rig/sign-transfer.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { forgetful, type GateRig, openRig } from '../rig/gate-rig.ts';
import { guardWrites } from '../rig/guarded-store.ts';
import { addressOf, PRICE, paid, type Signing, sign, v2Header, wallet } from '../rig/payments.ts';
import { buy, codeOf, making, numberedWork } from '../rig/requests.ts';

/** Prepaid money at the gate: spent once, and never lost. By whom and how often it cannot be spent: `prepaid-attacks.test.ts`. */

const PREPAID = prepaidOn('eip155:8453');

async function voucher(account: PrivateKeyAccount, signing: Signing = {}) {
  const signed = await sign(account, { ...signing, domain: { ...tokenDomain(PREPAID), ...signing.domain } });
  const accepted = {
    asset: PREPAID.displayedAddress,
    extra: { name: PREPAID.name, version: PREPAID.version, prepaid: true },
  };
  return { signed, paymentSignature: v2Header(signed, { accepted }) };
}

/** As many as one wallet may have verified at once. */
const COINS = 16;

/** A wallet that has paid in advance for some answers. */
async function payer({ prepaid }: GateRig, answers = 10): Promise<PrivateKeyAccount> {
  const account = wallet();
  await prepaid.commit(await prepaid.begin('add', addressOf(account), PRICE * BigInt(answers)));
  return account;
}

/** A request for prepaid money back, as its route asks for it. */
const refunding = (amount: bigint) =>
  ({
    amount,
    paidIn: 'prepaid',
    isRefund: true,
    mode: 'effect',
    hash: String(amount).padStart(64, 'c'),
  }) as const;

const leftOf = ({ prepaid }: GateRig, account: PrivateKeyAccount) => prepaid.left(addressOf(account)) / PRICE;

t.test('an answer is paid from the balance, without the facilitator', async (t) => {
  const asked: string[] = [];
  const rig = openRig(t, {
    facilitator: (local) => ({
      ...forgetful(local),
      verify: async () => {
        asked.push('verify');
        return { valid: true };
      },
      settle: async () => {
        asked.push('settle');
        return { kind: 'settled', transaction: '0x1' };
      },
    }),
  });
  const account = await payer(rig);
  const answer = await buy(rig, await voucher(account));
  t.equal(answer.status, 200);
  const receipt = JSON.parse(Buffer.from(answer.headers['PAYMENT-RESPONSE']!, 'base64').toString());
  t.match(receipt, {
    success: true,
    transaction: /^0x9ae9a1d0/,
    extra: { prepaid: true, left_usd: '0.054' },
  });
  t.equal(leftOf(rig, account), 9n);
  t.same(asked, []);
  while (rig.gate.journal.totals().prepaid.count === 0) await pause();
  const { settled, prepaid } = rig.gate.journal.totals();
  t.same([settled.count, prepaid.count, prepaid.amount], [0, 1, String(PRICE)], 'no money came in');
});

t.test('prepaid money is not kept waiting by a facilitator that answers nobody', async (t) => {
  const facilitator = Promise.withResolvers<void>();
  const rig = openRig(t, {
    facilitator: (local) => ({
      ...forgetful(local),
      verify: async () => {
        await facilitator.promise;
        return { valid: true };
      },
    }),
  });
  const account = await payer(rig);
  const headers = await Promise.all(Array.from({ length: COINS }, () => paid(account)));
  const coins = headers.map((one, number) => buy(rig, { ...one, hash: String(number).padStart(64, 'd') }));
  t.equal((await buy(rig, await voucher(account))).status, 200);
  facilitator.resolve();
  for (const { status } of await Promise.all(coins)) t.equal(status, 200);
});

t.test('work that fails after its charge was sure gives the money back', async (t) => {
  const rig = openRig(t);
  const account = await payer(rig);
  const one = await voucher(account);
  const failing = async (_: AbortSignal, willCharge: () => void) => {
    willCharge();
    while (leftOf(rig, account) === 10n) await pause();
    throw Object.assign(new Error('no'), { code: 'broken' });
  };
  t.equal(await codeOf(buy(rig, { ...one, run: failing })), 'broken');
  t.equal(leftOf(rig, account), 10n);
  t.equal((await buy(rig, one)).status, 200);
  t.equal(leftOf(rig, account), 9n);
});

t.test('of purchases at once no more are made than there is money for', async (t) => {
  const rig = openRig(t);
  const account = await payer(rig, 3);
  const vouchers = await Promise.all(Array.from({ length: 20 }, () => voucher(account)));
  const answers = await Promise.all(
    vouchers.map((one, number) =>
      buy(rig, {
        ...one,
        hash: String(number).padStart(64, '0'),
        ...(number % 2 === 0 && making(rig, `thing ${number}`)),
      }),
    ),
  );
  const refused = answers.filter(({ status }) => status === 402);
  t.equal(refused.length, 17);
  for (const { body } of refused) t.equal(body.error, 'insufficient_funds');
  t.equal(leftOf(rig, account), 0n);
  const made = answers.filter(({ status }) => status === 201).length;
  t.same(rig.things.states(), Array(made).fill('committed'), 'nothing is left of the others');
});

t.test('money that was not used for long can be had back', async (t) => {
  const rig = openRig(t);
  const account = await payer(rig);
  rig.clock.offsetMs = 91 * 86_400_000;
  const validBefore = BigInt(Math.floor(rig.clock.now() / 1000) + 60);
  const spending = { ...(await voucher(account, { validBefore })), hash: 'b'.repeat(64) };
  t.match(await buy(rig, spending), { status: 402, body: { error: 'insufficient_funds' } });
  const amount = PRICE * 4n;
  const refund = prepaidRefunds(rig.prepaid);
  const back = {
    ...(await voucher(account, { validBefore, value: amount })),
    ...refunding(amount),
    run: () => refund.buy(addressOf(account), amount),
  } as const;
  t.match(await buy(rig, back), { status: 200, body: { refund_usd: '0.024', prepaid_usd: '0' } });
  t.equal(rig.prepaid.refundable(addressOf(account)), PRICE * 6n);
  const more = { ...(await voucher(account, { validBefore, value: PRICE * 7n })), ...refunding(PRICE * 7n) };
  t.match(
    await buy(rig, more),
    {
      status: 402,
      headers: { 'X-Prepaid-Left-USD': '0.036' },
      body: { error: 'insufficient_funds' },
    },
    'its owner learns how much can be had back',
  );
});

t.test('of payments in advance at once no more are taken than a wallet may have', async (t) => {
  const rig = openRig(t);
  const account = wallet();
  const amount = 40_000_000n;
  const add = () => rig.prepaid.begin('add', addressOf(account), amount);
  const begun = await Promise.allSettled(Array.from({ length: 5 }, add));
  const taken = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  t.equal(taken.length, 2, 'of 100 USD');
  await rig.prepaid.undo(taken[0]!);
  await rig.prepaid.undo(taken[0]!);
  await rig.prepaid.commit(taken[1]!);
  await rig.prepaid.commit(taken[1]!);
  await rig.prepaid.commit(await add());
  t.equal(await codeOf(add()), 'prepaid_limit_exceeded');
  t.equal(rig.prepaid.left(addressOf(account)), 80_000_000n);
});

t.test(
  'a payment in advance whose outcome nobody knows, or whose nonce anything used, is never presumed',
  async (t) => {
    const used: Settlement = { kind: 'settled', transaction: '', unproven: true };
    const unknown: Settlement = { kind: 'unknown', detail: 'no answer' };
    for (const [first, later] of [
      [used, used],
      [unknown, used],
      [unknown, unknown],
    ] as const) {
      let shown = later;
      const rig = openRig(t, {
        facilitator: (local) => ({
          ...forgetful(local),
          settle: async () => first,
          reconcile: async () => shown,
        }),
      });
      const account = wallet();
      const run = () => prepaying(rig.prepaid).buy(addressOf(account), PRICE);
      const advance = { paymentSignature: v2Header(await sign(account)), mode: 'effect', run } as const;
      t.equal(await codeOf(buy(rig, advance)), 'settlement_pending');
      rig.clock.offsetMs = 3_600_000;
      t.equal(await codeOf(buy(rig, advance)), 'settlement_pending', 'its authorization ended long ago');
      t.equal(rig.prepaid.left(addressOf(account)), 0n);
      shown = { kind: 'settled', transaction: '0x1' };
      await buy(rig, advance).catch(() => undefined);
      t.equal(rig.prepaid.left(addressOf(account)), PRICE, 'proved');
    }
  },
);

t.test('whichever write is the last before a crash, the books agree with the answers', async (t) => {
  for (let last = 0; ; last += 1) {
    const folder = temporaryFolder(t);
    const store = openStore(`${folder}/state`);
    const death = Promise.withResolvers<'dead'>();
    let writes = 0;
    const seenStore = (inner: Store) =>
      guardWrites(inner, (apply) => {
        if (writes++ < last) return apply();
        death.resolve('dead');
        return new Promise(() => undefined);
      });
    const { prepaid } = openRig(t, { folder, store, dies: true });
    const account = wallet();
    await prepaid.commit(await prepaid.begin('add', addressOf(account), PRICE * 10n));
    const rig = openRig(t, { folder, store, seenStore, dies: true });
    let isAnswered = false;
    const bought = buy(rig, await voucher(account)).then(async ({ status }) => {
      isAnswered = status === 200;
      await rig.gate.close();
    });
    if ((await Promise.race([death.promise, bought])) !== 'dead') {
      await store.close();
      break;
    }
    await pause();
    const next = openRig(t, { folder, store });
    next.index(account);
    await next.gate.recover();
    while (next.gate.health().pending > 0) await pause();
    const wasCharged = leftOf(next, account) === 9n;
    t.ok(!isAnswered || wasCharged, `write ${last}: an answer is charged`);
    const booked = next.gate.journal.totals().prepaid.count;
    t.equal(booked, wasCharged ? 1 : 0, `write ${last}: books and balance agree`);
    // The client comes back, as it does after a lost answer.
    const retry = await buy(next, { ...(await voucher(account)), run: numberedWork });
    t.equal(retry.status, 200);
    // An answer that went out just before may be given again: nothing says that it arrived.
    const left = leftOf(next, account);
    t.ok(left === 9n || (left === 8n && isAnswered), `write ${last}: charged once for each answer`);
    await next.gate.close();
    await store.close();
  }
});

t.test('a thousand random steps leave what a calculator says, also when they are repeated', async (t) => {
  const rig = openRig(t);
  const random = new Random(33);
  const accounts = [wallet(), wallet(), wallet()];
  const model = new Map(accounts.map((account) => [account, 0n]));
  const steps: { id: Awaited<ReturnType<GateRig['prepaid']['begin']>> }[] = [];
  for (let turn = 0; turn < 1000; turn += 1) {
    const account = accounts[random.below(3)]!;
    const amount = BigInt(1 + random.below(20)) * 1000n;
    switch (random.below(4)) {
      case 0: {
        const id = await rig.prepaid.begin('add', addressOf(account), amount);
        if (random.below(3) === 0) await rig.prepaid.undo(id);
        else {
          await rig.prepaid.commit(id);
          model.set(account, model.get(account)! + amount);
          steps.push({ id });
        }
        break;
      }
      case 1:
        if (steps.length > 0) await rig.prepaid.commit(steps[random.below(steps.length)]!.id);
        break;
      default: {
        const payment = {
          version: 2 as const,
          scheme: 'exact',
          networkName: PREPAID.network,
          asset: PREPAID,
          payer: addressOf(account),
          payTo: addressOf(account),
          value: amount,
          validAfter: 0n,
          validBefore: BigInt(Math.floor(rig.clock.now() / 1000) + 60),
          nonce: `0x${turn.toString(16).padStart(64, '0')}` as const,
          signature: '0x' as const,
        };
        const terms = { amount, resource: '', description: '' };
        const outcomes = await Promise.all([
          rig.prepaid.spend(payment, terms),
          rig.prepaid.spend(payment, terms),
        ]);
        t.equal(outcomes[0].kind, outcomes[1].kind);
        if (outcomes[0].kind === 'settled') model.set(account, model.get(account)! - amount);
        else t.ok(model.get(account)! < amount, 'only what is not there is refused');
      }
    }
  }
  for (const [account, left] of model) t.equal(rig.prepaid.left(addressOf(account)), left);
  for (const { left, added, spent } of rig.prepaid.accounts()) t.equal(left, added - spent);
});

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));
