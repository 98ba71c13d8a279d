import t from 'tap';
import type { PaidRequest } from '../../../../src/payment/gate/attempt.ts';
import { RequestPayment } from '../../../../src/payment/wire/request-payment.ts';
import { paid } from '../../../../src/server/http/access/paid.ts';
import type { Services } from '../../../../src/server/http/access/services.ts';
import type { Exchange } from '../../../../src/server/http/exchange/exchange.ts';
import { TenantLimits } from '../../../../src/server/workspace/tenant-limits.ts';
import { addressOf, wallet } from '../../../payment/rig/payments.ts';
import { quote } from '../../../payment/rig/requests.ts';

/** The limits are real; the gate prepares at once, and the index fails as a full disk makes it. */
function servicesOf(enter: () => Promise<() => void>): Services {
  const payer = addressOf(wallet());
  return {
    gate: {
      handle: (request: PaidRequest) =>
        request.prepare(payer, async () => {}).finally(() => request.dispose()),
    },
    payerIndex: { enter },
    tenantLimits: new TenantLimits({
      requestsPerSecond: 100,
      burst: 100,
      searchesAtOnce: 1,
      ingestsAtOnce: 1,
      streamsAtOnce: 1,
    }),
  } as unknown as Services;
}

t.test('a request whose index cannot be entered releases its place', async (t) => {
  const exchange = {
    head: { method: 'POST', path: '/', query: '' },
    payment: new RequestPayment(),
    header: () => undefined,
    signal: new AbortController().signal,
  } as unknown as Exchange;
  const services = servicesOf(() => Promise.reject(new Error('no space left on device')));
  const ingest = () =>
    paid(services, exchange, {
      kind: 'ingest',
      mode: 'effect',
      priceFixed: true,
      quote: () => quote(),
      prepare: () => Promise.reject(new Error('is not reached')),
    });
  await t.rejects(ingest(), /no space/);
  await t.rejects(ingest(), /no space/, 'the next one has the same place');
});
