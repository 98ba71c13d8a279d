import t from 'tap';
import { Farthing } from '../../../src/client/index.ts';
import { prepaidOn } from '../../../src/payment/asset.ts';
import { ServedProcess } from '../../rig/served-process.ts';
import { tokenDomain } from '../../rig/sign-transfer.ts';
import { PAY_TO, PRICE, type Signing, sign, v2Header, wallet } from '../rig/payments.ts';

/** Vouchers over HTTP, against a server in a process of its own that is killed amidst them. */

const PREPAID = prepaidOn('eip155:8453');
const SEARCH = '/agent/v1/search';
const ADDED = 1_000_000n;
const RACERS = 100;
const CRASHED = 40;

const folder = t.testdir({});
const serve = () =>
  ServedProcess.start(t, {
    data: `${folder}/data`,
    log: `${folder}/log`,
    environment: { PAY_TO, TENANT_SEARCHES_AT_ONCE: '100', TENANT_REQUESTS_PER_SECOND: '10000' },
  });
let server = await serve();
const account = wallet();
const farthing = new Farthing({ baseUrl: server.url, account, budgetUsd: '2', maxPriceUsd: '1' });
await farthing.ingest(new File(['The lighthouse keeper counts gulls at dawn.'], 'log.txt'));
await farthing.prepay('1');
let searches = 0n;

async function voucher(signing: Signing = {}, signer = account) {
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 280);
  const signed = await sign(signer, { domain: tokenDomain(PREPAID), validBefore, ...signing });
  const extra = { name: PREPAID.name, version: PREPAID.version, prepaid: true };
  const header = v2Header(signed, { accepted: { asset: PREPAID.displayedAddress, extra } });
  return { signed, headers: { 'PAYMENT-SIGNATURE': header } };
}

async function post(path: string, body: object, headers: Record<string, string>) {
  const response = await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body), headers });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

const search = (query: string, headers: Record<string, string>) => post(SEARCH, { query }, headers);

/** Of the balance, as its owner is told when more is asked back. */
async function left(): Promise<string | null> {
  const { headers } = await voucher({ value: 50_000_000n });
  const answer = await post('/agent/v1/prepaid/refund', { usd: 50 }, headers);
  t.match(answer, { status: 402, body: { error: 'insufficient_funds' } });
  return answer.headers.get('X-Prepaid-Left-USD');
}

const expected = () => String(Number(ADDED - searches * PRICE) / 1e6);

t.test('of a hundred requests at once with one voucher one is charged', async (t) => {
  const { headers } = await voucher();
  const answers = await Promise.all(Array.from({ length: RACERS }, () => search('gulls', headers)));
  searches += 1n;
  const good = answers.filter(({ status }) => status === 200);
  t.ok(good.length >= 1);
  const receipts = new Set(good.map(({ headers }) => headers.get('PAYMENT-RESPONSE')));
  t.equal(receipts.size, 1, 'its copies have its receipt');
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { body } of refused) t.equal(body.error, 'authorization_already_used');
  t.equal(await left(), expected());
  t.match(await search('gulls', headers), { status: 402, body: { error: 'authorization_already_used' } });
  t.match(await search('dawn', headers), { status: 402, body: { error: 'authorization_already_used' } });
  t.equal(await left(), expected(), 'replays cost nothing');
});

t.test('of a fork of a hundred vouchers with one nonce one is charged', async (t) => {
  const { nonce } = (await voucher()).signed.authorization;
  const now = BigInt(Math.floor(Date.now() / 1000));
  const forks = await Promise.all(
    Array.from({ length: RACERS }, (_, fork) => voucher({ nonce, validBefore: now + 60n + BigInt(fork) })),
  );
  const answers = await Promise.all(forks.map(({ headers }, fork) => search(`gulls ${fork}`, headers)));
  searches += 1n;
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  t.equal(await left(), expected());
});

t.test('forged and foreign vouchers are refused', async (t) => {
  const { signed } = await voucher({}, wallet());
  const authorization = { ...signed.authorization, from: account.address };
  const accepted = { asset: PREPAID.displayedAddress };
  const forged = v2Header({ ...signed, authorization }, { accepted });
  const raised = await voucher();
  const cheaper = { ...raised.signed.authorization, value: '1' };
  const refused = {
    invalid_signature: forged,
    amount_mismatch: (await voucher({ value: 1n })).headers['PAYMENT-SIGNATURE'],
    wrong_recipient: (await voucher({ to: `0x${'1'.repeat(40)}` })).headers['PAYMENT-SIGNATURE'],
    authorization_expired: (await voucher({ validBefore: 1n })).headers['PAYMENT-SIGNATURE'],
    insufficient_funds: (await voucher({}, wallet())).headers['PAYMENT-SIGNATURE'],
  };
  for (const [error, header] of Object.entries(refused))
    t.match(await search('gulls', { 'PAYMENT-SIGNATURE': header }), { status: 402, body: { error } }, error);
  const changed = v2Header({ ...raised.signed, authorization: cheaper }, { accepted });
  t.equal(
    (await search('gulls', { 'PAYMENT-SIGNATURE': changed })).status,
    402,
    'another amount than signed',
  );
  t.equal(await left(), expected());
});

t.test('a request that fails gives its amount back, and its voucher stays good', async (t) => {
  const { headers } = await voucher();
  t.equal((await post(SEARCH, { query: 'gulls', k: 'many' }, headers)).status, 400);
  t.equal(await left(), expected());
  t.equal((await search('gulls again', headers)).status, 200);
  searches += 1n;
  t.equal(await left(), expected());
});

t.test('a lost answer is had again under the same voucher', async (t) => {
  const headers = { ...(await voucher()).headers, 'Idempotency-Key': 'lost-answer-of-a-search' };
  const first = await search('who counts birds', headers);
  searches += 1n;
  const again = await search('who counts birds', headers);
  t.equal(again.status, 200);
  t.same(again.body.hits, first.body.hits);
  t.equal(await left(), expected());
});

t.test('a kill amidst purchases charges each once, and each is answered in the end', async (t) => {
  const purchases = await Promise.all(
    Array.from({ length: CRASHED }, async (_, number) => ({
      query: `birds ${number}`,
      headers: { ...(await voucher()).headers, 'Idempotency-Key': `purchase-before-a-kill-${number}` },
    })),
  );
  const first = purchases.map(({ query, headers }) => search(query, headers));
  const settled = Promise.allSettled(first);
  await Promise.any(first);
  await server.kill();
  const answered = (await settled).filter(({ status }) => status === 'fulfilled').length;
  t.comment(`${answered} of ${CRASHED} were answered before the kill`);
  server = await serve();
  for (const { query, headers } of purchases) t.equal((await search(query, headers)).status, 200, query);
  searches += BigInt(CRASHED);
  t.equal(await left(), expected());
});
