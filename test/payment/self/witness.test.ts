import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { encodeFunctionData, parseAbi, parseSignature } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { CHAIN_LAG_S, provenBy } from '../../../src/payment/facilitator/chain-witness.ts';
import { RpcWitness } from '../../../src/payment/facilitator/rpc-witness.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { transferCall } from '../../../src/payment/self/transfer-call.ts';
import { eventually } from '../../rig/eventually.ts';
import { listening } from '../../rig/ports.ts';
import { tokenDomain } from '../../rig/sign-transfer.ts';
import { type Chain, noChain, startChain } from '../chain/chain.ts';
import { PAY_TO, PRICE, wallet } from '../rig/payments.ts';
import { openSelfRig, pay, TERMS } from './self-rig.ts';

/** What a real chain shows of authorizations that are cancelled, reorganised away, or told by a node that is behind or lies. */

const skip = noChain ?? false;
const ABI = parseAbi([
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

/** The call by which a payer takes an authorization back. */
async function cancellation(account: PrivateKeyAccount, { asset, nonce }: Payment): Promise<`0x${string}`> {
  const message = { authorizer: account.address, nonce: nonce as `0x${string}` };
  const { r, s, yParity } = parseSignature(
    await account.signTypedData({
      domain: tokenDomain(asset),
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message,
    }),
  );
  const args = [account.address, message.nonce, yParity + 27, r, s] as const;
  return encodeFunctionData({ abi: ABI, functionName: 'cancelAuthorization', args });
}

/** A node in front of the chain that shows neither logs nor receipts while it is told to. */
async function serveBlind(t: Test, chain: Chain) {
  const node = { url: '', isBlind: true };
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    const { id, method } = JSON.parse(body);
    const hidden = { eth_getLogs: [], eth_getTransactionReceipt: null }[method as string];
    if (node.isBlind && hidden !== undefined)
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result: hidden }));
    const headers = { 'content-type': 'application/json' };
    response.end(await (await fetch(chain.url, { method: 'POST', body, headers })).text());
  });
  node.url = (await listening(t, server)).url;
  return node;
}

t.test('a cancelled authorization is refused, whenever it is cancelled', { skip }, async (t) => {
  const { chain, facilitator, settler } = await openSelfRig(t);
  const used = 'authorization_already_used';
  const account = wallet();
  const [early, later, late] = [
    await pay(chain, { account }),
    await pay(chain, { account }),
    await pay(chain, { account }),
  ];
  await chain.send(await cancellation(account, early));
  t.match(await facilitator.verify(early, TERMS), { valid: false, reason: used });
  t.same(await facilitator.verify(later, TERMS), { valid: true });
  await chain.send(await cancellation(account, later));
  t.match(await facilitator.settle(later, TERMS), { kind: 'refused', reason: used });
  await chain.control.setAutomine(false);
  const settling = facilitator.settle(late, TERMS);
  await eventually(() => settler.gas()?.waiting === 1);
  const [stranger] = (await chain.control.request({ method: 'eth_accounts' as never })) as [`0x${string}`];
  await chain.control.sendTransaction({
    account: stranger,
    to: late.asset.address,
    data: await cancellation(account, late),
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 10n,
  });
  await chain.control.mine({ blocks: 1 });
  t.match(await settling, { kind: 'refused', reason: used, by: { facilitator: 'self' } });
  for (const payment of [early, later, late])
    t.match(await facilitator.reconcile(payment, TERMS), { kind: 'refused', reason: used });
  t.equal(await chain.balance(PAY_TO), 0n);
});

t.test('a node that says "used" and shows no transaction sells nothing', { skip }, async (t) => {
  const chain = await startChain(t);
  const node = await serveBlind(t, chain);
  const settings = { RPC_URL: node.url };
  const { facilitator, witness } = await openSelfRig(t, { chain, settings, settleDeadlineMs: 2000 });
  const account = wallet();
  const [cancelled, paid] = [await pay(chain, { account }), await pay(chain, { account })];
  await chain.send(await cancellation(account, cancelled));
  await chain.send(transferCall(paid).data);
  for (const payment of [cancelled, paid]) {
    t.match(await facilitator.settle(payment, TERMS), { kind: 'unknown' });
    t.match(await facilitator.reconcile(payment, TERMS), { kind: 'unknown' });
  }
  const seen = await witness.look(paid);
  t.match(seen, { kind: 'unexplained', isComplete: true });
  const over = { ...seen, chainTimeS: paid.validBefore + CHAIN_LAG_S + 1n } as typeof seen;
  t.match(provenBy(over, paid), { kind: 'refused' }, 'nor once it can be used no more');
  const two = new RpcWitness({ urls: [node.url, chain.url] });
  t.match(await two.look(paid), { kind: 'settled' }, 'a second node tells who paid');
  t.match(await two.look(cancelled), { kind: 'used_otherwise' });
  node.isBlind = false;
  t.match(await facilitator.reconcile(paid, TERMS), { kind: 'settled' }, 'as does one that has caught up');
  t.match(await facilitator.reconcile(cancelled, TERMS), { kind: 'refused' });
});

t.test(
  'a transfer that a reorganisation takes back is one no more, and is made again',
  { skip },
  async (t) => {
    const { chain, facilitator, witness } = await openSelfRig(t);
    const payment = await pay(chain);
    await chain.control.mine({ blocks: 2 });
    await chain.send(transferCall(payment).data);
    t.match(await witness.look(payment), { kind: 'settled' });
    await chain.control.request({ method: 'anvil_reorg' as never, params: [1, []] as never });
    t.match(await witness.look(payment), { kind: 'unused' });
    t.equal(await chain.balance(PAY_TO), 0n);
    t.match(await facilitator.reconcile(payment, TERMS), { kind: 'settled', by: { facilitator: 'self' } });
    t.equal(await chain.balance(PAY_TO), PRICE);
  },
);
