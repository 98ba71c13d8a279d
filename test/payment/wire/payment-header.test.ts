import t from 'tap';
import { parsePaymentHeader } from '../../../src/payment/wire/payment-header.ts';
import type { SignedTransfer } from '../../rig/sign-transfer.ts';
import { encode, sign, v1Header, wallet } from '../rig/payments.ts';

const payload: SignedTransfer = await sign(wallet());

function fault(header: string): string {
  try {
    parsePaymentHeader({ xPayment: header });
    return 'none';
  } catch (error) {
    return (error as { fault: string }).fault;
  }
}

const change = (change: object) =>
  encode({
    x402Version: 1,
    scheme: 'exact',
    network: 'base',
    payload: { ...payload, authorization: { ...payload.authorization, ...change } },
  });

t.test('what cannot be a payment is malformed', async (t) => {
  const text = Buffer.from(v1Header(payload), 'base64').toString();
  const raw = (json: string) => Buffer.from(json).toString('base64');
  const cases: Record<string, string> = {
    'no base64': 'not base64 at all!',
    'no JSON': raw('{"x402Version":1'),
    'an array': raw('[1]'),
    'no object': raw('"payment"'),
    'invalid UTF-8': Buffer.concat([
      Buffer.from('{"a":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]).toString('base64'),
    'a key twice': raw(text.replace('"value":', '"value":"1","value":')),
    'a key twice, once escaped': raw(text.replace('"value":', '"val\\u0075e":"1","value":')),
    'deep nesting': raw(`{"x402Version":1,"deep":${'['.repeat(6000)}${']'.repeat(6000)}}`),
    'over 16 kB': raw(`{"x402Version":1,"pad":"${'x'.repeat(20_000)}"}`),
    'a negative value': change({ value: '-1' }),
    'a negative number': change({ value: -1 }),
    'a fraction': change({ value: '1.5' }),
    'an exponent': change({ value: '1e6' }),
    'a hexadecimal value': change({ value: '0x10' }),
    'an unsafe number': change({ value: 2 ** 60 }),
    'over 256 bits': change({ value: (1n << 256n).toString() }),
    'hundreds of digits': change({ value: '9'.repeat(400) }),
    'no value': change({ value: undefined }),
    'a short address': change({ from: '0x1234' }),
    'an address without 0x': change({ from: payload.authorization.from.slice(2).padEnd(42, '0') }),
    'a short nonce': change({ nonce: '0x12' }),
    'an inherited authorization': raw(
      '{"x402Version":1,"scheme":"exact","network":"base","payload":{"__proto__":{}}}',
    ),
    'no payload': encode({ x402Version: 1, scheme: 'exact', network: 'base' }),
    'half a byte of signature': encode({
      x402Version: 1,
      scheme: 'exact',
      network: 'base',
      payload: { ...payload, signature: '0x123' },
    }),
  };
  for (const [name, header] of Object.entries(cases)) t.equal(fault(header), 'payment_malformed', name);
  t.equal(fault(encode({ x402Version: 3 })), 'unsupported_version');
  t.equal(fault(encode({})), 'unsupported_version');
});
