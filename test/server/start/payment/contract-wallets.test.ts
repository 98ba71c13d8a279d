import t from 'tap';
import {
  concat,
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  serializeErc6492Signature,
} from 'viem';
import { BASE_USDC } from '../../../../src/payment/asset.ts';
import type { Facilitator } from '../../../../src/payment/facilitator/facilitator.ts';
import type { Payment } from '../../../../src/payment/payment.ts';
import { noChain, type WalletFactory } from '../../../payment/chain/chain.ts';
import { openRig } from '../../../payment/rig/gate-rig.ts';
import { type Signing, sign, v1Header, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { buy } from '../../../payment/rig/requests.ts';
import { deep } from '../../../rig/deep.ts';
import {
  type SignedTransfer,
  tokenDomain,
  transferOf,
  transferTypedData,
} from '../../../rig/sign-transfer.ts';
import { startPaidServer } from './paid-server.ts';

/** Wallets that are contracts pay through a facilitator that asks the chain about their signatures. */

type Account = ReturnType<typeof wallet>;
const PURSE = 1_000_000n;
const PRICE = 10_000n + 15n * 500n;

/** An authorization of the contract, signed as its code wants it: by the owner, over the hash bound to the contract. */
async function signAsContract(
  contract: Hex,
  owner: Account,
  signing: Signing,
  kind: Hex = '0x01',
): Promise<SignedTransfer> {
  const { authorization } = await sign(owner, signing);
  const ofContract = { ...authorization, from: contract };
  const hash = hashTypedData(transferTypedData(tokenDomain(BASE_USDC), transferOf(ofContract)));
  const bound = keccak256(encodeAbiParameters(parseAbiParameters('bytes32, address'), [hash, contract]));
  const signature = concat([await owner.signMessage({ message: { raw: bound } }), kind]);
  return { signature, authorization: ofContract };
}

/** One for each claim; each claim with both in `make test-deep`. */
const THROUGH = [
  ['through a facilitator', {}],
  ['through this server itself', { FACILITATOR: 'self' }],
] as const;

for (const [through, own] of deep([THROUGH[0]], [...THROUGH])) {
  const name = `contract wallets pay by their owner’s signature alone, ${through}; chain and books agree`;
  t.test(name, { skip: noChain ?? false }, async (t) => {
    const { chain, merchant, server, booksAtEnd } = await startPaidServer(t, own);
    const owner = wallet();
    const contract = await chain.deployWallet(owner.address);
    await chain.mint(contract, PURSE);
    const validBefore = () => BigInt(Math.floor(Date.now() / 1000) + 280);
    const pay = (by: Account, kind?: Hex) =>
      signAsContract(contract, by, { to: merchant, value: PRICE, validBefore: validBefore() }, kind);
    const rent = async (payload: SignedTransfer) => {
      const response = await fetch(`${server.url}/agent/v1/workspaces`, {
        method: 'POST',
        body: '{}',
        headers: { 'PAYMENT-SIGNATURE': v2Header(payload, { accepted: { payTo: merchant } }) },
      });
      const { error, id } = (await response.json()) as { error?: string; id?: string };
      return { status: response.status, error, id };
    };

    const plain = await pay(owner);
    t.equal((await rent(plain)).status, 201);
    t.match(await rent(plain), { status: 402, error: 'authorization_already_used' }, 'its replay');

    t.equal((await rent(await pay(owner, '0x'))).status, 201, 'a signature as long as a plain wallet’s');
    t.match(
      await rent(await pay(wallet(), '0x')),
      { status: 402, error: 'invalid_signature' },
      'a stranger’s of that length',
    );
    const nobody = wallet();
    const forged = { ...(await sign(wallet(), { to: merchant, value: PRICE, validBefore: validBefore() })) };
    forged.authorization = { ...forged.authorization, from: nobody.address };
    t.match(await rent(forged), { status: 402, error: 'invalid_signature' }, 'of a wallet without code');

    t.match(
      await rent(await pay(wallet())),
      { status: 402, error: 'invalid_signature' },
      'a stranger signed',
    );
    const spoilt = await pay(owner);
    const other = { ...spoilt, authorization: { ...spoilt.authorization, validAfter: '1' } };
    t.match(await rent(other), { status: 402, error: 'invalid_signature' }, 'another message');

    const copies = await pay(owner);
    const answers = await Promise.all(Array.from({ length: 5 }, () => rent(copies)));
    t.equal(new Set(answers.filter(({ status }) => status === 201).map(({ id }) => id)).size, 1, 'copies');
    t.ok(answers.every(({ status, error }) => status === 201 || error === 'authorization_already_used'));

    const { settled, pending } = (await booksAtEnd()).totals;
    t.same([settled.count, pending.count], [3, 0]);
    t.equal(await chain.balance(merchant), 3n * PRICE);
    t.equal(await chain.balance(contract), PURSE - 3n * PRICE);
  });
}

for (const [through, own] of deep([THROUGH[1]], [...THROUGH])) {
  const name = `a wallet not deployed yet pays (ERC-6492) through its factory, called once, ${through}`;
  t.test(name, { skip: noChain ?? false }, async (t) => {
    let factory!: WalletFactory;
    const settings = { ...own, ...('FACILITATOR' in own && { SETTLEMENT_GAS_MAX: '500000' }) };
    const { chain, merchant, server } = await startPaidServer(t, settings, async (chain) => {
      factory = await chain.deployFactory();
      return [factory.address];
    });
    const strangers = await chain.deployFactory();
    const rent = async (owner: Account, from: WalletFactory, signer = owner) => {
      const contract = from.walletOf(owner.address);
      const validBefore = BigInt(Math.floor(Date.now() / 1000) + 280);
      const signed = await signAsContract(contract, signer, { to: merchant, value: PRICE, validBefore });
      const wrapped = serializeErc6492Signature({
        address: from.address,
        data: from.deployment(owner.address),
        signature: signed.signature,
      });
      const response = await fetch(`${server.url}/agent/v1/workspaces`, {
        method: 'POST',
        body: '{}',
        headers: {
          'PAYMENT-SIGNATURE': v2Header({ ...signed, signature: wrapped }, { accepted: { payTo: merchant } }),
        },
      });
      return { status: response.status, body: (await response.json()) as { error?: string } };
    };
    const owner = wallet();
    const contract = factory.walletOf(owner.address);
    await chain.mint(contract, PURSE);
    t.notOk(await chain.isDeployed(contract));
    t.not((await rent(owner, factory, wallet())).status, 201, 'a stranger signed');
    t.notOk(await chain.isDeployed(contract), 'nothing is deployed for a stranger');

    t.match(await rent(owner, factory), { status: 201 });
    t.ok(await chain.isDeployed(contract));
    t.equal(await chain.balance(contract), PURSE - PRICE);
    t.match(await rent(owner, factory), { status: 201 }, 'and again, now that it is there');
    t.equal(await chain.balance(merchant), 2n * PRICE);

    if ('FACILITATOR' in own) return;
    await chain.mint(strangers.walletOf(owner.address), PURSE);
    t.match(await rent(owner, strangers), { status: 402 }, 'a factory that the facilitator does not allow');
    t.equal(await chain.balance(merchant), 2n * PRICE);
  });
}

/** A facilitator that believes every contract wallet but those whose signature begins with `bad`: only a chain could tell. */
function believing(asked: Payment[]): Facilitator {
  return {
    outcomeIsKnowable: false,
    verifiesContractWallets: true,
    verify: async (payment) => {
      asked.push(payment);
      return payment.signature.startsWith('0xbad')
        ? { valid: false, reason: 'invalid_exact_evm_signature' }
        : { valid: true };
    },
    settle: async ({ nonce }) => ({ kind: 'settled', transaction: nonce }),
    reconcile: async () => ({ kind: 'unknown', detail: 'not asked here' }),
    connect: async () => {},
    health: () => ({ kind: 'remote', movesMoney: false }),
  };
}

t.test('nonce and key of a contract wallet’s payment open nothing without its signature', async (t) => {
  const asked: Payment[] = [];
  const rig = openRig(t, { facilitator: () => believing(asked) });
  const payload = { ...(await sign(wallet())), signature: `0x${'ab'.repeat(66)}` as const };
  const key = { idempotencyKey: 'a-private-key-of-mine' };
  t.equal((await buy(rig, { ...key, xPayment: v1Header(payload) })).status, 200);
  const guessed = { ...payload, signature: `0xbad0${'cd'.repeat(66)}` as const };
  t.equal((await buy(rig, { ...key, xPayment: v1Header(guessed) })).body.error, 'invalid_signature');
  t.equal(asked.length, 2);
});
