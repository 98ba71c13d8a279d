import { join } from 'node:path';
import t from 'tap';
import { encodeFunctionData } from 'viem';
import { type Chain, ESCROW_ABI, noChain, startChain } from '../../../payment/chain/chain.ts';
import { channelBuyer } from '../../../payment/rig/channel-buyer.ts';
import { SetClock } from '../../../payment/rig/gate-rig.ts';
import { encode, PAY_TO, wallet } from '../../../payment/rig/payments.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { eventually } from '../../../rig/eventually.ts';
import { openBooks } from '../../../rig/stopped-books.ts';
import { startTestServer } from '../../../rig/test-server.ts';
import { runCommand } from '../../operator/commands/run-command.ts';

/** Channels of x402's batch-settlement: the published client, unchanged, against a whole server and a chain. */

type Teardown = Parameters<typeof startTestServer>[0];
const RENT = 20_000n;
const PURSE = 1_000_000n;
const REASON = 'invalid_batch_settlement_evm_';

async function openShop(
  t: Teardown,
  {
    clock = new SetClock(),
    ...given
  }: {
    clock?: SetClock;
    chain?: Chain;
    before?: () => Promise<void>;
    environment?: Record<string, string>;
  } = {},
) {
  const chain = given.chain ?? (await startChain(t));
  const escrow = await chain.deployEscrow();
  const environment: Record<string, string> = {
    FACILITATOR: 'self',
    PAY_TO,
    RPC_URL: chain.url,
    GAS_KEY: await chain.gasKey(),
    DATA_DIR: join(t.testdir({}), 'data'),
    ...given.environment,
  };
  const open = () => startTestServer(t, environment, { clock });
  await given.before?.();
  const reconcile = () => runCommand(environmentOf(environment), ['ledger', 'reconcile']);
  return { chain, escrow, clock, environment, open, reconcile, server: await open() };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

async function fundedWallet(chain: Chain) {
  const account = wallet();
  await chain.mint(account.address, PURSE);
  return account;
}

/** Buys workspaces of twenty minutes. @returns what each answer says */
async function openBuyer(chain: Chain, options: Parameters<typeof channelBuyer>[2] = {}) {
  const account = await fundedWallet(chain);
  const { scheme, pay } = channelBuyer(account, chain.url, options);
  const rent = async (url: string, send = pay, headers = {}, query = '') => {
    const response = await send(`${url}/agent/v1/workspaces${query}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body: '{"ttl_minutes": 20}',
    });
    const receipt = response.headers.get('payment-response');
    const required = response.headers.get('payment-required');
    const decoded = (header: string | null) => (header === null ? undefined : JSON.parse(atob(header)));
    return {
      status: response.status,
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      body: (await response.json()) as any,
      receipt: decoded(receipt),
      required: decoded(required),
    };
  };
  /** A payment as the client makes it, to be changed before it is sent. */
  const sign = async (url: string) => {
    const { required } = await rent(url, fetch);
    const accepted = required.accepts.find(({ scheme }: { scheme: string }) => scheme === 'batch-settlement');
    return { accepted, ...(await scheme.createPaymentPayload(2, accepted)) };
  };
  const send = (url: string, payment: object) => rent(url, fetch, { 'PAYMENT-SIGNATURE': encode(payment) });
  return { account, scheme, rent, sign, send };
}

async function rowsOf(data: string) {
  const books = await openBooks(data);
  try {
    return [...books.ledger.entries(0)];
  } finally {
    await books.close();
  }
}

t.test(
  'one deposit buys many times; it is topped up, claimed, and refunded in part and whole; ledger and chain agree',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, escrow, environment, server, reconcile } = await openShop(t);
    const buyer = await openBuyer(chain);
    const refund = (options = {}) => buyer.scheme.refund(`${server.url}/agent/v1/channel/refund`, options);
    for (let count = 1; count <= 11; count++) {
      const { status, receipt } = await buyer.rent(server.url);
      t.equal(status, 201);
      t.match(receipt, {
        success: true,
        extra: {
          chargedAmount: `${RENT}`,
          channelState: { chargedCumulativeAmount: `${BigInt(count) * RENT}` },
        },
      });
    }
    t.equal(await chain.balance(escrow), 20n * RENT, 'ten prices at first, and as many at the eleventh');
    t.equal(await chain.balance(PAY_TO), 0n, 'no settlement for any of them');

    t.match(await refund({ amount: `${3n * RENT}` }), { success: true, amount: `${3n * RENT}` });
    t.equal(await chain.balance(PAY_TO), 11n * RENT, 'a refund claims first');
    t.match(await buyer.rent(server.url), { status: 201 });
    t.match(await refund(), { success: true, amount: `${5n * RENT}` });
    t.equal(await chain.balance(escrow), 0n);
    t.equal(await chain.balance(PAY_TO), 12n * RENT);
    t.equal(await chain.balance(buyer.account.address), PURSE - 12n * RENT);
    await t.rejects(refund(), /channel has no remaining balance|no_balance|channel_not_found/);
    t.match(await buyer.rent(server.url), { status: 201 }, 'the client finds its way back');

    await server.stop();
    t.equal(await chain.balance(PAY_TO), 13n * RENT, 'what is left is claimed at the end');
    const rows = await rowsOf(environment.DATA_DIR!);
    const sum = (of: string) =>
      rows.filter(({ kind }) => kind === of).reduce((total, { amount }) => total + BigInt(amount), 0n);
    t.same([sum('voucher'), sum('claimed'), sum('settled')], [13n * RENT, 13n * RENT, 0n]);
    for (const { kind, route, transaction } of rows) {
      if (!transaction) continue;
      const { gasUsed } = await chain.control.getTransactionReceipt({ hash: transaction as `0x${string}` });
      t.comment(`${kind}, ${route}: ${gasUsed} gas`);
    }
    const { status, explained, written } = await reconcile();
    t.same([status, written], [0, '']);
    t.match(explained, /^voucher: 13, 0\.26 USD$/m);
    t.match(explained, /^proved: 3, 0\.26 USD$/m);
    t.match(explained, /^sold by vouchers and not claimed yet: 0 USD$/m);
  },
);

t.test(
  'buyers of one channel at once: each answer is charged once, and nothing else',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, environment, server } = await openShop(t);
    const buyer = await openBuyer(chain);
    await buyer.rent(server.url);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => buyer.rent(server.url, undefined, {}, `?at=${at}`)),
    );
    const sold = answers.filter(({ status }) => status === 201).length;
    t.ok(sold >= 1);
    for (const { status, body } of answers)
      if (status !== 201)
        t.match({ status, body }, { status: 402, body: { error: `${REASON}cumulative_amount_mismatch` } });
    t.match(await buyer.rent(server.url), { status: 201 });
    await server.stop();
    t.equal(await chain.balance(PAY_TO), BigInt(sold + 2) * RENT);
    t.equal((await rowsOf(environment.DATA_DIR!)).filter(({ kind }) => kind === 'voucher').length, sold + 2);
  },
);

t.test('a voucher that is no good takes no money and says why', { skip: noChain ?? false }, async (t) => {
  const { chain, server } = await openShop(t);
  const buyer = await openBuyer(chain);
  const stranger = await openBuyer(chain);
  await buyer.rent(server.url);
  const { url } = server;
  const good = await buyer.sign(url);
  // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape
  const payload = good.payload as any;
  const config = payload.channelConfig;
  const withPayload = (changes: object) => ({ ...good, payload: { ...payload, ...changes } });
  const withConfig = (changes: object) => withPayload({ channelConfig: { ...config, ...changes } });
  const withVoucher = (changes: object) => withPayload({ voucher: { ...payload.voucher, ...changes } });
  /** Vouchers of a buyer that believes in another total. */
  const signed = async (charged: bigint, by = buyer) => {
    const { channelId } = payload.voucher;
    const total = charged + RENT;
    const signature = await by.account.signTypedData({
      domain: {
        name: 'x402 Batch Settlement',
        version: '1',
        chainId: 8453,
        verifyingContract: await chain.deployEscrow(),
      },
      types: {
        Voucher: [
          { name: 'channelId', type: 'bytes32' },
          { name: 'maxClaimableAmount', type: 'uint128' },
        ],
      },
      primaryType: 'Voucher',
      message: { channelId, maxClaimableAmount: total },
    });
    return withVoucher({ maxClaimableAmount: `${total}`, signature });
  };
  const deposit = await stranger.sign(url);
  // biome-ignore lint/suspicious/noExplicitAny: the same
  const first = deposit.payload as any;
  const withDeposit = (changes: object) => {
    const { erc3009Authorization } = first.deposit.authorization;
    const authorization = { erc3009Authorization: { ...erc3009Authorization, ...changes } };
    return { ...deposit, payload: { ...first, deposit: { ...first.deposit, authorization } } };
  };
  const poor = await openBuyer(chain);
  await chain.setBalance(poor.account.address, 0n);
  const elsewhere = `0x${'1'.repeat(40)}`;
  const { signature } = (await signed(RENT, stranger)).payload.voucher;
  const outOfStep = `${REASON}cumulative_amount_mismatch`;
  const before = await chain.balance(await chain.deployEscrow());
  for (const [what, payment, error] of [
    ['another signer', withVoucher({ signature }), 'invalid_signature'],
    ['a total that is bought already', await signed(0n), outOfStep],
    ['a lower total', await signed(RENT - 1n), outOfStep],
    ['a higher total', await signed(5n * RENT), outOfStep],
    ['another channel', withVoucher({ channelId: `0x${'2'.repeat(64)}` }), `${REASON}channel_id_mismatch`],
    ['another salt', withConfig({ salt: `0x${'3'.repeat(64)}` }), `${REASON}channel_id_mismatch`],
    ['another receiver', withConfig({ receiver: elsewhere }), 'wrong_recipient'],
    [
      'another authorizer',
      withConfig({ receiverAuthorizer: elsewhere }),
      `${REASON}receiver_authorizer_mismatch`,
    ],
    ['another delay', withConfig({ withdrawDelay: 900 }), `${REASON}withdraw_delay_mismatch`],
    ['another coin', withConfig({ token: elsewhere }), 'wrong_asset'],
    ['another network', { ...good, accepted: { ...good.accepted, network: 'eip155:1' } }, 'wrong_network'],
    ['another price', { ...good, accepted: { ...good.accepted, amount: '1' } }, 'amount_mismatch'],
    ['no such kind', withPayload({ type: 'gift' }), 'payment_malformed'],
    ['no deposit in a deposit', withPayload({ type: 'deposit' }), 'payment_malformed'],
    [
      'no channel on the chain',
      { ...deposit, payload: { ...first, type: 'voucher' } },
      `${REASON}channel_not_found`,
    ],
    ['a deposit that is over', withDeposit({ validBefore: '1' }), 'invalid_signature'],
    ['a deposit by another', withDeposit({ salt: `0x${'4'.repeat(64)}` }), 'invalid_signature'],
    ['a deposit without money', await poor.sign(url), 'insufficient_funds'],
  ] as const) {
    const told = await buyer.send(url, payment);
    t.match(told, { status: 402, body: { error } }, what);
    t.match(told.body.help, /Nothing was charged/, what);
  }
  t.equal(await chain.balance(await chain.deployEscrow()), before);
  t.match(await buyer.send(url, good), { status: 201 }, 'the good one is good still');
  const again = await buyer.send(url, good);
  t.match(again, { status: 402, body: { error: outOfStep } }, 'and once only');
  t.match(again.required.accepts[0].extra, {
    channelState: { chargedCumulativeAmount: `${2n * RENT}` },
    voucherState: { signedMaxClaimable: `${2n * RENT}` },
  });
});

t.test('gas is not paid for a deposit that is too small for it', { skip: noChain ?? false }, async (t) => {
  const chain = await startChain(t);
  // 160,000 units at .09 gwei and 3,000 USD are .043 USD.
  const dear = async () => {
    await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 70_000_000n });
    await chain.control.mine({ blocks: 1 });
  };
  await dear();
  const { server } = await openShop(t, { chain, before: dear });
  const small = await openBuyer(chain, { depositStrategy: () => RENT });
  const buyer = await openBuyer(chain);
  await dear();
  t.match(await small.rent(server.url), {
    status: 402,
    body: { error: `${REASON}deposit_below_min_deposit` },
  });
  t.equal(await chain.balance(small.account.address), PURSE);
  t.match(await buyer.rent(server.url), { status: 201 });
});

t.test(
  'a withdrawal that its payer announces ends the sales, and what was sold is claimed before',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, clock, escrow, open, server } = await openShop(t);
    const buyer = await openBuyer(chain);
    await buyer.rent(server.url);
    const dear = async () => {
      await chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 20_000_000n });
      await chain.control.mine({ blocks: 1 });
    };
    await dear();
    await server.stop();
    t.equal(await chain.balance(PAY_TO), 0n, 'too little for the gas, and it can wait');
    const restarted = await open();
    // biome-ignore lint/suspicious/noExplicitAny: a payload
    const { payload } = (await buyer.sign(restarted.url)) as any;
    const { account } = buyer;
    await chain.control.setBalance({ address: account.address, value: 10n ** 18n });
    await chain.control.sendRawTransaction({
      serializedTransaction: await account.signTransaction({
        type: 'eip1559',
        chainId: 8453,
        to: escrow,
        data: encodeFunctionData({
          abi: ESCROW_ABI,
          functionName: 'initiateWithdraw',
          args: [payload.channelConfig, 100_000n],
        }),
        gas: 200_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 1_000_000n,
      }),
    });
    await restarted.stop();
    clock.offsetMs += 2 * 3_600_000;
    await dear();
    const last = await open();
    await eventually(async () => (await chain.balance(PAY_TO)) === RENT);
    t.match(await buyer.rent(last.url), { status: 402, body: { error: `${REASON}withdrawal_pending` } });
  },
);

t.test(
  'a server with another key, or over HTTP, takes no voucher of this one',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, server } = await openShop(t);
    const buyer = await openBuyer(chain);
    await buyer.rent(server.url);
    const payment = await buyer.sign(server.url);
    const other = await openShop(t, { chain });
    t.match(await buyer.send(other.server.url, payment), {
      status: 402,
      body: { error: `${REASON}receiver_authorizer_mismatch` },
    });
    const play = await startTestServer(t, { DATA_DIR: join(t.testdir({}), 'play') });
    t.match(await buyer.send(play.url, payment), { status: 402, body: { error: 'unsupported_scheme' } });
    const { required } = await buyer.rent(play.url, fetch);
    t.notOk(required.accepts.some(({ scheme }: { scheme: string }) => scheme !== 'exact'));
    t.equal((await fetch(`${play.url}/agent/v1/channel/refund`)).status, 404);
  },
);

t.test(
  'every paid request can be bought so; what is not charged leaves the voucher',
  { skip: noChain ?? false },
  async (t) => {
    const { chain, server } = await openShop(t);
    const { pay } = channelBuyer(await fundedWallet(chain), chain.url);
    const api = `${server.url}/agent/v1`;
    const query = (text: string) =>
      pay(`${api}/search`, { method: 'POST', body: JSON.stringify({ query: text }), headers: JSON_TYPE });
    const shown = async (response: Response) => {
      const receipt = response.headers.get('payment-response');
      const charged =
        receipt === null ? undefined : JSON.parse(atob(receipt)).extra.channelState.chargedCumulativeAmount;
      // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
      return { status: response.status, charged, body: (await response.json()) as any };
    };
    t.match(await shown(await query('pumps')), { status: 200, charged: undefined, body: { charged: false } });
    const form = new FormData();
    form.set('file', new File(['The pump needs oil each spring.'], 'pump.txt'));
    const uploaded = await shown(
      await pay(`${api}/ingest`, { method: 'POST', body: form, headers: { Prefer: 'wait=60' } }),
    );
    t.match(uploaded, { charged: '30000' });
    t.match(await shown(await query('oil for the pump')), {
      status: 200,
      charged: '36000',
      body: { charged: true },
    });
    t.match(await shown(await pay(`${api}/items/${uploaded.body.item.id}`)), {
      status: 200,
      charged: '38000',
    });
  },
);

t.test(
  'each 402 has channels in a header of 4,096 bytes, with a long description of the service, too',
  { skip: noChain ?? false },
  async (t) => {
    const { server } = await openShop(t, {
      environment: {
        SERVICE_NAME: 'Rented search for pumps',
        SERVICE_TAGS: 'pumps,valves,pipes',
        SERVICE_DESCRIPTION: 'Rented search. '.repeat(13),
      },
    });
    for (const path of ['search', 'ingest', 'workspaces', `items/item_${'a'.repeat(32)}`, 'channel/refund']) {
      const method = path.includes('/') ? 'GET' : 'POST';
      const unpaid = await fetch(`${server.url}/agent/v1/${path}`, { method });
      const header = unpaid.headers.get('payment-required')!;
      t.comment(`${path}: ${header.length}`);
      t.ok(header.length <= 4096, path);
      t.ok((await unpaid.text()).length <= 4096, path);
      const { accepts } = JSON.parse(atob(header));
      t.equal(accepts.at(-1).scheme, 'batch-settlement', path);
    }
  },
);
