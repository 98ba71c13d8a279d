import t from 'tap';
import { prepaidOn } from '../../../src/payment/asset.ts';
import { type SignedTransfer, tokenDomain } from '../../rig/sign-transfer.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';
import { documentedAttacks } from '../rig/attack-table.ts';
import { PAY_TO, PRICE, type Signing, sign, v1Header, v2Header, wallet } from '../rig/payments.ts';

/** The rows on prepaid money of docs/attacks.md, over HTTP against the whole server, in their order. */

const PREPAID = prepaidOn('eip155:8453');
const SEARCH = '/agent/v1/search';
const PREPAY = '/agent/v1/prepaid';
const REFUND = '/agent/v1/prepaid/refund';
/** Paid in advance. */
const ADDED = 1_000_000n;

const server = await startTestServer(t, {
  PAY_TO,
  TENANT_SEARCHES_AT_ONCE: '100',
  TENANT_REQUESTS_PER_SECOND: '10000',
});
const agent = new TestAgent(server.url);
const account = agent.account;
await agent.ingest('log.txt', 'The lighthouse keeper counts gulls at dawn.');
let queries = 0;
const newQuery = () => JSON.stringify({ query: `who watches birds in the morning, ${++queries}?` });

type Headers = Record<string, string>;
const x = (header: string): Headers => ({ 'X-PAYMENT': header });
const now = () => BigInt(Math.floor(Date.now() / 1000));
const pay = (signing: Signing = {}) => sign(account, { validBefore: now() + 280n, ...signing });

interface Seen {
  readonly status: number;
  readonly text: string;
  /** In the words of the table: the status, and `error` of a 402 or `code` of a problem. */
  readonly outcome: string;
}

async function send(path: string, body: string, headers: Headers): Promise<Seen> {
  const response = await fetch(server.url + path, { method: 'POST', body, headers });
  const { status } = response;
  const text = await response.text();
  const { error, code, charged } = JSON.parse(text || '{}') as Record<string, unknown>;
  const word = status < 300 ? (charged === true ? 'charged' : 'uncharged') : (error ?? code ?? '');
  return { status, text, outcome: `${status} ${word}` };
}

const search = (headers: Headers, body = newQuery()) => send(SEARCH, body, headers);

/** The outcome that all of them share; otherwise what they were. */
const same = (outcomes: readonly string[]) => [...new Set(outcomes)].join(', ');

/** A voucher is signed as a payment is, in the coin that prepaid money is told by. */
const voucherHeader = (payload: SignedTransfer): Headers => {
  const extra = { name: PREPAID.name, version: PREPAID.version, prepaid: true };
  return { 'PAYMENT-SIGNATURE': v2Header(payload, { accepted: { asset: PREPAID.displayedAddress, extra } }) };
};
const sealed = (signing: Signing = {}, signer = account) =>
  sign(signer, { domain: tokenDomain(PREPAID), validBefore: now() + 280n, ...signing });
const voucher = async (signing: Signing = {}, signer = account) =>
  voucherHeader(await sealed(signing, signer));
const voucherRefused =
  (signing: Signing, signer = account) =>
  async () =>
    (await search(await voucher(signing, signer))).outcome;
/** Spends prepaid money, on purpose. */
let spent = 0n;
async function spend(headers: Headers, body = newQuery()): Promise<void> {
  const { outcome, text } = await search(headers, body);
  if (outcome !== '200 charged') throw new Error(`a good voucher was answered ${outcome}: ${text}`);
  spent += PRICE;
}
const refund = (headers: Headers, usd: number) => send(REFUND, JSON.stringify({ usd }), headers);
/** Different answers. */
const differentAnswers = (answers: readonly Seen[]) =>
  new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size;

const prepaying = JSON.stringify({ usd: 1 });
const prepayment = await pay({ value: ADDED });
const prepaid = await send(PREPAY, prepaying, x(v1Header(prepayment)));
if (prepaid.status >= 300) throw new Error(`prepaying was answered ${prepaid.outcome}: ${prepaid.text}`);

