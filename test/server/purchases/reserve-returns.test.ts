import t from 'tap';
import { Farthing, type FarthingError, type Workspace } from '../../../src/client/index.ts';
import { PREPAID_CONTRACT } from '../../../src/protocol/money.ts';
import { wallet } from '../../payment/rig/payments.ts';
import { eventually } from '../../rig/eventually.ts';
import { ServedProcess } from '../../rig/served-process.ts';
import { openBooks } from '../../rig/stopped-books.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

/** Minutes in reserve over HTTP: who pays, what goes back, and what a kill changes. */

const ADDED = 2_000_000;
const WORKSPACES = 8;
const ROUNDS = 4;

/** A client with two dollars of prepaid money. It spends that on reserves alone. */
async function opened(baseUrl: string) {
  const account = wallet();
  const farthing = new Farthing({ baseUrl, account, maxPriceUsd: '10' });
  await farthing.prepay('2');
  return { account, farthing };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: FarthingError) => error.code,
  );

/** A wallet's prepaid money in millionths, as stated when it asks for more. */
async function left({ baseUrl }: Farthing, account: ReturnType<typeof wallet>): Promise<number> {
  const headers: string[] = [];
  const asks = new Farthing({
    baseUrl,
    account,
    fetch: async (...request) => {
      const answer = await fetch(...request);
      headers.push(answer.headers.get('X-Prepaid-Left-USD') ?? '');
      return answer;
    },
  });
  await asks.refundPrepaid('99').catch(() => undefined);
  return Math.round(Number(headers.at(-1)) * 1e6);
}

t.test('a reserve is paid in prepaid money alone, and goes back to it', async (t) => {
  const server = await startTestServer(t);
  const { account, farthing } = await opened(server.url);
  const workspace = await farthing.workspaces.create({ ttlMinutes: 15, spendLimitUsd: '0.1' });
  const record = await workspace.extend({ ttlMinutes: 60, reserve: true });
  t.match(record, {
    ttl_minutes: 60,
    price_usd: '0.03',
    charged: true,
    reserve: { minutes: 60, usd: '0.03' },
  });
  t.equal(await left(farthing, account), ADDED - 30_000);
  t.match(await workspace.usage(), { spend_usd: '0.0175', reserve: { minutes: 60, usd: '0.03' } });

  t.equal(await codeOf(workspace.extend({ ttlMinutes: 120, reserve: true })), 'spend_limit_exceeded');
  t.equal(await left(farthing, account), ADDED - 30_000, 'what is refused is not taken');
  const poor = new Farthing({ baseUrl: server.url, account: wallet() });
  await t.rejects(poor.workspaces.open(workspace).extend({ ttlMinutes: 1, reserve: true }), {
    code: 'payment_refused',
    message: /insufficient_funds.*prepay adds some/,
  });

  t.match(await workspace.endReserve(), { returned_minutes: 60, returned_usd: '0.03' });
  t.match(await workspace.endReserve(), { returned_minutes: 0, returned_usd: '0' });
  await eventually(async () => (await left(farthing, account)) === ADDED);
  await workspace.extend({ ttlMinutes: 100, reserve: true });
  const { claims } = await workspace.dispose();
  t.equal(claims.spend_usd, '0.0175');
  await eventually(async () => (await left(farthing, account)) === ADDED);
  t.equal(await codeOf(workspace.endReserve()), 'workspace_unauthorized');

  await server.stop();
  const books = await openBooks(server.dataFolder);
  t.teardown(() => books.close());
  const own = [...books.ledger.entries(0)].filter(({ payer }) => payer === account.address.toLowerCase());
  const of = (kind: string) => own.filter((entry) => entry.kind === kind).map(({ amount }) => amount);
  t.same(
    [of('prepaid'), of('returned')],
    [
      ['30000', '50000'],
      ['30000', '50000'],
    ],
  );
  t.notMatch(JSON.stringify(own), workspace.id, 'no workspace stands beside a wallet');
});

t.test('a workspace extends itself with its reserve, and warns before its end', async (t) => {
  const shift = { ms: 0 };
  const server = await startTestServer(t, {}, { monotonic: () => performance.now() + shift.ms });
  const { account, farthing } = await opened(server.url);
  const workspace = await farthing.workspaces.create({ ttlMinutes: 5 });
  await workspace.extend({ ttlMinutes: 10, reserve: true });
  await workspace.usage();
  t.equal(workspace.warning, undefined);
  shift.ms = 7.5 * 60_000;
  t.match(await workspace.usage(), { spend_usd: '0.014', reserve: { minutes: 7, usd: '0.0035' } });
  shift.ms = 13.5 * 60_000;
  t.match(await workspace.usage(), { state: 'active', reserve: { minutes: 1 } });
  t.match(workspace.warning, /^The workspace ends in \d+ s\. POST .*extend adds minutes\.$/);
  t.match((await workspace.dispose()).claims, { spend_usd: '0.017' });
  await eventually(async () => (await left(farthing, account)) === ADDED - 4500);
});

