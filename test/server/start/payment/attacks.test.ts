import t from 'tap';
import { SetClock } from '../../../payment/rig/gate-rig.ts';
import {
  addressOf,
  PAY_TO,
  PRICE,
  type Signing,
  sign,
  v1Header,
  v2Header,
  wallet,
} from '../../../payment/rig/payments.ts';
import type { SignedTransfer } from '../../../rig/sign-transfer.ts';
import { openBooks } from '../../../rig/stopped-books.ts';
import {
  type Attacks,
  asDocumented,
  atOnce,
  attacked,
  type Headers,
  nowSeconds as now,
  refusalsOf,
  same,
  inXPayment as x,
} from './attacks.ts';

/** The attack table of docs/attacks.md, over HTTP against the whole server: each row is sent here and its outcome compared. */

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const DAY_S = 86_400n;
const WORKSPACES = '/agent/v1/workspaces';
const WORKSPACE_PRICE = 10_000n + 15n * 500n;
/** Minutes of an extension that cost as much as a search. */
const EXTENSION = JSON.stringify({ ttl_minutes: 12 });

const clock = new SetClock();
const { server, agent, send, search, newQuery, pay, buySearch } = await attacked(t, { clock });
/** Charges that were bought on purpose; the ledger must have no others at the end. */
let bought = 30_000n;
const workspace = await agent.rent();
bought += WORKSPACE_PRICE;
const EXTEND = `${WORKSPACES}/${workspace.id}/extend`;

/** A payment as the chain shows it: addresses with their checksums, decimals, and the signature put together again. */
function rebuilt({ signature, authorization }: SignedTransfer): Headers[] {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const again = { signature, authorization: { nonce, validBefore, validAfter, value, to, from } };
  return [x(v1Header(again)), { 'PAYMENT-SIGNATURE': v2Header(again) }];
}

async function spoilt(change: (bytes: Buffer) => Uint8Array): Promise<Headers> {
  const payload = await pay();
  const bytes = Buffer.from(payload.signature.slice(2), 'hex');
  return x(v1Header({ ...payload, signature: `0x${Buffer.from(change(bytes)).toString('hex')}` }));
}

function malleated(bytes: Buffer): Buffer {
  const s = BigInt(`0x${bytes.subarray(32, 64).toString('hex')}`);
  return Buffer.concat([
    bytes.subarray(0, 32),
    Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex'),
    Buffer.from([bytes[64] === 27 ? 28 : 27]),
  ]);
}

const signed = async (signing: Signing) => x(v1Header(await pay(signing)));
const refused = (signing: Signing) => async () => (await search(await signed(signing))).outcome;
const changed = (change: object) => async () => {
  const payload = await pay();
  const authorization = { ...payload.authorization, ...change };
  return (await search(x(v1Header({ ...payload, authorization } as SignedTransfer)))).outcome;
};
const accepting = (accepted: object) => async () =>
  (await search({ 'PAYMENT-SIGNATURE': v2Header(await pay(), { accepted }) })).outcome;
const raw = (change: (json: string) => string) => async () => {
  const json = Buffer.from(v1Header(await pay()), 'base64').toString();
  return (await search(x(Buffer.from(change(json)).toString('base64')))).outcome;
};
const spoiling = (change: (bytes: Buffer) => Uint8Array) => async () =>
  (await search(await spoilt(change))).outcome;

/** Whether the refusal can still be read depends on when the connection is closed under the upload. */
const tooLarge = (headers: Headers) =>
  search(headers).then(
    ({ status }) => (status === 431 ? '431 or a closed connection' : String(status)),
    () => '431 or a closed connection',
  );

