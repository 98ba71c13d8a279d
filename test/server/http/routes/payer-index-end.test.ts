import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import t from 'tap';
import { payerTenantId } from '../../../../src/protocol/id.ts';
import { eventually } from '../../../rig/eventually.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

const shift = { milliseconds: 0 };
const server = await startTestServer(t, {}, { monotonic: () => performance.now() + shift.milliseconds });
const DAYS_MS = 30 * 86_400_000;

/** Sends all of a paid request but its second half, which comes when it is asked for. */
function halves(goOn: Promise<void>): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (!request.headers.has('payment-signature')) return fetch(request);
    const body = new Uint8Array(await request.arrayBuffer());
    const half = body.length / 2;
    const pieces = (async function* () {
      yield body.subarray(0, half);
      await goOn;
      yield body.subarray(half);
    })();
    const { method, headers } = request;
    const streamed = { method, headers, body: ReadableStream.from(pieces), duplex: 'half' };
    return fetch(request.url, streamed as RequestInit);
  };
}

t.test('a paid upload that spans the end of its payer’s index keeps the index', async (t) => {
  const [agent, other] = [new TestAgent(server.url), new TestAgent(server.url)];
  t.match(await agent.ingest('before.txt', 'Tides follow the moon.'), { body: { charged: true } });
  t.match(await other.ingest('another.txt', 'Gulls nest on the cliffs.'), { body: { charged: true } });
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const pay = wrapFetchWithPaymentFromConfig(halves(held), {
    schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(agent.account) }],
  });
  const form = new FormData();
  const text = 'The lighthouse keeper counts ships at dusk. '.repeat(100);
  form.set('file', new File([text], 'straddling.txt'));
  const answer = pay(`${server.url}/agent/v1/ingest`, {
    method: 'POST',
    body: form,
    headers: { Prefer: 'wait=60' },
  });
  await eventually(() => readdirSync(join(server.dataFolder, 'incoming')).length > 0);
  shift.milliseconds += DAYS_MS;
  // Both ends are seen by one sweep: once the other's index is gone, this one's end has begun.
  await eventually(() => !existsSync(server.running.tenantFolder(payerTenantId(other.account.address))));
  goOn();
  const uploaded = await answer;
  t.equal(uploaded.status, 200);
  t.match(await uploaded.json(), { charged: true, job: { state: 'searchable' } });
  const { body } = await agent.post('/agent/v1/search', { query: 'tides and ships' });
  const names = body.hits.map(({ item }: { item: { name: string } }) => item.name);
  t.strictSame(names.sort(), ['before.txt', 'straddling.txt']);
});
