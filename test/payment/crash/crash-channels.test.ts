import { setTimeout as after } from 'node:timers/promises';
import t from 'tap';
import type { Channel } from '../../../src/payment/channel/channels.ts';
import { CrashPlace } from '../../cluster/crash-place.ts';
import { deep } from '../../rig/deep.ts';
import { Random } from '../../rig/random.ts';
import { openBooks } from '../../rig/stopped-books.ts';
import { noChain } from '../chain/chain.ts';
import { channelBuyer } from '../rig/channel-buyer.ts';
import { PAY_TO, wallet } from '../rig/payments.ts';
import { KilledServer } from './killed-server.ts';
import { startOutsideChain } from './outside/outside-chain.ts';

/** The published client of batch-settlement, and a server that is killed, on a chain that drops and reorganises. */

const KILLS = Number(process.env.KILLS || deep(3, 25));
const SECONDS_MAX = Number(process.env.CRASH_SECONDS || 150);
const BUYERS = 3;
const RENT = 20_000n;
const RUNNING_MS_MAX = 1500;
const PAUSE_MS = 50;
const REFUND_EVERY = 7;

t.test(
  `${KILLS} kills under vouchers: each purchase is charged once, and the chain has all of it`,
  { skip: noChain ?? false },
  async (t) => {
    const seed = Number(process.env.SEED || Date.now() % 2 ** 31);
    t.comment(`seed ${seed}: SEED=${seed} KILLS=${KILLS} replays its choices`);
    const random = new Random(seed);
    const outside = await startOutsideChain(random.fork(), () => {});
    t.teardown(() => outside.close());
    const { chain } = outside;
    const escrow = await chain.deployEscrow();
    const accounts = Array.from({ length: BUYERS }, wallet);
    await outside.begin(accounts.map(({ address }) => address));
    const purses = await Promise.all(accounts.map(({ address }) => chain.balance(address)));
    const place = await CrashPlace.open({}, random.fork());
    t.teardown(() => place.close({ keep: false }));
    const server = new KilledServer(place, outside.settings);
    t.teardown(() => server.kill());
    await server.start();
    let isOver = false;
    const seen = new Map<string, number>();
    const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    /** Each purchase has its key, and is asked for until it is answered. @returns the ids of what was bought */
    const buy = async (account: (typeof accounts)[number]) => {
      let client = channelBuyer(account, chain.url);
      const bought: string[] = [];
      while (!isOver) {
        const serial = bought.length;
        const key = `${account.address}-${serial}`;
        for (;;) {
          const told = await client
            .pay(`${server.url}/agent/v1/workspaces?serial=${serial}`, {
              method: 'POST',
              headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
              body: '{"ttl_minutes": 20}',
            })
            .then(
              // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
              async (response) => ({ status: response.status, body: (await response.json()) as any }),
              (error: Error) => ({ status: 0, body: { error: error.message.slice(0, 60) } }),
            );
          if (told.status === 201) {
            bought.push(told.body.id);
            if (bought.length % REFUND_EVERY === 0)
              await client.scheme.refund(`${server.url}/agent/v1/channel/refund`, { amount: `${RENT}` }).then(
                () => note('refunded'),
                (error: Error) => note(`refund: ${error.message.slice(0, 60)}`),
              );
            break;
          }
          note(`${told.status} ${told.body.error ?? told.body.code}`);
          // One that missed the answer to a refund believes that it has more: it begins anew, and reads the chain.
          if (told.status === 402) client = channelBuyer(account, chain.url);
          await after(PAUSE_MS);
        }
      }
      return bought;
    };
    const buying = Promise.all(accounts.map(buy));
    const deadline = performance.now() + 1000 * SECONDS_MAX;
    let kills = 0;
    while (kills < KILLS && performance.now() < deadline) {
      await after(random.below(RUNNING_MS_MAX));
      await server.kill();
      kills += 1;
      await server.start();
    }
    isOver = true;
    const bought = await buying;
    t.same(await outside.calm(), []);
    t.same(await server.withoutPending(), []);
    await server.stop();
    // What was claimed last is in a block soon, or is sent again by the next start.
    await server.start();
    await server.stop();
    const books = await openBooks(place.dataFolder);
    t.teardown(() => books.close());
    const sales = bought.flat();
    t.comment(JSON.stringify({ kills, sales: sales.length, seen: Object.fromEntries(seen) }));
    t.ok(sales.length > 0);
    t.equal(new Set(sales).size, sales.length, 'each is another workspace');
    const sold = BigInt(sales.length) * RENT;
    const entries = [...books.ledger.entries(0)];
    const amounts = (of: string) =>
      entries.filter(({ kind }) => kind === of).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const vouchers = entries.filter(({ kind }) => kind === 'voucher');
    t.equal(vouchers.length, sales.length, 'sold once each');
    t.equal(new Set(vouchers.map(({ nonce }) => nonce)).size, sales.length);
    t.equal(amounts('voucher'), sold);
    const channels = books.rows<Channel>('channels').map(({ value }) => value);
    // One that is claimed and refunded whole is forgotten, and goes on from what the chain has.
    for (const { config, charged } of channels) {
      const own = vouchers.filter(({ payer }) => payer === config.payer);
      t.equal(
        charged,
        own.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
        'charged for what its payer bought',
      );
    }
    const unclaimed = channels.reduce((sum, { charged, claimed }) => sum + charged - claimed, 0n);
    t.equal(amounts('claimed') + unclaimed, sold);
    t.equal(await chain.balance(PAY_TO), amounts('claimed'), 'the ledger is what the chain has');
    const left = await Promise.all(accounts.map(({ address }) => chain.balance(address)));
    const deposited = purses.reduce((sum, purse, at) => sum + purse - left[at]!, 0n);
    t.equal((await chain.balance(escrow)) + amounts('claimed'), deposited);
  },
);
