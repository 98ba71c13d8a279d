import t, { type Test } from 'tap';
import { BASE_SEPOLIA_USDC, BASE_USDC } from '../../../src/payment/asset.ts';
import { CHAIN_LAG_S, provenBy, type Sighting } from '../../../src/payment/facilitator/chain-witness.ts';
import { RpcWitness, TOPICS } from '../../../src/payment/facilitator/rpc-witness.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { paid, paymentOf } from '../rig/payments.ts';
import { serveRpc } from '../rig/rpc-server.ts';

/** Nodes of small plans, and several of them. */

const NEWEST = 1_000_000n;
const HASH = `0x${'a'.repeat(64)}`;

interface Plan {
  /** Most blocks of one look at the log. */
  readonly blocksMax?: bigint;
  /** Blocks since the nonce was used; absent: it is not. */
  readonly usedAgo?: bigint;
  readonly chainId?: number;
  /** The node knows no receipts. */
  readonly noReceipts?: boolean;
}

const hex = (number: bigint | number) => `0x${number.toString(16)}`;
const word = (value: string) => `0x${value.slice(2).padStart(64, '0')}`;

async function serveNode(t: Test, payment: Payment, plan: Plan) {
  const { asset, payer, payTo, nonce, value } = payment;
  const log = (event: string, topics: string[], logIndex: number, data = '0x') => ({
    address: asset.displayedAddress,
    topics: [event, ...topics],
    logIndex: hex(logIndex),
    data,
    transactionHash: HASH,
  });
  const use = log(TOPICS.authorizationUsed, [word(payer), nonce], 1);
  const transfer = log(TOPICS.transfer, [word(payer), word(payTo)], 2, word(hex(value)));
  /** Blocks of each look. */
  const looks: bigint[] = [];
  const blockAt = (block: bigint, more: unknown) => ({
    number: hex(block),
    timestamp: hex(timeOf(block)),
    more,
  });
  const answer = (method: string, [asked, more]: [Record<string, string>, unknown]): object => {
    if (method === 'eth_chainId') return { result: hex(plan.chainId ?? asset.chainId) };
    if (method === 'eth_blockNumber') return { result: hex(NEWEST) };
    if (method === 'eth_getBlockByNumber')
      return { result: blockAt(String(asked) === 'latest' ? NEWEST : BigInt(String(asked)), more) };
    if (method === 'eth_call') {
      const isState = asked.data!.startsWith('0xe94a0102');
      return { result: hex(isState ? Number(plan.usedAgo !== undefined) : 5000) };
    }
    if (method === 'eth_getTransactionReceipt')
      return { result: plan.noReceipts || String(asked) !== HASH ? null : { logs: [transfer, use] } };
    const [from, to] = [BigInt(asked.fromBlock!), BigInt(asked.toBlock!)];
    looks.push(to - from + 1n);
    if (to - from + 1n > (plan.blocksMax ?? 2000n))
      return {
        error: { code: -32600, message: 'Under the Free plan you can make eth_getLogs requests with less' },
      };
    const at = plan.usedAgo === undefined ? -1n : NEWEST - plan.usedAgo;
    return { result: from <= at && at <= to ? [use] : [] };
  };
  const { url, close } = await serveRpc(answer);
  t.teardown(close);
  return { url, looks };
}

const payment = paymentOf(await paid());
const settled = { kind: 'settled', transaction: HASH } as const;
/** The newest block is of the authorization's time; one comes every two seconds. */
const timeOf = (block: bigint) => payment.validBefore - 20n - 2n * (NEWEST - block);

t.test('an older use is searched in growing steps, as far as the plan allows', async (t) => {
  const node = await serveNode(t, payment, { usedAgo: 20_000n });
  t.same(await new RpcWitness({ urls: [node.url] }).look(payment), settled);
  t.ok(node.looks.length < 20, `${node.looks.length} looks`);
  const small = await serveNode(t, payment, { usedAgo: 60n, blocksMax: 5n });
  t.same(await new RpcWitness({ urls: [small.url] }).look(payment), settled);
});

t.test('the transaction that the facilitator told is looked at before the log', async (t) => {
  const node = await serveNode(t, payment, { usedAgo: 0n, blocksMax: 0n });
  const witness = new RpcWitness({ urls: [node.url] });
  t.same(await witness.look(payment, HASH), settled);
  t.same(node.looks, []);
  t.match(await witness.look(payment, `0x${'b'.repeat(64)}`), { kind: 'settled', transaction: '' });
});

t.test(
  'a used nonce counts as settled where nobody lets the log be read, and as nothing where it is empty',
  async (t) => {
    const unproven = { kind: 'settled', transaction: '', unproven: true };
    const used = { kind: 'refused', reason: 'authorization_already_used' };
    for (const [plan, seenNow, provenNow, provenLater] of [
      [{ blocksMax: 0n }, { kind: 'settled', unread: /log|Logs/ }, unproven, unproven],
      [{ usedAgo: 60_000n }, { kind: 'unexplained', isComplete: true }, undefined, used],
      [{ blocksMax: 5n, usedAgo: 10_000n }, { kind: 'unexplained', isComplete: false }, undefined, unproven],
      [{ noReceipts: true }, { kind: 'unexplained', isComplete: false }, undefined, unproven],
    ] as const) {
      const node = await serveNode(t, payment, { usedAgo: 0n, ...plan });
      const seen = await new RpcWitness({ urls: [node.url] }).look(payment);
      t.match(seen, seenNow);
      t.same(provenBy(seen, payment), provenNow);
      const later = { ...seen, chainTimeS: payment.validBefore + CHAIN_LAG_S + 1n } as Sighting;
      t.same(provenBy(later, payment), provenLater);
    }
  },
);

t.test('of several nodes the first that can answer does', async (t) => {
  const away = 'http://127.0.0.1:9';
  const other = await serveNode(t, payment, { chainId: BASE_SEPOLIA_USDC.chainId });
  const small = await serveNode(t, payment, { usedAgo: 0n, blocksMax: 0n });
  const good = await serveNode(t, payment, { usedAgo: 0n });
  const unused = await serveNode(t, payment, {});
  const look = (...urls: string[]) => new RpcWitness({ urls }).look(payment);
  t.same(await look(away, other.url, small.url, good.url), settled, 'who can read the log tells it');
  t.same(await look(away, unused.url, good.url), {
    kind: 'unused',
    chainTimeS: timeOf(NEWEST),
    balance: 5000n,
  });
  t.match(await look(small.url, unused.url), { kind: 'settled' }, 'a use that one has seen stays one');
  await t.rejects(look(other.url, away), /leads to chain 84532, not to 8453; .*ECONNREFUSED/);
  t.equal(payment.asset, BASE_USDC);
});