const ATTACKS: Readonly<Record<string, () => Promise<string>>> = {
  'The payment of a settled prepayment again': async () =>
    (await send(PREPAY, prepaying, x(v1Header(prepayment)))).outcome,
  'A spent voucher, same body and another': async () => {
    const [headers, body] = [await voucher(), newQuery()];
    await spend(headers, body);
    return same([(await search(headers, body)).outcome, (await search(headers)).outcome]);
  },
  'A spent voucher’s nonce in another voucher': async () => {
    const first = await sealed();
    await spend(voucherHeader(first));
    const { nonce } = first.authorization;
    return (await search(await voucher({ nonce, validBefore: now() + 100n }))).outcome;
  },
  'One voucher 100 times at once': async () => {
    const [headers, body] = [await voucher(), newQuery()];
    const seen = await Promise.all(Array.from({ length: 100 }, () => search(headers, body)));
    spent += PRICE;
    const others = seen.filter(({ status }) => status !== 200).map(({ outcome }) => outcome);
    const known = others.every((outcome) => outcome === '402 authorization_already_used');
    return `one charge, ${differentAnswers(seen)} answer, ${known ? 'any others 402 authorization_already_used' : same(others)}`;
  },
  'A fork of 100 vouchers with one nonce, at once': async () => {
    const { nonce } = (await sealed()).authorization;
    const forks = await Promise.all(
      Array.from({ length: 100 }, (_, fork) => voucher({ nonce, validBefore: now() + 100n + BigInt(fork) })),
    );
    const seen = await Promise.all(forks.map((headers) => search(headers)));
    spent += PRICE;
    return `one charge, ${seen.filter(({ status }) => status === 200).length} answer`;
  },
  'A voucher that another wallet signed for the payer': async () => {
    const signed = await sealed({}, wallet());
    const authorization = { ...signed.authorization, from: account.address };
    return (await search(voucherHeader({ ...signed, authorization }))).outcome;
  },
  'A voucher of a wallet that has paid nothing in advance': voucherRefused({}, wallet()),
  'A voucher for one unit': voucherRefused({ value: 1n }),
  'A voucher for another recipient': voucherRefused({ to: `0x${'1'.repeat(40)}` }),
  'An expired voucher': voucherRefused({ validBefore: 1n }),
  'The coin’s signature presented as a voucher': async () =>
    (await search(voucherHeader(await pay()))).outcome,
  'A voucher’s signature presented as a payment in the coin': async () =>
    (await search({ 'PAYMENT-SIGNATURE': v2Header(await sealed()) })).outcome,
  'A prepayment with a voucher': async () =>
    (await send(PREPAY, prepaying, await voucher({ value: ADDED }))).outcome,
  'A refund of more than there is': async () =>
    (await refund(await voucher({ value: 2n * ADDED }), 2)).outcome,
  'A refund signed by another wallet': async () =>
    (await refund(await voucher({ value: 100_000n }, wallet()), 0.1)).outcome,
  'A refund asked twice with one voucher': async () => {
    const headers = await voucher({ value: 100_000n });
    const first = await refund(headers, 0.1);
    if (first.status === 200) spent += 100_000n;
    return `${first.status}, then ${(await refund(headers, 0.1)).outcome}`;
  },
  'The whole balance asked back 20 times at once': async () => {
    const value = ADDED - spent;
    const usd = Number(value) / 1e6;
    const all = await Promise.all(Array.from({ length: 20 }, () => voucher({ value })));
    const seen = await Promise.all(all.map((headers) => refund(headers, usd)));
    const paid = seen.filter(({ status }) => status === 200).length;
    const others = same(seen.filter(({ status }) => status !== 200).map(({ outcome }) => outcome));
    return `${paid} refund, the others ${others}, and a search ${(await search(await voucher())).outcome}`;
  },
};

t.test('each attack on prepaid money ends as the documented table says', async (t) => {
  const table = documentedAttacks((section) => section === 'Prepaid money');
  t.same(Object.keys(ATTACKS), Object.keys(table), 'the same rows');
  for (const [attack, perform] of Object.entries(ATTACKS)) t.equal(await perform(), table[attack], attack);
});
