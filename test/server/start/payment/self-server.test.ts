import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
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
