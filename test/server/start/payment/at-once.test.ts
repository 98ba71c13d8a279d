import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { StartChanges } from '../../../../src/server/start/start.ts';
import { noChain } from '../../../payment/chain/chain.ts';
import { onlyDeep } from '../../../rig/deep.ts';
import { TestAgent, type TestAnswer } from '../../../rig/test-server.ts';
import { startPaidServer } from './paid-server.ts';

/** Many simultaneous purchases, on a slow chain. */

const PAYERS = 20;
const PURCHASES = 200;
/** A purchase is sent again so often at most. */
const AGAIN_MAX = 9;
const BLOCK_SECONDS = 2;
/** A node that is asked without a pause has no time for anything else. */
const POLL_MS = 20;
const PURSE = 10_000_000n;
const PRICE = 10_000;
const skip = noChain ?? onlyDeep;
/** Least share of the charged payers that are answered although their facilitator is killed. */
const ANSWERED_SHARE_MIN = 0.95;

async function openCrowd(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
  changes: StartChanges = {},
) {
  const paid = await startPaidServer(t, environment, undefined, changes);
  const { chain, merchant, server } = paid;
  const agents = Array.from({ length: PAYERS }, () => new TestAgent(server.url));
  for (const [number, agent] of agents.entries()) {
    await chain.mint(agent.account.address, PURSE);
    const { status } = await agent.ingest('tides.txt', `Tides follow the moon, ${number}.`);
    t.equal(status, 200);
  }
  await chain.control.setIntervalMining({ interval: BLOCK_SECONDS });
  const before = await chain.balance(merchant);
  const asked = { again: 0 };
  /**
   * All answers, each question once. On a busy machine some facilitator calls exceed their deadline, which is reported
   * before anything is charged: those are retried.
   */
  const buyAll = (again = AGAIN_MAX) =>
    Promise.all(
      Array.from({ length: PURCHASES }, async (_, number) => {
        const ask = () =>
          agents[number % PAYERS]!.post('/agent/v1/search', { query: `what moves the sea, ${number}?` });
        let answer = await ask();
        for (let left = again; left > 0 && isUncharged(answer); left--) {
          asked.again += 1;
          await pause(1000 * Number(answer.headers.get('Retry-After') ?? 1));
          answer = await ask();
        }
        return answer;
      }),
    );
  const earned = async () => (await chain.balance(merchant)) - before;
  return { ...paid, asked, buyAll, earned };
}

function isUncharged({ status, body }: TestAnswer): boolean {
  return status === 503 && (body.code ?? body.error) === 'facilitator_unavailable';
}

/** How many answers there are of each kind. */
function kindsOf(answers: readonly TestAnswer[]): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { status, body } of answers) {
    const kind = status === 200 ? '200' : `${status} ${body.code ?? body.error}`;
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

for (const [through, environment] of [
  ['a facilitator', {}],
  ['this server itself', { FACILITATOR: 'self' }],
] as const)
  t.test(`${PURCHASES} purchases at once through ${through} are all answered`, { skip }, async (t) => {
    const { asked, buyAll, booksAtEnd, merchant, chain } = await openCrowd(t, environment);
    t.same(kindsOf(await buyAll()), { 200: PURCHASES });
    t.comment(`${asked.again} were refused uncharged, and asked again`);
    const balance = await chain.balance(merchant);
    const { totals } = await booksAtEnd();
    t.match(totals, { settled: { count: PURCHASES + PAYERS }, pending: { count: 0 } });
    t.equal(balance, BigInt(totals.settled.amount));
  });

t.test('who is charged as the facilitator is killed is answered in the same call', { skip }, async (t) => {
  const crowd = await openCrowd(t, { SEARCH_PRICE_USD: '0.01' }, { settlementWaitSecondsMax: 12 });
  const buying = crowd.buyAll(0);
  await amidst(crowd, PURCHASES / 4);
  await crowd.facilitator.kill();
  const kinds = kindsOf(await buying);
  // All sent transactions are in a block by now.
  const charged = Number(await crowd.earned()) / PRICE;
  t.comment(`${charged} charged: ${JSON.stringify(kinds)}`);
  t.ok(charged > 0, 'money moved');
  t.ok((kinds['200'] ?? 0) >= ANSWERED_SHARE_MIN * charged);
  t.ok((kinds['200'] ?? 0) <= charged, 'nobody is answered who is not charged');
});

/** Resolves when so many were sent, and some of them wait for the next block. */
async function amidst(
  { chain: { control }, earned }: Awaited<ReturnType<typeof openCrowd>>,
  count: number,
): Promise<void> {
  for (;;) {
    const [{ pending }, money] = await Promise.all([control.getTxpoolStatus(), earned()]);
    if (pending > 0 && pending + Number(money) / PRICE >= count) return;
    await pause(POLL_MS);
  }
}
