import { once } from 'node:events';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type FarthingError } from '../../../../src/client/index.ts';
import { PAY_TO, sign, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { outsideFacilitator } from '../../../payment/rig/remote-rig.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

t.test('while a charge is unknown its refusal says so, and the idempotency key resolves it', async (t) => {
  const { ledger, server: facilitator } = await outsideFacilitator(t);
  const server = await startTestServer(t, { FACILITATOR: facilitator.url, PAY_TO });
  const minutes = { ttl_minutes: 10 };
  facilitator.behaviour.settle = 'drops_after';
  const unknown = await new TestAgent(server.url).post('/agent/v1/workspaces', minutes);
  t.match([unknown.status, unknown.body], [503, { code: 'settlement_pending', charged: null }]);

  const account = privateKeyToAccount(generatePrivateKey());
  const client = new Farthing({ baseUrl: server.url, account, attemptsMax: 1, budgetUsd: '1' });
  const error = await client.workspaces.create({ ttlMinutes: 10 }).catch((thrown: FarthingError) => thrown);
  t.match(error, { code: 'settlement_pending', status: 503, retryAfterS: 2 });
  t.match(client.spending, { spentUsd: '0.015' }, 'what may be charged counts');

  facilitator.behaviour.settle = 'none';
  const again = new Farthing({ baseUrl: server.url, account });
  const idempotencyKey = String((error as FarthingError).facts.idempotency_key);
  const workspace = await again.workspaces.create({ ttlMinutes: 10, idempotencyKey });
  t.equal((await workspace.usage()).state, 'active');
  t.equal([...ledger.transfers()].length, 2, 'each of the two is charged once');
});

t.test(
  'a request is held until its outcome is known, and so is the same payload sent meanwhile',
  async (t) => {
    const { ledger, server: facilitator } = await outsideFacilitator(t);
    const { url } = await startTestServer(
      t,
      { FACILITATOR: facilitator.url, PAY_TO },
      { settlementWaitSecondsMax: 60 },
    );
    const path = `${url}/agent/v1/workspaces`;
    const body = '{"ttl_minutes":10}';
    const unpaid = await fetch(path, { method: 'POST', body });
    const { accepts } = (await unpaid.json()) as { accepts: [{ maxAmountRequired: string }] };
    const payload = await sign(wallet(), { value: BigInt(accepts[0].maxAmountRequired) });
    const send = async (key?: string) => {
      const headers = {
        'PAYMENT-SIGNATURE': v2Header(payload),
        ...(key !== undefined && { 'Idempotency-Key': key }),
      };
      const answer = await fetch(path, { method: 'POST', body, headers });
      return {
        status: answer.status,
        receipt: answer.headers.get('PAYMENT-RESPONSE'),
        body: await answer.text(),
      };
    };
    facilitator.behaviour.settle = 'drops_after';
    const key = 'a key of the client alone';
    const first = send(key);
    await once(facilitator.arrivals, 'settle');
    // The outcome is asked for: the request is held. Once more: the copy waits by then.
    await once(facilitator.arrivals, 'settle');
    const keyless = send();
    const copy = send(key);
    await once(facilitator.arrivals, 'settle');
    facilitator.behaviour.settle = 'none';
    const [answer, same] = await Promise.all([first, copy]);
    t.equal(answer.status, 201);
    t.ok(answer.receipt);
    t.same(same, answer);
    t.match(await keyless, { status: 402, body: /authorization_already_used/ }, 'no token without the key');
    t.equal([...ledger.transfers()].length, 1, 'charged once');
    t.match(await send(), { status: 402, body: /authorization_already_used/ }, 'later it is used');
  },
);