t.test('its 402 offers prepaid money, and no other is taken', async (t) => {
  const server = await startTestServer(t);
  const agent = new TestAgent(server.url);
  const workspace = await new Farthing({ baseUrl: server.url, account: agent.account }).workspaces.create();
  const path = `/agent/v1/workspaces/${workspace.id}/extend`;
  const asked = await fetch(server.url + path, { method: 'POST', body: '{"reserve": true}' });
  const { accepts } = JSON.parse(atob(asked.headers.get('PAYMENT-REQUIRED')!));
  t.match(accepts, [{ asset: PREPAID_CONTRACT, amount: '7500' }]);
  t.equal(accepts.length, 1);
  const plain = await fetch(server.url + path, { method: 'POST', body: '{}' });
  const coin = JSON.parse(atob(plain.headers.get('PAYMENT-REQUIRED')!)).accepts;
  t.not(coin[0].asset, PREPAID_CONTRACT);
  t.match(await agent.post(path, { ttl_minutes: 15, reserve: 'yes' }), { status: 400 });
});

t.test('a server that takes nothing in advance says so before it is paid', async (t) => {
  const server = await startTestServer(t, { PREPAID_USD_MAX: '0' });
  const agent = new TestAgent(server.url);
  const workspace = await new Farthing({ baseUrl: server.url, account: agent.account }).workspaces.create();
  const path = `/agent/v1/workspaces/${workspace.id}/extend`;
  const asked = await fetch(server.url + path, { method: 'POST', body: '{"reserve": true}' });
  t.match(await asked.json(), { error: 'prepaid_unavailable' });
  t.match(await agent.post(path, { ttl_minutes: 15, reserve: true }), {
    status: 422,
    body: { code: 'prepaid_unavailable', charged: false },
  });
});

t.test('a kill while reserves are bought and ended loses no money and makes none', async (t) => {
  const folder = t.testdir({});
  const serve = () => ServedProcess.start(t, { data: `${folder}/data`, log: `${folder}/log` });
  let server = await serve();
  const { account, farthing: first } = await opened(server.url);
  const rented = await Promise.all(
    Array.from({ length: WORKSPACES }, () => first.workspaces.create({ ttlMinutes: 60 })),
  );
  let bought = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // A lost request is not sent again: the ledger alone decides its outcome.
    const farthing = new Farthing({ baseUrl: server.url, account, attemptsMax: 1 });
    const change = async (workspace: Workspace, number: number) => {
      const open = farthing.workspaces.open(workspace);
      for (let step = 0; ; step++) {
        const done = await open.extend({ ttlMinutes: 5, reserve: true }).catch(() => undefined);
        if (!done) return;
        bought += 1;
        if ((step + number) % 3 === 0 && !(await open.endReserve().catch(() => undefined))) return;
      }
    };
    const before = bought;
    const running = Promise.all(rented.map(change));
    await eventually(async () => {
      await new Promise(setImmediate);
      return bought >= before + (1 + round) * WORKSPACES;
    });
    await server.kill();
    await running;
    server = await serve();
  }
  const farthing = new Farthing({ baseUrl: server.url, account });
  let shown = 0;
  for (const workspace of rented) {
    const { reserve } = await farthing.workspaces.open(workspace).usage();
    shown += reserve.minutes;
  }
  t.ok(shown > 0, `${bought} reserves were answered for, ${shown} minutes are in reserve`);
  await eventually(async () => (await left(farthing, account)) >= ADDED - shown * 500);
  t.equal(await left(farthing, account), ADDED - shown * 500, 'what is not in reserve is prepaid');
  for (const workspace of rented) await farthing.workspaces.open(workspace).dispose();
  await eventually(async () => (await left(farthing, account)) >= ADDED);
  t.equal(await left(farthing, account), ADDED);
  await server.kill();
  server = await serve();
  t.equal(
    await left(new Farthing({ baseUrl: server.url }), account),
    ADDED,
    'a start gives nothing back again',
  );
});
