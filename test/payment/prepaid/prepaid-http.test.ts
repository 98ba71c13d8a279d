import t from 'tap';
import { Farthing } from '../../../src/client/index.ts';
import { prepaidOn } from '../../../src/payment/asset.ts';
import { ServedProcess } from '../../rig/served-process.ts';
import { tokenDomain } from '../../rig/sign-transfer.ts';
import { PAY_TO, PRICE, type Signing, sign, v2Header, wallet } from '../rig/payments.ts';

/** Vouchers over HTTP, against a server in a process of its own that is killed amidst them. What attackers send: `prepaid-attacks.test.ts`. */

const PREPAID = prepaidOn('eip155:8453');
const ADDED = 1_000_000n;
const CRASHED = 40;

const folder = t.testdir({});
const serve = () =>
  ServedProcess.start(t, {
    data: `${folder}/data`,
    log: `${folder}/log`,
    environment: { PAY_TO, TENANT_REQUESTS_PER_SECOND: '10000' },
  });
let server = await serve();
const account = wallet();
const farthing = new Farthing({ baseUrl: server.url, account, budgetUsd: '2', maxPriceUsd: '1' });
await farthing.ingest(new File(['The lighthouse keeper counts gulls at dawn.'], 'log.txt'));
await farthing.prepay('1');

async function voucher(signing: Signing = {}) {
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 280);
  const signed = await sign(account, { domain: tokenDomain(PREPAID), validBefore, ...signing });
  const extra = { name: PREPAID.name, version: PREPAID.version, prepaid: true };
  return { 'PAYMENT-SIGNATURE': v2Header(signed, { accepted: { asset: PREPAID.displayedAddress, extra } }) };
}

async function post(path: string, body: object, headers: Record<string, string>) {
  const response = await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body), headers });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

const search = (query: string, headers: Record<string, string>) =>
  post('/agent/v1/search', { query }, headers);

/** Of the balance, as its owner is told when more is asked back. */
async function left(): Promise<string | null> {
  const headers = await voucher({ value: 50_000_000n });
  const answer = await post('/agent/v1/prepaid/refund', { usd: 50 }, headers);
  t.match(answer, { status: 402, body: { error: 'insufficient_funds' } });
  return answer.headers.get('X-Prepaid-Left-USD');
}

t.test('a kill amidst purchases charges each once, and each is answered in the end', async (t) => {
  const purchases = await Promise.all(
    Array.from({ length: CRASHED }, async (_, number) => ({
      query: `birds ${number}`,
      headers: { ...(await voucher()), 'Idempotency-Key': `purchase-before-a-kill-${number}` },
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
  t.equal(await left(), String(Number(ADDED - BigInt(CRASHED) * PRICE) / 1e6));
});
