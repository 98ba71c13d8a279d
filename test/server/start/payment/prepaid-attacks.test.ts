import t from 'tap';
import { prepaidOn } from '../../../../src/payment/asset.ts';
import { PRICE, type Signing, sign, v1Header, v2Header, wallet } from '../../../payment/rig/payments.ts';
import { type SignedTransfer, tokenDomain } from '../../../rig/sign-transfer.ts';
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

/** The rows on prepaid money of docs/attacks.md, over HTTP against the whole server, in their order. */

const PREPAID = prepaidOn('eip155:8453');
const PREPAY = '/agent/v1/prepaid';
const REFUND = '/agent/v1/prepaid/refund';
/** Paid in advance. */
const ADDED = 1_000_000n;

const { agent, send, search, newQuery, pay, buySearch } = await attacked(t);
const { account } = agent;

/** A voucher is signed like a payment, in the coin that marks prepaid money. */
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
const refund = (headers: Headers, usd: number) => send(REFUND, JSON.stringify({ usd }), headers);

const prepaying = JSON.stringify({ usd: 1 });
const prepayment = await pay({ value: ADDED });
const prepaid = await send(PREPAY, prepaying, x(v1Header(prepayment)));
if (prepaid.status >= 300) throw new Error(`prepaying was answered ${prepaid.outcome}: ${prepaid.text}`);

const ATTACKS: Attacks = {
  'The payment of a settled prepayment again': async () =>
    (await send(PREPAY, prepaying, x(v1Header(prepayment)))).outcome,
  'A spent voucher, same body and another': async () => {
    const [headers, body] = [await voucher(), newQuery()];
    spent += await buySearch(headers, body);
    return same([(await search(headers, body)).outcome, (await search(headers)).outcome]);
  },
  'A spent voucher’s nonce in another voucher': async () => {
    const first = await sealed();
    spent += await buySearch(voucherHeader(first));
    const { nonce } = first.authorization;
    return (await search(await voucher({ nonce, validBefore: now() + 100n }))).outcome;
  },
  'One voucher 100 times at once': async () => {
    const [headers, body] = [await voucher(), newQuery()];
    const seen = await Promise.all(Array.from({ length: 100 }, () => search(headers, body)));
    spent += PRICE;
    return atOnce(seen);
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
    const others = same(refusalsOf(seen));
    return `${paid} refund, the others ${others}, and a search ${(await search(await voucher())).outcome}`;
  },
};

t.test('each attack on prepaid money ends as the documented table says', (t) =>
  asDocumented(t, ATTACKS, (section) => section === 'Prepaid money'),
);
