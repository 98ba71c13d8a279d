import { decodePaymentRequiredHeader } from '@x402/core/http';
import t from 'tap';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import { requestBody } from '../../../src/payment/facilitator/messages.ts';
import { termsOf } from '../../../src/payment/gate/checkout.ts';
import { challenge, type ServiceCard } from '../../../src/payment/wire/challenge.ts';
import { MAX_TIMEOUT_SECONDS, PAY_TO, paymentOf, sign, v2Header, wallet } from '../rig/payments.ts';
import { quote } from '../rig/requests.ts';

const settings = {
  assets: [BASE_USDC],
  payTo: PAY_TO,
  maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
  bodyNetworks: 'v2',
} as const;

const described = (description: string, service?: ServiceCard, bodyNetworks: 'v1' | 'v2' = 'v2') => {
  const answer = challenge({ ...quote(), description }, 'payment_required', {
    ...settings,
    service,
    bodyNetworks,
  });
  const { resource } = decodePaymentRequiredHeader(answer.headers['PAYMENT-REQUIRED']!);
  return { body: answer.body, resource, answer };
};

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
