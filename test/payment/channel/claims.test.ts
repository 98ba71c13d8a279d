import { join } from 'node:path';
import t from 'tap';
import { BASE_USDC, escrowOn } from '../../../src/payment/asset.ts';
import { type ChannelState, Channels, type Operation } from '../../../src/payment/channel/channels.ts';
import { Claims } from '../../../src/payment/channel/claims.ts';
import { RpcRefusal } from '../../../src/payment/facilitator/rpc-node.ts';
import type { Hex, Payment } from '../../../src/payment/payment.ts';
import type { Escrow } from '../../../src/payment/self/escrow.ts';
import { openStore } from '../../../src/server/state/store.ts';
import { type Teardown, temporaryFolder } from '../../rig/temporary-folder.ts';
import { SetClock } from '../rig/gate-rig.ts';
import { addressOf, PAY_TO, wallet } from '../rig/payments.ts';

/** When channels are claimed, and from which; the chain is made up here. */

const HOUR_MS = 3_600_000;
const US = addressOf(wallet());
const BALANCE = 5_000_000n;

function openClaims(t: Teardown) {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  const clock = new SetClock();
  const channels = new Channels({ store, clock });
  const chain = new Map<Hex, ChannelState>();
  const sent: { readonly claimed: readonly bigint[]; readonly gasMax: bigint }[] = [];
  const events: Readonly<Record<string, unknown>>[] = [];
  const refused = new Set<Hex>();
  const escrow: Pick<
    Escrow,
    'address' | 'payTo' | 'terms' | 'connect' | 'read' | 'shareOf' | 'outcomeOf' | 'operate'
  > = {
    address: escrowOn('eip155:8453').address,
    payTo: PAY_TO,
    terms: { receiverAuthorizer: US, withdrawDelay: 86_400 },
    connect: async () => {},
    read: async (id) => chain.get(id)!,
    shareOf: (amount) => amount,
    outcomeOf: () => undefined,
    operate: async ({ claims }: Operation, _, { gasMax }) => {
      if (claims.some(({ id }) => refused.has(id)))
        throw new RpcRefusal('', { told: 'execution reverted', code: 3 });
      sent.push({ claimed: claims.map(({ charged, claimed }) => charged - claimed), gasMax });
      for (const { id, charged } of claims) chain.set(id, { ...chain.get(id)!, claimed: charged });
      return { outcome: Promise.resolve({ kind: 'settled', transaction: '0xaa', by: { gasUnits: '7' } }) };
    },
  };
  const log = (event: Readonly<Record<string, unknown>>) => void events.push(event);
  const claims = new Claims({ channels, escrow: escrow as Escrow, asset: BASE_USDC, clock, log });
  /** A channel that was charged so much. */
  const sell = async (value: bigint, receiverAuthorizer = US) => {
    const account = addressOf(wallet());
    const id = `0x${account.slice(2).padEnd(64, '0')}` as Hex;
    const config = {
      payer: account,
      payerAuthorizer: account,
      receiver: PAY_TO,
      receiverAuthorizer,
      token: BASE_USDC.address,
      withdrawDelay: 86_400,
      salt: `0x${'0'.repeat(64)}` as Hex,
    };
    chain.set(id, { balance: BALANCE, claimed: 0n, withdrawAt: 0, refundNonce: 0n });
    const payment: Payment = {
      version: 2,
      scheme: 'batch-settlement',
      networkName: 'eip155:8453',
      asset: escrowOn('eip155:8453'),
      payer: account,
      payTo: PAY_TO,
      value,
      validAfter: 0n,
      validBefore: 0n,
      nonce: id,
      signature: '0x',
      voucher: { kind: 'voucher', config, id, total: value },
    };
    await channels.deposited(payment, chain.get(id)!, { transaction: '0xbb' });
    return id;
  };
  return { channels, chain, claims, clock, sell, sent, events, refused };
}

t.test('what is little and new waits; a dollar, six hours, a withdrawal or the end do not', async (t) => {
  const { chain, claims, clock, sell, sent } = openClaims(t);
  await sell(400_000n);
  await claims.claim();
  t.same(sent, [], 'little and new');
  await sell(700_000n);
  await claims.claim();
  t.match(sent.pop(), { claimed: { length: 2 }, gasMax: 110_000n }, 'more than a dollar in all');
  await sell(10n);
  clock.offsetMs += 6 * HOUR_MS;
  await claims.claim();
  t.same(sent.pop(), { claimed: [10n], gasMax: 10n }, 'old: its gas may be all that it brings in');
  const leaving = await sell(20n);
  chain.set(leaving, { ...chain.get(leaving)!, withdrawAt: 1 });
  await claims.claim();
  t.same(sent, [], 'the chain was asked of late');
  clock.offsetMs += HOUR_MS;
  await claims.claim();
  t.same(sent.pop(), { claimed: [20n], gasMax: 20n });
  await sell(30n);
  await claims.close();
  t.same(sent.pop(), { claimed: [30n], gasMax: 3n }, 'the end');
});

t.test('nothing is claimed from a channel while its sale may be undone', async (t) => {
  const { claims, sell, sent } = openClaims(t);
  const id = await sell(2_000_000n);
  await claims.whileSelling(id, () => claims.claim());
  t.same(sent, []);
  await claims.claim();
  t.same(sent.pop()?.claimed, [2_000_000n]);
});

t.test(
  'one that the contract refuses, one of another key and one whose money has left hold up no others',
  async (t) => {
    const { channels, chain, claims, clock, sell, sent, events, refused } = openClaims(t);
    refused.add(await sell(1_000_000n));
    const other = await sell(1_000_000n, addressOf(wallet()));
    const short = await sell(1_000_000n);
    const good = await sell(1_000_000n);
    chain.set(short, { ...chain.get(short)!, balance: 600_000n });
    clock.offsetMs += HOUR_MS;
    await claims.claim();
    await claims.claim();
    t.same(sent.flatMap(({ claimed }) => claimed).toSorted(), [1_000_000n, 600_000n], 'as much as is there');
    t.equal(channels.find(good)?.claimed, 1_000_000n);
    t.equal(channels.find(other)?.claimed, 0n);
    const told = events.filter(({ event }) => event !== 'claim_not_sent');
    t.same(
      told.map(({ event, channel }) => [event, channel]).toSorted(),
      [
        ['channel_of_another_key', other],
        ['channel_short', short],
      ],
      'each is told once',
    );
  },
);

t.test('an operation that a crash left is booked by what the chain shows', async (t) => {
  const { channels, chain, claims, sell, sent } = openClaims(t);
  const id = await sell(50n);
  await channels.begin({ id: `0x${'e'.repeat(64)}`, claims: [{ id, charged: 50n, claimed: 0n }] });
  chain.set(id, { ...chain.get(id)!, claimed: 50n });
  await claims.claim({ all: true });
  t.same(sent, [], 'it was made');
  t.equal(channels.operation(), undefined);
  t.equal(channels.find(id)?.claimed, 50n);
});
