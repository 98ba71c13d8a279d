import t, { type Test } from 'tap';
import { noChain } from '../../../payment/chain/chain.ts';
import { addressOf, sign, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { startTestServer } from '../../../rig/test-server.ts';
import { startPaidServer } from './paid-server.ts';

/** Two servers that know nothing of each other, and one authorization: it names the wallet that is paid, and no server. */

const skip = noChain ?? false;
const RENT = 20_000n;
const ONCE = 'authorization_already_used';

async function openTwo(t: Test, own: Readonly<Record<string, string>>, payTo?: string) {
  const folder = t.testdir({});
  const first = await startPaidServer(t, { ...own, DATA_DIR: `${folder}/first` });
  const { chain, merchant, facilitator } = first;
  const second = await startTestServer(t, {
    FACILITATOR: facilitator.url,
    ...(own.FACILITATOR === 'self' && { GAS_KEY: await chain.gasKey() }),
    ...own,
    DATA_DIR: `${folder}/second`,
    PAY_TO: payTo ?? merchant,
    RPC_URL: chain.url,
  });
  const payer = wallet();
  await chain.mint(payer.address, 10n * RENT);
  const signed = async () => v2Header(await sign(payer, { to: merchant, value: RENT }));
  const rentAt = async (url: string, header: string) => {
    const headers = { 'PAYMENT-SIGNATURE': header };
    const body = '{"ttl_minutes":20}';
    const answer = await fetch(`${url}/agent/v1/workspaces`, { method: 'POST', body, headers });
    const { error } = (await answer.json()) as { error?: string };
    return answer.status === 201 ? 'given' : error;
  };
  const earned = async () => (await chain.balance(merchant)) / RENT;
  return { urls: [first.server.url, second.url] as const, signed, rentAt, earned };
}

for (const [through, own] of [
  ['itself', { FACILITATOR: 'self' }],
  ['a facilitator', {}],
] as const) {
  t.test(
    `what paid at one server buys nothing later at another of its wallet, each through ${through}`,
    { skip },
    async (t) => {
      const { urls, signed, rentAt, earned } = await openTwo(t, own);
      const header = await signed();
      t.equal(await rentAt(urls[0], header), 'given');
      t.equal(await rentAt(urls[1], header), ONCE);
      const both = await signed();
      const told = await Promise.all(urls.map((url) => rentAt(url, both)));
      t.equal(await earned(), 2n, 'sent to both at once it pays once');
      t.ok(told.includes('given'), 'and who paid is served: at both, as get-paid.md warns, or at one');
    },
  );
}

t.test('servers with a wallet each sell nothing for a payment to the other', { skip }, async (t) => {
  const { urls, signed, rentAt, earned } = await openTwo(t, { FACILITATOR: 'self' }, addressOf(wallet()));
  const header = await signed();
  t.same(await Promise.all(urls.map((url) => rentAt(url, header))), ['given', 'wrong_recipient']);
  t.equal(await earned(), 1n);
});
