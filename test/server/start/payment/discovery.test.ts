import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { parsePaymentRequired } from '@x402/core/schemas';
import { ExactEvmScheme } from '@x402/evm';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import {
  appendPaymentIdentifierToExtensions,
  isPaymentIdentifierExtension,
  validatePaymentIdentifier,
} from '@x402/extensions/payment-identifier';
import { wrapFetchWithPayment } from '@x402/fetch';
import t from 'tap';
import { Journal } from '../../../../src/payment/records/journal.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { wallet } from '../../../payment/rig/payments.ts';
import { startTestServer } from '../../../rig/test-server.ts';

/** The paid routes' descriptions for catalogues, clients of the extensions, and browsers. */

const ID = '0f8fad5bd9cb469fa16570867728950e';
const PAID = [
  ['POST', '/agent/v1/search', '/agent/v1/search', '0.006'],
  ['POST', '/agent/v1/ingest', '/agent/v1/ingest', '0.03'],
  ['GET', `/agent/v1/items/item_${ID}`, '/agent/v1/items/:item_id', '0.002'],
  ['GET', `/agent/v1/items/item_${ID}/preview`, '/agent/v1/items/:item_id/preview', '0.002'],
  ['POST', '/agent/v1/workspaces', '/agent/v1/workspaces', undefined],
  ['POST', `/agent/v1/workspaces/ws_${ID}/extend`, '/agent/v1/workspaces/:id/extend', undefined],
  ['POST', '/agent/v1/prepaid', '/agent/v1/prepaid', undefined],
  ['POST', '/agent/v1/prepaid/refund', '/agent/v1/prepaid/refund', undefined],
] as const;

const server = await startTestServer(t, {
  CORS_ORIGINS: 'https://one.example, https://two.example',
  SERVICE_NAME: 'Pumps',
  SERVICE_TAGS: 'search, manuals',
  SERVICE_DESCRIPTION: 'Pumps and their manuals. '.repeat(8).trim(),
  SERVICE_ICON_URL: 'https://pumps.example/icon.png',
});

