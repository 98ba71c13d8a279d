import t from 'tap';
import {
  decodeFunctionData,
  encodeFunctionData,
  parseAbi,
  parseSignature,
  serializeSignature,
  toEventSelector,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { BASE_USDC } from '../../../../src/payment/asset.ts';
import { RpcWitness, TOPICS } from '../../../../src/payment/facilitator/rpc-witness.ts';
import { noChain, startChain } from '../../../payment/chain/chain.ts';
import { payV1 } from '../../../payment/rig/legacy-client.ts';
import { addressOf, paymentOf, sign, v1Header, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { onlyDeep } from '../../../rig/deep.ts';
import { TestAgent } from '../../../rig/test-server.ts';
import { startPaidServer } from './paid-server.ts';

/** Payments on a real chain: anvil with the id of Base, a USDC, a facilitator of the protocol's own packages, the whole server. */

const TRANSFER_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
const PURSE = 10_000_000n;

const receiptOf = (headers: Headers) =>
  JSON.parse(Buffer.from(headers.get('PAYMENT-RESPONSE')!, 'base64').toString('utf8')) as {
    transaction: string;
    payer: string;
  };

for (const [NETWORK, own, skip] of [
  ['eip155:8453', undefined, noChain],
  ['eip155:84532', 'self', noChain],
  ['eip155:84532', undefined, noChain ?? onlyDeep],
  ['eip155:8453', 'self', noChain ?? onlyDeep],
] as const) {
  const through = `through ${own === 'self' ? 'this server itself' : 'a facilitator'}`;
  const name = `v1 and v2 clients pay for every route on ${NETWORK} ${through}; the chain’s balances equal our books`;
  t.test(name, { skip: skip ?? false }, async (t) => {
    const { chain, merchant, server, booksAtEnd } = await startPaidServer(t, {
      NETWORK,
      X402_BODY_NETWORK: 'base',
      ...(own && { FACILITATOR: own }),
    });
    const agent = new TestAgent(server.url);
    const legacy = privateKeyToAccount(generatePrivateKey());
    await chain.mint(agent.account.address, PURSE);
    await chain.mint(legacy.address, PURSE);

    const transactions: string[] = [];
    const paid = (answer: { status: number; headers: Headers }, what: string) => {
      t.ok(answer.status < 300, `${what}: ${answer.status}`);
      transactions.push(receiptOf(answer.headers).transaction);
    };
    const ingested = await agent.ingest('tides.txt', 'Tides follow the moon.');
    paid(ingested, 'v2 ingest');
    paid(await agent.post('/agent/v1/search', { query: 'what moves the sea?' }), 'v2 search');
    paid(await agent.get(`/agent/v1/items/${ingested.body.item.id}`), 'v2 item');
    const rented = await agent.post('/agent/v1/workspaces', { ttl_minutes: 20 });
    paid(rented, 'v2 workspace');
    const extend = `/agent/v1/workspaces/${rented.body.id}/extend`;
    paid(await agent.post(extend, { ttl_minutes: 10 }), 'v2 extension');

    const v1 = async (method: string, path: string, body?: string) => {
      const headers = { Prefer: 'wait=60' };
      const response = await payV1(legacy, server.url + path, { method, body, headers });
      paid(response, `v1 ${method} ${path}`);
      return (await response.json()) as { id: string; item: { id: string } };
    };
    const { item } = await v1('POST', '/agent/v1/ingest', 'Gulls nest on cliffs.');
    await v1('POST', '/agent/v1/search', '{"query":"where do gulls live?"}');
    await v1('GET', `/agent/v1/items/${item.id}`);
    const { id } = await v1('POST', '/agent/v1/workspaces', '{"ttl_minutes":20}');
    await v1('POST', `/agent/v1/workspaces/${id}/extend`, '{"ttl_minutes":10}');

    const poor = new TestAgent(server.url);
    const refused = await poor.post('/agent/v1/workspaces', {});
    t.equal(refused.status, 402, 'a wallet without money buys nothing');

    const { totals, entries } = await booksAtEnd();
    const sum = (payer: string) =>
      entries
        .filter((entry) => entry.kind === 'settled' && entry.payer === payer.toLowerCase())
        .reduce((all, { amount }) => all + BigInt(amount), 0n);
    t.same([totals.settled.count, totals.pending.count, totals.presumed.count], [10, 0, 0]);
    t.equal(await chain.balance(merchant), BigInt(totals.settled.amount), 'the merchant');
    t.equal(PURSE - (await chain.balance(agent.account.address)), sum(agent.account.address), 'the v2 payer');
    t.equal(PURSE - (await chain.balance(legacy.address)), sum(legacy.address), 'the v1 payer');
    t.same(
      entries.map(({ transaction }) => transaction),
      transactions,
      'receipts and books name the same transactions',
    );
  });
}

t.test(
  'a settlement whose answer is dropped is found on the chain',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, facilitator, merchant, server, booksAtEnd } = await startPaidServer(t);
    const agent = new TestAgent(server.url);
    await chain.mint(agent.account.address, PURSE);
    await facilitator.behave('drops_after');
    const rented = await agent.post('/agent/v1/workspaces', { ttl_minutes: 20 });
    t.equal(rented.status, 201, 'the chain tells at once');
    const { transaction, payer } = receiptOf(rented.headers);
    t.equal(payer, agent.account.address.toLowerCase());
    await facilitator.behave('none');

    // Public data of the settled payment: the transaction's input.
    const { args } = decodeFunctionData({ abi: TRANSFER_ABI, data: await chain.inputOf(transaction) });
    const [from, to, value, validAfter, validBefore, nonce, v, r, s] = args;
    const signature = serializeSignature({ r, s, v: BigInt(v) });
    const authorization = {
      from,
      to,
      value: `${value}`,
      validAfter: `${validAfter}`,
      validBefore: `${validBefore}`,
      nonce,
    };
    for (const header of [v1Header({ signature, authorization }), v2Header({ signature, authorization })]) {
      for (const name of ['X-PAYMENT', 'PAYMENT-SIGNATURE']) {
        const rebuilt = await fetch(`${server.url}/agent/v1/workspaces`, {
          method: 'POST',
          body: '{"ttl_minutes":20}',
          headers: { [name]: header, 'Idempotency-Key': 'a-guess-of-a-private-key' },
        });
        t.equal(rebuilt.status, 402, `rebuilt from the chain, as ${name}`);
        const body = (await rebuilt.json()) as Record<string, unknown>;
        t.equal(body.error, 'authorization_already_used');
        t.notOk(JSON.stringify(body).includes('fws_'), 'no token');
      }
    }
    const { totals } = await booksAtEnd();
    t.match(totals, { settled: { count: 1 }, pending: { count: 0 } });
    t.equal(await chain.balance(merchant), BigInt(totals.settled.amount));
  },
);

