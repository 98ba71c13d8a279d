import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { PREPAID_CONTRACT } from '../../../../src/protocol/money.ts';
import { noChain, startChain } from '../../../payment/chain/chain.ts';
import { PAY_TO } from '../../../payment/rig/payments.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** A whole server that settles itself. */

t.test(
  'without gas it is not ready and sells nothing; with gas it sells, and shows what it has left',
  { skip: noChain ?? false },
  async (t) => {
    const chain = await startChain(t);
    const key = await chain.gasKey(0n);
    const address = privateKeyToAddress(key);
    const server = await startTestServer(t, {
      FACILITATOR: 'self',
      PAY_TO,
      RPC_URL: chain.url,
      GAS_KEY: key,
      METRICS_PORT: '0',
    });
    const ready = async () => {
      const response = await fetch(`${server.url}/readyz`);
      return { status: response.status, body: await response.json() };
    };
    const agent = new TestAgent(server.url);
    await chain.mint(agent.account.address, 1_000_000n);
    const rent = () => agent.post('/agent/v1/workspaces', { ttl_minutes: 20 });
    t.match(await ready(), {
      status: 503,
      body: {
        reasons: [new RegExp(`Nothing can be sold: self: the gas wallet ${address.toLowerCase()} has 0 ETH`)],
        payment: { facilitator: { kind: 'self', gas: { eth: '0' } } },
      },
    });
    t.match(await rent(), { status: 503, body: { code: 'facilitator_unavailable', charged: false } });

    await chain.control.setBalance({ address, value: 10n ** 16n });
    while ((await ready()).status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
    t.match(await rent(), { status: 201 });
    t.equal(await chain.balance(PAY_TO), 20_000n);
    const shown = await (await fetch(server.running.metricsUrl!)).text();
    for (const gauge of ['eth', 'settlements_left', 'transactions_waiting', 'oldest_wait_seconds'])
      t.match(shown, new RegExp(`^farthing_gas_${gauge}\\{network="eip155:8453"\\} [\\d.]+$`, 'm'));
    t.notOk(JSON.stringify(await ready()).includes(key.slice(2)), 'the key is not shown');
  },
);

t.test(
  'while gas costs more than a search, it is sold for prepaid money alone, or not at all; what is dearer is sold',
  { skip: noChain ?? false },
  async (t) => {
    const chain = await startChain(t);
    // 90,000 units at .05 gwei and 3,000 USD are .0135 USD.
    const fees = () => chain.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 50_000_000n });
    await fees();
    await chain.control.mine({ blocks: 1 });
    for (const PREPAID_USD_MAX of ['100', '0']) {
      const server = await startTestServer(t, {
        FACILITATOR: 'self',
        PAY_TO,
        RPC_URL: chain.url,
        GAS_KEY: await chain.gasKey(),
        PREPAID_USD_MAX,
      });
      const agent = new TestAgent(server.url);
      await chain.mint(agent.account.address, 10_000_000n);
      await fees();
      await chain.control.mine({ blocks: 1 });
      const unpaid = await fetch(`${server.url}/agent/v1/search`, {
        method: 'POST',
        body: '{"query": "pumps"}',
        headers: { 'Content-Type': 'application/json' },
      });
      if (PREPAID_USD_MAX === '0') {
        t.equal(unpaid.status, 503);
        t.equal(unpaid.headers.get('retry-after'), '60');
        t.match(await unpaid.json(), { code: 'settlement_too_dear', charged: false, detail: /more gas now/ });
      } else {
        t.equal(unpaid.status, 402);
        const { accepts } = JSON.parse(atob(unpaid.headers.get('payment-required')!));
        t.same(
          accepts.map(({ asset }: { asset: string }) => asset),
          [PREPAID_CONTRACT],
        );
      }
      const before = await chain.balance(PAY_TO);
      await fees();
      t.match(await agent.post('/agent/v1/workspaces', { ttl_minutes: 120 }), { status: 201 });
      t.equal((await chain.balance(PAY_TO)) - before, 70_000n);
      await server.stop();
    }
  },
);
