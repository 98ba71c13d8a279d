import { decodePaymentRequiredHeader } from '@x402/core/http';
import { parsePaymentRequired } from '@x402/core/schemas';
import t from 'tap';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import { requestBody } from '../../../src/payment/facilitator/messages.ts';
import { termsOf } from '../../../src/payment/gate/checkout.ts';
import { Challenges, challenge, type ServiceCard } from '../../../src/payment/wire/challenge.ts';
import { MAX_TIMEOUT_SECONDS, PAY_TO, paymentOf, sign, v2Header, wallet } from '../rig/payments.ts';
import { quote } from '../rig/requests.ts';

const settings = {
  assets: [BASE_USDC],
  payTo: PAY_TO,
  maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
  bodyNetworks: 'v2',
} as const;

t.test('the header is a v2 object in standard base64 that the public client decodes', async (t) => {
  const { headers } = challenge(quote(), 'payment_required', settings);
  const required = decodePaymentRequiredHeader(headers['PAYMENT-REQUIRED']!);
  t.match(required, {
    x402Version: 2,
    error: 'payment_required',
    resource: { url: 'http://127.0.0.1:8402/agent/v1/search', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '6000',
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        payTo: PAY_TO,
        maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
  });
  t.ok(parsePaymentRequired(required).success, 'the public schema agrees');
});

t.test('the body has the fields of the contract and those that v1 clients need, without nulls', async (t) => {
  for (const [bodyNetworks, network] of [
    ['v2', 'eip155:8453'],
    ['v1', 'base'],
  ] as const) {
    const { status, body } = challenge(quote(), 'payment_required', { ...settings, bodyNetworks });
    t.equal(status, 402);
    t.match(body, {
      x402Version: 1,
      error: 'payment_required',
      resource: 'http://127.0.0.1:8402/agent/v1/search',
      description: String,
      accepts: [
        {
          scheme: 'exact',
          network,
          payTo: PAY_TO,
          maxAmountRequired: '6000',
          resource: 'http://127.0.0.1:8402/agent/v1/search',
          mimeType: 'application/json',
        },
      ],
    });
    t.match(body, {
      accepts: [{ outputSchema: { input: { type: 'http', method: 'POST', bodyType: 'json' } } }],
    });
    t.notMatch(JSON.stringify(body), /null/);
    t.ok(parsePaymentRequired(body).success, 'the public schema agrees');
  }
});

const described = (description: string, service?: ServiceCard, bodyNetworks: 'v1' | 'v2' = 'v2') => {
  const answer = challenge({ ...quote(), description }, 'payment_required', {
    ...settings,
    service,
    bodyNetworks,
  });
  const { resource } = decodePaymentRequiredHeader(answer.headers['PAYMENT-REQUIRED']!);
  return { body: answer.body, resource, answer };
};

t.test('an overlong description is cut to what catalogues take', async (t) => {
  for (const service of [undefined, { name: 'Pumps', description: 'Manuals of our pumps.' }]) {
    const { body, resource } = described('x'.repeat(900), service);
    t.equal(String(body.description).length, 500);
    t.equal(resource.description, body.description);
  }
});

t.test('the operator’s name, tags, icon and words are in the 402; what is not set is left out', async (t) => {
  const url = 'http://127.0.0.1:8402/agent/v1/search';
  const mimeType = 'application/json';
  const bare = { url, mimeType, description: 'Search.' };
  const icon = 'https://pumps.example/icon.png';
  for (const [service, resource] of [
    [undefined, bare],
    [{ name: 'Pumps' }, { ...bare, serviceName: 'Pumps' }],
    [
      { name: 'Pumps', tags: [], iconUrl: '', description: '' },
      { ...bare, serviceName: 'Pumps' },
    ],
    [
      { name: 'Pumps', tags: ['search', 'manuals'], iconUrl: icon, description: 'Manuals.' },
      {
        ...bare,
        description: 'Manuals. Search.',
        serviceName: 'Pumps',
        tags: ['search', 'manuals'],
        iconUrl: icon,
      },
    ],
  ] as const) {
    const told = described('Search.', service);
    t.same(told.resource, resource);
    t.match(told.body, {
      description: resource.description,
      accepts: [{ description: resource.description }],
    });
    t.ok(parsePaymentRequired(decodePaymentRequiredHeader(told.answer.headers['PAYMENT-REQUIRED']!)).success);
  }
});

t.test(
  'a facilitator is told what the 402 says: resource, name, cut description, discovery of v1 and v2',
  async (t) => {
    const service = { name: 'Pumps', tags: ['manuals'], iconUrl: 'https://pumps.example/icon.png' };
    const terms = termsOf({ ...quote(), description: 'x'.repeat(900) });
    const common = { payTo: PAY_TO, maxTimeoutSeconds: MAX_TIMEOUT_SECONDS, service };
    const { resource, body } = described(terms.description, service, 'v1');
    const payment = paymentOf({ paymentSignature: v2Header(await sign(wallet())) });
    t.match(requestBody({ ...payment, version: 2 }, terms, common, [2]), {
      paymentPayload: { resource, extensions: { bazaar: { routeTemplate: '/agent/v1/search' } } },
    });
    t.match(requestBody({ ...payment, version: 1 }, terms, common, [1]), {
      paymentRequirements: (body.accepts as object[])[0],
    });
  },
);

t.test('a challenge is made once for each route, price, address and reason', async (t) => {
  const challenges = new Challenges(settings);
  const asked = quote();
  const first = challenges.of(asked, 'payment_required');
  t.same(first, challenge(quote(), 'payment_required', settings));
  t.equal(challenges.of(asked, 'payment_required'), first);
  const others = [
    challenges.of(asked, 'insufficient_funds'),
    challenges.of({ ...asked, amount: 7000n }, 'payment_required'),
    challenges.of({ ...asked, resource: 'http://127.0.0.1:8402/other' }, 'payment_required'),
    challenges.of({ ...asked, discovery: { ...asked.discovery } }, 'payment_required'),
  ];
  t.equal(new Set([first, ...others]).size, 5);
  for (let id = 0; id < 200; id++) {
    const resource = `http://127.0.0.1:8402/items/${id}`;
    t.match(challenges.of({ ...asked, resource }, 'payment_required').body, { resource });
  }
});
