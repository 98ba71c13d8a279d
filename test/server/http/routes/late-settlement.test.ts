import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { payerTenantId } from '../../../../src/protocol/id.ts';
import { PAY_TO } from '../../../payment/rig/payments.ts';
import { outsideFacilitator } from '../../../payment/rig/remote-rig.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

const DAYS_MS = 30 * 86_400_000;

t.test('a settlement confirmed after the index ended turns the upload into a credit', async (t) => {
  const { ledger, server: facilitator } = await outsideFacilitator(t);
  const shift = { milliseconds: 0 };
  const server = await startTestServer(
    t,
    { FACILITATOR: facilitator.url, PAY_TO },
    { monotonic: () => performance.now() + shift.milliseconds },
  );
  const agent = new TestAgent(server.url);
  const folder = server.running.tenantFolder(payerTenantId(agent.account.address));
  const key = { 'Idempotency-Key': 'a-key-of-the-test-0001' };
  const send = () => agent.ingest('tides.txt', 'Tides follow the moon.', key);
  facilitator.behaviour.settle = 'drops_after';
  t.match(await send(), { status: 503, body: { code: 'settlement_pending' } });
  t.ok(existsSync(folder));
  shift.milliseconds += DAYS_MS;
  while (existsSync(folder)) await pause(20);

  facilitator.behaviour.settle = 'none';
  let told = await send();
  while (told.status === 503) told = await send();
  t.match(told, { status: 200, body: { charged: true, job: { state: 'cancelled' } } });
  t.notOk(told.body.item, 'nothing of it is there');
  // Not the same file: until an answer is noted as delivered, the same request gets the same answer.
  const next = await agent.ingest('moon.txt', 'The moon draws the sea.');
  t.match(next, { status: 200, body: { charged: false, credit_used: true, job: { state: 'searchable' } } });
  t.equal([...ledger.transfers()].length, 1, 'charged once');
});
