import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type FarthingError } from '../../src/client/index.ts';
import { formatUsd, parseUsd } from '../../src/protocol/money.ts';
import { Relay, type RelayWeather } from '../cluster/relay.ts';
import { deep } from '../rig/deep.ts';
import { Random } from '../rig/random.ts';
import { openBooks } from '../rig/stopped-books.ts';
import { startTestServer, type TestServer } from '../rig/test-server.ts';

/** Paid calls over the failing relay: few in the whole suite, 500 with `make client-faults`. */
const CALLS = Number(process.env.CLIENT_CALLS ?? deep(20, 60));
const SEED = Number(process.env.SEED ?? 11);
const AT_ONCE = 4;
const ATTEMPTS_MAX = 40;
const WEATHER: RelayWeather = {
  delayMsMax: 60,
  delayed: 0.2,
  cutBefore: 0.06,
  cutAfter: 0.1,
  halved: 0.1,
  silent: 0,
};
const LOCAL_BALANCE = parseUsd('100');

const wallet = () => privateKeyToAccount(generatePrivateKey());

interface Books {
  readonly nonces: readonly string[];
  readonly total: bigint;
  readonly balance: bigint;
}

/** What the stopped server's journal and the local facilitator say of one payer. */
async function booksOf({ dataFolder, stop }: TestServer, payers: readonly string[]): Promise<Books[]> {
  await stop();
  const books = await openBooks(dataFolder);
  try {
    const entries = [...books.ledger.entries(0)];
    const balances = new Map(books.rows<string>('local_balances').map(({ key, value }) => [key, value]));
    return payers.map((payer) => {
      const settled = entries.filter(
        (entry) => entry.kind === 'settled' && entry.payer === payer.toLowerCase(),
      );
      return {
        nonces: settled.map(({ nonce }) => nonce),
        total: settled.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
        balance: BigInt(balances.get(payer.toLowerCase()) ?? LOCAL_BALANCE),
      };
    });
  } finally {
    await books.close();
  }
}

async function atOnce(count: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

t.test(`${CALLS} paid calls over a failing relay are each answered and each charged once`, async (t) => {
  const server = await startTestServer(t);
  const random = new Random(SEED);
  let faults = 0;
  const onFault = () => {
    faults += 1;
  };
  const target = Number(new URL(server.url).port);
  const relay = await Relay.start({ target, random, weather: WEATHER, onFault });
  t.teardown(() => relay.close());
  const baseUrl = `http://127.0.0.1:${relay.port}`;
  const [payer, frugal] = [wallet(), wallet()];
  const client = new Farthing({ baseUrl, account: payer, attemptsMax: ATTEMPTS_MAX });
  const { item } = await client.ingest(new File(['The keeper counts gulls at dawn.'], 'log.txt'));
  const workspace = await client.workspaces.create({ ttlMinutes: 60 });

  let charged = 2;
  const kinds = [
    async (index: number) => {
      t.match(await client.search(`gulls ${index}`), {
        charged: true,
        hits: [{ item: { media_type: 'text/plain' } }],
      });
    },
    async () => t.match(await client.item(item.id), { id: item.id }),
    async () => t.match(await workspace.extend({ ttlMinutes: 1 }), { id: workspace.id }),
    async () => t.match(await client.workspaces.create({ ttlMinutes: 1 }), { token: /^fws_/ }),
    async (index: number) =>
      t.match(await client.ingest(new Blob([`gull number ${index}`])), { charged: true }),
  ];
  await atOnce(CALLS - charged, async (index) => {
    // Most are searches, as in life; an upload takes longest.
    await kinds[index % 15 === 14 ? 4 : index % 4]!(index);
    charged += 1;
  });

  // A second payer, whose budget is used up on the way.
  const limited = new Farthing({
    baseUrl,
    account: frugal,
    budgetUsd: '0.1',
    attemptsMax: ATTEMPTS_MAX,
  });
  await limited.ingest(new Blob(['A puffin.']));
  const outcomes: (string | true)[] = [];
  await atOnce(20, async (index) => {
    const outcome = await limited.search(`puffin ${index}`).then(
      () => true as const,
      (error: FarthingError) => error.code,
    );
    outcomes.push(outcome);
  });

  const [paid, spent] = await booksOf(server, [payer.address, frugal.address]);
  t.equal(paid!.nonces.length, charged, 'as many charges as calls');
  t.equal(new Set(paid!.nonces).size, charged, 'each authorization once');
  t.equal(LOCAL_BALANCE - paid!.balance, paid!.total, 'the facilitator says the same');
  t.equal(client.spending.spentUsd, formatUsd(paid!.total), 'and so does the client');
  t.match(client.spending, { heldUsd: '0' });

  t.equal(outcomes.filter((outcome) => outcome === true).length, 11, '0.03 + 11 × 0.006 = 0.096 USD');
  t.equal(outcomes.filter((outcome) => outcome === 'budget_exceeded').length, 9);
  t.equal(formatUsd(LOCAL_BALANCE - spent!.balance), '0.096', 'the budget holds');
  t.ok(faults > CALLS / 10, `${faults} connections were cut`);
});

t.test('another client can resume an unanswered call with its idempotency key', async (t) => {
  const server = await startTestServer(t);
  const account = wallet();
  const swallowed: string[] = [];
  const swallowing: typeof fetch = async (...call) => {
    const response = await fetch(...call);
    if (response.status === 402) return response;
    swallowed.push(await response.text());
    throw new TypeError('the test keeps the answer');
  };
  const deaf = new Farthing({
    baseUrl: server.url,
    account,
    attemptsMax: 2,
    fetch: swallowing,
    budgetUsd: '1',
  });
  const error = (await deaf.workspaces.create({ ttlMinutes: 10 }).catch((thrown) => thrown)) as FarthingError;
  t.equal(error.code, 'answer_lost');
  t.match(deaf.spending, { spentUsd: '0.015', leftUsd: '0.985' }, 'what may be charged counts');
  t.equal(swallowed.length, 2);
  const idempotencyKey = String(error.facts.idempotency_key);
  const again = new Farthing({ baseUrl: server.url, account });
  const workspace = await again.workspaces.create({ ttlMinutes: 10, idempotencyKey });
  t.equal(workspace.id, (JSON.parse(swallowed[0]!) as { id: string }).id, 'the same workspace');
  t.equal((await workspace.usage()).state, 'active');
  const [books] = await booksOf(server, [account.address]);
  t.equal(books!.nonces.length, 1, 'charged once');
});