t.test(
  'a facilitator that lies about a settlement on the chain cheats nobody',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, facilitator, merchant, server, booksAtEnd } = await startPaidServer(t, {
      CONFIRM_SETTLEMENTS: '1',
    });
    const agent = new TestAgent(server.url);
    await chain.mint(agent.account.address, PURSE);
    const rent = () => agent.post('/agent/v1/workspaces', { ttl_minutes: 20 });
    await facilitator.behave('refuses_after');
    t.equal((await rent()).status, 201, 'the chain tells that it was paid');
    await facilitator.behave('never');
    const unpaid = await rent();
    t.match([unpaid.status, unpaid.body.code], [503, 'settlement_pending'], 'nothing is given for nothing');
    const paidOnce = await chain.balance(merchant);
    t.equal(paidOnce, PURSE - (await chain.balance(agent.account.address)));
    await facilitator.behave('none');
    let again = await rent();
    while (again.body.code === 'settlement_pending') again = await rent();
    t.equal(again.status, 201);
    t.equal(await chain.balance(merchant), 2n * paidOnce);
    const { totals } = await booksAtEnd();
    t.match(totals, { settled: { count: 2 }, pending: { count: 0 } });
  },
);

t.test('what the witness says of an authorization', { skip: noChain ?? false }, async (t) => {
  const chain = await startChain(t);
  const witness = new RpcWitness({ urls: [chain.url] });
  const account = wallet();
  await chain.mint(account.address, PURSE);
  const payload = await sign(account);
  const payment = paymentOf({ xPayment: v1Header(payload) });
  const unused = await witness.look(payment);
  t.match(unused, { kind: 'unused', balance: PURSE });
  if (unused.kind === 'unused') t.ok(Math.abs(Number(unused.chainTimeS) - Date.now() / 1000) < 600);
  const poor = await witness.look({ ...payment, payer: addressOf(wallet()) });
  t.match(poor, { kind: 'unused', balance: 0n });
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const { r, s, v } = parseSignature(payload.signature);
  const transaction = await chain.send(
    encodeFunctionData({
      abi: TRANSFER_ABI,
      functionName: 'transferWithAuthorization',
      args: [
        from as `0x${string}`,
        to as `0x${string}`,
        BigInt(value),
        BigInt(validAfter),
        BigInt(validBefore),
        nonce,
        Number(v),
        r,
        s,
      ],
    }),
  );
  t.ok(await chain.isUsed(from, nonce));
  t.same(await witness.look(payment), { kind: 'settled', transaction }, 'settled, whoever sent it');
  t.same(
    await witness.look({ ...payment, value: payment.value + 1n }),
    { kind: 'used_otherwise' },
    'another amount under the same nonce',
  );
  t.same(await witness.look({ ...payment, payTo: addressOf(account) }), { kind: 'used_otherwise' });
  await t.rejects(witness.look({ ...payment, asset: { ...BASE_USDC, chainId: 1 } }), /leads to chain 8453/);
  await t.rejects(new RpcWitness({ urls: ['http://127.0.0.1:9'] }).look(payment), /eth_chainId/);
  t.same(
    TOPICS,
    {
      authorizationUsed: toEventSelector('AuthorizationUsed(address,bytes32)'),
      authorizationCanceled: toEventSelector('AuthorizationCanceled(address,bytes32)'),
      transfer: toEventSelector('Transfer(address,address,uint256)'),
    },
    'the constants are the hashes of what they name',
  );
});