/** One payment in another dress: served once, because nothing about it is wrong, and the usual dress is then refused. */
const dressed = (dress: (payload: SignedTransfer) => Headers) => async () => {
  const payload = await pay();
  const first = await search(dress(payload));
  if (first.outcome === '200 charged') bought += PRICE;
  return `${first.outcome}, then ${(await search(x(v1Header(payload)))).outcome}`;
};
const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}` as `0x${string}`;

const settledBody = newQuery();
const settled = await pay();
bought += await buySearch(x(v1Header(settled)), settledBody);
const settledWorkspace = await pay({ value: WORKSPACE_PRICE });
t.equal((await send(WORKSPACES, '{}', x(v1Header(settledWorkspace)))).outcome, '201 charged');
bought += WORKSPACE_PRICE;

const ATTACKS: Attacks = {
  // ── a settled payment is public
  'A settled search payment rebuilt from the chain, same body, either header': async () =>
    same(
      await Promise.all(
        rebuilt(settled).map(async (headers) => (await search(headers, settledBody)).outcome),
      ),
    ),
  'A settled workspace payment rebuilt from the chain, same body, with a guessed key': async () => {
    const key = { 'Idempotency-Key': 'a-guess-of-a-private-key' };
    const seen = await Promise.all(
      rebuilt(settledWorkspace).map((headers) => send(WORKSPACES, '{}', { ...headers, ...key })),
    );
    return same(seen.map(({ outcome, text }) => `${outcome}${text.includes('fws_') ? ' and a token' : ''}`));
  },
  'Replay after success': async () => (await search(x(v1Header(settled)), settledBody)).outcome,
  'Replay after the authorization expired': async () => {
    clock.offsetMs = 10 * 60_000;
    const { outcome } = await search(x(v1Header(settled)), settledBody);
    clock.offsetMs = 0;
    return outcome;
  },
  'A settled payment on another route of the same price': async () =>
    (await send(EXTEND, EXTENSION, x(v1Header(settled)))).outcome,
  'A settled payment on another route of another price': async () =>
    (await send(WORKSPACES, '{}', x(v1Header(settled)))).outcome,
  'A settled payment with another body': async () => (await search(x(v1Header(settled)))).outcome,
  'A settled payment in base64url, without padding, with spaces, in the other header, in capitals':
    async () => {
      const header = v2Header(settled, { accepted: { note: '>>>???~~~ÿ' } });
      const dresses: Headers[] = [
        x(Buffer.from(header, 'base64').toString('base64url')),
        x(header.replace(/=+$/, '')),
        { 'x-PaYmEnT': `  ${header}  ` },
        { 'payment-signature': v1Header(settled) },
        x(v1Header({ ...settled, signature: upper(settled.signature) })),
      ];
      return same(
        await Promise.all(dresses.map(async (dress) => (await search(dress, settledBody)).outcome)),
      );
    },
  'A fresh payment on a route of another price': async () =>
    (await send(WORKSPACES, '{}', x(v1Header(await pay())))).outcome,

  // ── the same payment in another dress
  'A fresh payment in base64url': dressed((payload) =>
    x(Buffer.from(v1Header(payload), 'base64').toString('base64url')),
  ),
  'A fresh payment without padding': dressed((payload) => x(v1Header(payload).replace(/=+$/, ''))),
  'A fresh payment with addresses, nonce and signature in capitals': dressed(
    ({ signature, authorization: { from, to, nonce, ...rest } }) =>
      x(
        v1Header({
          signature: upper(signature),
          authorization: { ...rest, from: upper(from), to: upper(to), nonce: upper(nonce) },
        }),
      ),
  ),
  'A header of 12 kB': dressed((payload) => ({
    'PAYMENT-SIGNATURE': v2Header(payload, { accepted: { extra: { padding: 'x'.repeat(8500) } } }),
  })),
  'A header of 20 kB': async () => {
    const accepted = { extra: { padding: 'x'.repeat(15_000) } };
    return tooLarge({ 'PAYMENT-SIGNATURE': v2Header(await pay(), { accepted }) });
  },
  'A letter of the base64 in another case': async () => {
    const header = v1Header(await pay());
    const flipped = header.replace(/[a-zA-Z](?=[^a-zA-Z]*$)/, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    return (await search(x(flipped))).outcome.replace(/payment_malformed|invalid_signature/, 'refused');
  },
  'A key twice in the JSON': raw((json) => json.replace('"value":', '"value":"1","value":')),
  'A key twice in the JSON, once escaped': raw((json) =>
    json.replace('"value":', '"val\\u0075e":"1","value":'),
  ),

  // ── signed for something else
  'Signed for another chain id': refused({ domain: { chainId: 1 } }),
  'Signed under another domain name': refused({ domain: { name: 'USDC' } }),
  'Signed under another domain version': refused({ domain: { version: '1' } }),
  'Signed for another contract': refused({ domain: { verifyingContract: PAY_TO } }),
  'Another network named beside a good signature': accepting({ network: 'eip155:1' }),
  'Another asset named beside a good signature': accepting({ asset: PAY_TO }),
  'One unit less': refused({ value: PRICE - 1n }),
  'One unit more': refused({ value: PRICE + 1n }),
  'All that 256 bits can say': refused({ value: (1n << 256n) - 1n }),
  'The amount changed after signing': changed({ value: '1' }),
  'Another amount named beside a good signature': accepting({ amount: '1' }),
  'Signed for another recipient': refused({ to: addressOf(wallet()) }),
  'The recipient changed after signing': changed({ to: addressOf(wallet()) }),
  'Another recipient named beside a good signature': accepting({ payTo: addressOf(wallet()) }),
  'The payer changed after signing': changed({ from: addressOf(wallet()) }),

  // ── time
  'Valid only in the future': refused({ validAfter: now() + 600n }),
  Expired: refused({ validBefore: now() - 1n }),
  'Valid for another day': refused({ validBefore: now() + DAY_S }),
  'The client’s clock is ten minutes slow': refused({
    validAfter: now() - 1200n,
    validBefore: now() - 300n,
  }),
  'The client’s clock is ten minutes fast': async () => {
    const payload = await pay({ validAfter: now(), validBefore: now() + 900n });
    const { outcome } = await search(x(v1Header(payload)));
    if (outcome === '200 charged') bought += PRICE;
    return outcome;
  },

  // ── signatures
  'The malleable twin of a signature (high s)': spoiling(malleated),
  'v 0 or 1': spoiling((bytes) => Buffer.concat([bytes.subarray(0, 64), Buffer.from([bytes[64]! - 27])])),
  'A zero signature': spoiling(() => Buffer.alloc(65)),
  'An empty signature': spoiling(() => Buffer.alloc(0)),
  'A signature one byte short': spoiling((bytes) => bytes.subarray(0, 64)),
  'A contract wallet’s signature at a facilitator without a chain': spoiling((bytes) =>
    Buffer.concat([bytes, Buffer.alloc(100)]),
  ),

  // ── numbers and nesting
  'A negative amount': changed({ value: '-6000' }),
  'An amount of 400 digits': changed({ value: '9'.repeat(400) }),
  'An amount over 256 bits': changed({ value: (1n << 256n).toString() }),
  'An amount with an exponent, in hexadecimal, as a fraction': async () =>
    same(await Promise.all(['6e3', '0x1770', '6000.0'].map((value) => changed({ value })()))),
  'An unsafe number': raw((json) => json.replace(/"value":"\d+"/, '"value":9007199254740993')),
  'A payment nested 5,000 deep': async () =>
    (await search(x(Buffer.from('['.repeat(5000)).toString('base64')))).outcome,
  '1 MB of nesting in the header': () => tooLarge(x(Buffer.from('['.repeat(750_000)).toString('base64'))),
  '1 MB of nesting in the body, beside a good payment': async () => {
    const payload = await pay();
    const { outcome } = await search(x(v1Header(payload)), `{"query":${'['.repeat(1_000_000)}`);
    bought += await buySearch(x(v1Header(payload)));
    return `${outcome}, and the payment is free again`;
  },

  // ── idempotency keys
  'A stranger with the payer’s idempotency key': async () => {
    const key = { 'Idempotency-Key': 'a-private-key-of-the-payer' };
    const body = newQuery();
    const { outcome } = await search({ ...x(v1Header(await pay())), ...key }, body);
    if (outcome === '200 charged') bought += PRICE;
    const stranger = await search({ ...x(v1Header(await sign(wallet()))), ...key }, body);
    return `${stranger.outcome}, ${(JSON.parse(stranger.text) as { hits: object[] }).hits.length} hits`;
  },
  'The idempotency key again with another body': async () => {
    const key = { 'Idempotency-Key': 'a-private-key-of-the-payer' };
    return (await search({ ...x(v1Header(await pay())), ...key })).outcome;
  },
  'An idempotency key that can be guessed (15 characters)': async () =>
    (await search({ ...x(v1Header(await pay())), 'Idempotency-Key': 'x'.repeat(15) })).outcome,

  // ── all at once
  'One payment 100 times at once on one route': async () => {
    const header = v1Header(await pay());
    const body = newQuery();
    const seen = await Promise.all(Array.from({ length: 100 }, () => search(x(header), body)));
    bought += PRICE;
    return atOnce(seen);
  },
  'One payment 100 times at once on several routes': async () => {
    const header = v1Header(await pay());
    const bodies = [newQuery(), newQuery()];
    const seen = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        at % 3 === 2 ? send(EXTEND, EXTENSION, x(header)) : search(x(header), bodies[at % 3]),
      ),
    );
    bought += PRICE;
    const answers = new Set(seen.filter(({ status }) => status < 300).map(({ text }) => text));
    const others = same(refusalsOf(seen));
    return `one charge, ${answers.size} answer, the others ${others}`;
  },
};

t.test('each attack of the documented table ends as the table says', (t) =>
  asDocumented(t, ATTACKS, (section) => section !== 'Prepaid money'),
);

t.test('after all of it the books hold what was bought on purpose, to the unit', async (t) => {
  await server.stop();
  const books = await openBooks(server.dataFolder);
  t.teardown(() => books.close());
  const { settled: charged, pending, presumed } = books.ledger.totals();
  t.equal(BigInt(charged.amount), bought);
  t.same([pending.count, presumed.count], [0, 0]);
});
