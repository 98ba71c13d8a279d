import t from 'tap';
import { chargesOf, openRig } from '../rig/gate-rig.ts';
import { encode, paid, sign, v1Header, v2Header, wallet } from '../rig/payments.ts';
import { buy } from '../rig/requests.ts';

/** Faults of a payment beside the rows of docs/attacks.md, which `attacks.test.ts` sends to the whole server. */

const now = () => BigInt(Math.floor(Date.now() / 1000));

t.test('a spoiled payment is a 402 that says why, and its work never runs', async (t) => {
  const rig = openRig(t);
  const payload = await sign(wallet());
  const bytes = Buffer.from(payload.signature.slice(2), 'hex');
  bytes[64] = bytes[64] === 27 ? 28 : 27;
  const attacks: Record<string, [{ paymentSignature?: string; xPayment?: string }, string]> = {
    garbage: [{ xPayment: 'eyJ' }, 'payment_malformed'],
    nothing: [await paid(wallet(), { value: 0n }), 'amount_mismatch'],
    'about to expire': [await paid(wallet(), { validBefore: now() + 3n }), 'authorization_expired'],
    'v flipped': [
      { xPayment: v1Header({ ...payload, signature: `0x${bytes.toString('hex')}` }) },
      'invalid_signature',
    ],
    'another network, v1': [{ xPayment: v1Header(payload, { network: 'base-sepolia' }) }, 'wrong_network'],
    'another scheme': [
      { paymentSignature: v2Header(payload, { accepted: { scheme: 'upto' } }) },
      'unsupported_scheme',
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

t.test('a refused payment is told what is wrong with it, an unpaid request who can pay', async (t) => {
  const rig = openRig(t);
  t.match((await buy(rig, {})).body.help, /^Clients of x402/);
  const ofOne = await sign(wallet(), { value: 1n });
  const late = await sign(wallet(), { validBefore: 1n });
  for (const [header, help] of [
    ['no base64', /not base64/],
    [v1Header(ofOne), /exactly the price/],
    [v1Header(late), /validBefore .* sign a fresh one/],
  ] as const) {
    const { body } = await buy(rig, { xPayment: header });
    t.match(body.help, help);
    t.match(body.help, /Nothing was charged/);
  }
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