const probed = async (url: string, probe: RequestInit) => {
  const response = await fetch(url, probe);
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** As long as the settings allow, and the proxies on the way. */
const BYTES_MAX = 4096;

for (const [method, path, template] of PAID) {
  t.test(`catalogues can read ${method} ${template}`, async (t) => {
    // What probes send: nothing, an empty object, what is no JSON, and what wants prepaid money.
    const probes: RequestInit[] = [
      { method },
      ...(method === 'GET'
        ? []
        : [{ body: '' }, { body: '{}' }, { body: 'probe' }].map((sent) => ({ method, ...sent }))),
      { method, headers: { 'X-Prepaid-Wallet': wallet().address } },
    ];
    for (const probe of probes) {
      const { status, headers, text } = await probed(server.url + path, probe);
      t.equal(status, 402);
      t.ok(text.length <= BYTES_MAX, `a body of ${text.length} bytes`);
      const header = headers.get('PAYMENT-REQUIRED')!;
      t.ok(header.length <= BYTES_MAX, `a header of ${header.length} bytes`);
    }
    const response = await fetch(server.url + path, { method });
    t.equal(response.status, 402);
    t.equal(response.headers.get('Cache-Control'), 'no-store');
    const required = decodePaymentRequiredHeader(response.headers.get('PAYMENT-REQUIRED')!);
    t.ok(parsePaymentRequired(required).success);
    const { resource, extensions } = required;
    t.equal(resource.url, server.url + path);
    t.ok((resource.description ?? '').length > 20 && (resource.description ?? '').length <= 500);
    t.match(resource, { serviceName: 'Pumps', tags: ['search', 'manuals'] });
    const bazaar = extensions!.bazaar as Parameters<typeof validateDiscoveryExtension>[0];
    t.same(validateDiscoveryExtension(bazaar), { valid: true });
    t.same(validateDiscoveryExtensionSpec(bazaar as unknown as Record<string, unknown>), { valid: true });
    t.equal((bazaar as unknown as { routeTemplate: string }).routeTemplate, template);
    t.notMatch(JSON.stringify(bazaar), /"\$ref":"http/, 'no reference leads elsewhere');
    const identifier = extensions!['payment-identifier'];
    t.ok(isPaymentIdentifierExtension(identifier));

    const body = (await response.json()) as { accepts: { outputSchema: object }[] };
    t.ok(parsePaymentRequired(body).success);
    t.match(body.accepts[0]!.outputSchema, { input: { type: 'http', method }, output: Object });
    t.notMatch(JSON.stringify(body), /[:[,]null/, 'v1 clients refuse nulls');
  });
}

t.test('the description tells what each paid operation costs, as its 402 does', async (t) => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { 'x-payment-info'?: { price: object; protocols: object[] } }>>;
  };
  const priced = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation['x-payment-info'])
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  const names = PAID.map(([method, , template]) => `${method} ${template.replace(/:(\w+)/g, '{$1}')}`);
  t.same(priced.sort(), [...names].sort());
  for (const [method, , template, usd] of PAID) {
    const info = paths[template.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!['x-payment-info']!;
    t.same(info.protocols, [{ x402: {} }]);
    t.match(
      info.price,
      usd ? { mode: 'fixed', currency: 'USD', amount: usd } : { mode: 'dynamic', currency: 'USD' },
      template,
    );
  }
});

t.test('a client of the payment-identifier extension buys once, however often it asks', async (t) => {
  const client = new x402Client().register('eip155:8453', new ExactEvmScheme(wallet()));
  const id = 'pay_0123456789abcdef';
  const sent: unknown[] = [];
  client.onBeforePaymentCreation(async ({ paymentRequired }) => {
    appendPaymentIdentifierToExtensions(paymentRequired.extensions!, id);
  });
  client.onAfterPaymentCreation(async ({ paymentPayload }) => {
    sent.push(paymentPayload.extensions?.['payment-identifier']);
  });
  const paying = wrapFetchWithPayment(fetch, client);
  const rent = async (minutes: number) => {
    const body = JSON.stringify({ ttl_minutes: minutes });
    const response = await paying(`${server.url}/agent/v1/workspaces`, { method: 'POST', body });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const first = await rent(20);
  const again = await rent(20);
  t.same([first.status, again.status], [201, 201]);
  t.equal(again.body.id, first.body.id);
  t.match(await rent(21), { status: 409, body: { code: 'idempotency_key_reused', charged: false } });
  t.equal(sent.length, 3);
  for (const extension of sent) t.ok(validatePaymentIdentifier(extension).valid);
});

t.test('the origins of the settings may call and read everywhere; others may not', async (t) => {
  const asked = (path: string, method: string, Origin: string) =>
    fetch(server.url + path, { method, headers: { Origin, 'Access-Control-Request-Method': 'POST' } });
  for (const path of ['/agent/v1/search', '/openapi.json', '/nowhere']) {
    for (const origin of ['https://one.example', 'https://two.example']) {
      const preflight = await asked(path, 'OPTIONS', origin);
      t.equal(preflight.status, 204, path);
      t.match(
        preflight.headers.get('Access-Control-Allow-Headers'),
        /Authorization.*X-PAYMENT.*Idempotency-Key/s,
      );
      const { headers } = await asked(path, 'POST', origin);
      for (const told of [preflight.headers, headers])
        t.same([told.get('Access-Control-Allow-Origin'), told.get('Vary')], [origin, 'Origin'], path);
      t.match(headers.get('Access-Control-Expose-Headers'), /PAYMENT-REQUIRED/);
    }
    const { headers } = await asked(path, 'POST', 'https://three.example');
    t.same(
      [headers.get('Access-Control-Allow-Origin'), headers.get('Vary')],
      [null, 'Origin'],
      'for caches, too',
    );
  }
});

t.test('the books hold the one purchase', async (t) => {
  await server.stop();
  const store = openStore(`${server.dataFolder}/state`);
  t.teardown(() => store.close());
  t.equal(new Journal(store).totals().settled.count, 1);
});
