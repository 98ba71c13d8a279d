import { extractReceiptFromResponse, verifyReceiptSignatureJWS } from '@x402/extensions/offer-receipt';
import t, { type Test } from 'tap';
import { noChain, startChain } from '../../../payment/chain/chain.ts';
import { PAY_TO } from '../../../payment/rig/payments.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** The extension `offer-receipt` of x402, read and verified by the protocol's own package. */

async function paidServer(t: Test) {
  const chain = await startChain(t);
  const server = await startTestServer(t, {
    FACILITATOR: 'self',
    PAY_TO,
    RPC_URL: chain.url,
    GAS_KEY: await chain.gasKey(10n ** 16n),
  });
  const agent = new TestAgent(server.url);
  await chain.mint(agent.account.address, 1_000_000n);
  return { server, agent };
}

/** The receipt of an answer, verified with the server's published key; undefined without one. */
async function receiptIn({ headers }: { readonly headers: Headers }) {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }));
  return receipt?.format === 'jws' ? verifyReceiptSignatureJWS(receipt) : undefined;
}

t.test('a paid answer has a signed receipt', { skip: noChain ?? false }, async (t) => {
  const { server, agent } = await paidServer(t);
  const rented = await agent.post('/agent/v1/workspaces', { ttl_minutes: 20 });
  t.equal(rented.status, 201);
  const { transaction } = JSON.parse(
    Buffer.from(rented.headers.get('X-PAYMENT-RESPONSE')!, 'base64').toString(),
  );
  const receipt = await receiptIn(rented);
  t.match(receipt, {
    version: 1,
    network: 'eip155:8453',
    resourceUrl: `${server.url}/agent/v1/workspaces`,
    payer: agent.account.address.toLowerCase(),
    transaction,
  });
  t.ok(Math.abs(Date.now() / 1000 - receipt!.issuedAt) < 3600, 'issued now');

  const refused = await agent.post(`/agent/v1/workspaces/${rented.body.id}/nothing`, {});
  t.equal(await receiptIn(refused), undefined, 'what is not paid for has none');
});

t.test('play money has no signed receipt: nothing was paid', async (t) => {
  const server = await startTestServer(t);
  const rented = await new TestAgent(server.url).post('/agent/v1/workspaces', { ttl_minutes: 20 });
  t.equal(rented.status, 201);
  t.equal(await receiptIn(rented), undefined);
});
