import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type FarthingError } from '../../../src/client/index.ts';
import { PAY_TO } from '../../payment/rig/payments.ts';
import { outsideFacilitator } from '../../payment/rig/remote-rig.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

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
