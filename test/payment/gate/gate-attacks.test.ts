import t from 'tap';
import { chargesOf, openRig } from '../rig/gate-rig.ts';
import {
  addressOf,
  encode,
  MAX_TIMEOUT_SECONDS,
  PRICE,
  type Signing,
  sign,
  v1Header,
  v2Header,
  wallet,
} from '../rig/payments.ts';
import { buy } from '../rig/requests.ts';

const now = () => BigInt(Math.floor(Date.now() / 1000));

t.test('a spoiled payment is a 402 that says why, and its work never runs', async (t) => {
  const rig = openRig(t);
  const other = addressOf(wallet());
  const payload = await sign(wallet());
  const bytes = Buffer.from(payload.signature.slice(2), 'hex');
  bytes[64] = bytes[64] === 27 ? 28 : 27;
  const signed = async (signing: Signing) => ({ paymentSignature: v2Header(await sign(wallet(), signing)) });
  const attacks: Record<string, [{ paymentSignature?: string; xPayment?: string }, string]> = {
    garbage: [{ xPayment: 'eyJ' }, 'payment_malformed'],
    'another chain id in the domain': [await signed({ domain: { chainId: 1 } }), 'invalid_signature'],
    'another name in the domain': [await signed({ domain: { name: 'USDC' } }), 'invalid_signature'],
    'another version in the domain': [await signed({ domain: { version: '1' } }), 'invalid_signature'],
    'another contract in the domain': [
      await signed({ domain: { verifyingContract: other } }),
      'invalid_signature',
    ],
    'one unit less': [await signed({ value: PRICE - 1n }), 'amount_mismatch'],
    'one unit more': [await signed({ value: PRICE + 1n }), 'amount_mismatch'],
    nothing: [await signed({ value: 0n }), 'amount_mismatch'],
    'all there can be': [await signed({ value: (1n << 256n) - 1n }), 'amount_mismatch'],
    'to somebody else': [await signed({ to: other }), 'wrong_recipient'],
    'valid in the future': [await signed({ validAfter: now() + 60n }), 'authorization_not_yet_valid'],
    expired: [await signed({ validBefore: now() - 1n }), 'authorization_expired'],
    'about to expire': [await signed({ validBefore: now() + 3n }), 'authorization_expired'],
    'valid for too long': [
      await signed({ validBefore: now() + BigInt(MAX_TIMEOUT_SECONDS) + 3700n }),
      'authorization_valid_too_long',
    ],
    'v flipped': [
      { xPayment: v1Header({ ...payload, signature: `0x${bytes.toString('hex')}` }) },
      'invalid_signature',
    ],
    'zero signature': [
      { xPayment: v1Header({ ...payload, signature: `0x${'0'.repeat(130)}` }) },
      'invalid_signature',
    ],
    'a contract wallet, which only a chain can judge': [
      { xPayment: v1Header({ ...payload, signature: `0x${'ab'.repeat(200)}` }) },
      'unsupported_signature',
    ],
    'another network, v1': [{ xPayment: v1Header(payload, { network: 'base-sepolia' }) }, 'wrong_network'],
    'another network, v2': [
      { paymentSignature: v2Header(payload, { accepted: { network: 'eip155:1' } }) },
      'wrong_network',
    ],
    'another asset': [{ paymentSignature: v2Header(payload, { accepted: { asset: other } }) }, 'wrong_asset'],
    'another recipient accepted': [
      { paymentSignature: v2Header(payload, { accepted: { payTo: other } }) },
      'wrong_recipient',
    ],
    'another amount accepted': [
      { paymentSignature: v2Header(payload, { accepted: { amount: '1' } }) },
      'amount_mismatch',
    ],
    'another scheme': [
      { paymentSignature: v2Header(payload, { accepted: { scheme: 'upto' } }) },
      'unsupported_scheme',
    ],
    'the payer changed': [
      { xPayment: v1Header({ ...payload, authorization: { ...payload.authorization, from: other } }) },
      'invalid_signature',
    ],
    'a later version of the protocol': [
      { paymentSignature: encode({ x402Version: 9 }) },
      'unsupported_version',
    ],
  };
  for (const [name, [headers, error]] of Object.entries(attacks)) {
    const answer = await buy(rig, {
      ...headers,
      run: () => Promise.reject(new Error(`${name}: the work ran`)),
    });
    t.equal(answer.status, 402, name);
    t.equal(answer.body.error, error, name);
    t.ok(answer.headers['PAYMENT-REQUIRED'], name);
  }
  t.equal(chargesOf(rig), 0);
  t.equal((await buy(rig, { xPayment: v1Header(payload) })).status, 200, 'the real payment is still good');
});

t.test('addresses and hexadecimal in another case are the same payment', async (t) => {
  const rig = openRig(t);
  const payload = await sign(wallet());
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}` as const;
  const shouting = {
    signature: upper(payload.signature),
    authorization: {
      ...payload.authorization,
      from: upper(payload.authorization.from),
      to: upper(payload.authorization.to),
      nonce: upper(payload.authorization.nonce),
    },
  };
  t.equal((await buy(rig, { xPayment: v1Header(shouting) })).status, 200);
  t.equal((await buy(rig, { xPayment: v1Header(payload) })).body.error, 'authorization_already_used');
  t.equal(chargesOf(rig), 1);
});

t.test('a used payment is called used, not expired or wrong in its amount', async (t) => {
  const rig = openRig(t);
  const payload = await sign(wallet());
  await buy(rig, { xPayment: v1Header(payload) });
  t.equal(
    (await buy(rig, { xPayment: v1Header(payload), amount: 9n, priceFixed: true })).body.error,
    'authorization_already_used',
  );
  rig.clock.offsetMs = 5 * 60_000;
  t.equal((await buy(rig, { xPayment: v1Header(payload) })).body.error, 'authorization_already_used');
});

t.test('a wrong amount for a fixed price is refused before the body is read', async (t) => {
  const rig = openRig(t);
  const header = v1Header(await sign(wallet(), { value: 1n }));
  const answer = await buy(rig, {
    xPayment: header,
    priceFixed: true,
    onPrepare: () => void t.fail('the body was read'),
  });
  t.equal(answer.body.error, 'amount_mismatch');
});

t.test('the 402 for a wrong amount asks for the price of the request as it was understood', async (t) => {
  const rig = openRig(t);
  const answer = await buy(rig, { xPayment: v1Header(await sign(wallet())), amount: 20_000n });
  t.match(answer.body, { error: 'amount_mismatch', accepts: [{ maxAmountRequired: '20000' }] });
});
