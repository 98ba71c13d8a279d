import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { toFarthingError } from '../../../src/protocol/error.ts';
import { newId } from '../../../src/protocol/id.ts';
import { newToken } from '../../../src/server/workspace/records/token.ts';
import { openWorld, World } from './world.ts';

/** A refusal, as an answer shows it. */
async function refusal(work: () => unknown) {
  try {
    await work();
  } catch (error) {
    const { code, detail, facts, status } = toFarthingError(error);
    return { code, detail, facts, status };
  }
  return undefined;
}

t.test('a price is base plus clamped minutes, and a spend limit below it is noted', async (t) => {
  const world = await openWorld(t);
  const { workspaces } = world;
  const { prices } = workspaces;
  t.strictSame(prices.creation({}), { minutes: 15, amount: 17_500n });
  t.strictSame(prices.creation({ ttlMinutes: null, spendLimit: null }), { minutes: 15, amount: 17_500n });
  t.strictSame(prices.creation({ ttlMinutes: -5 }), { minutes: 1, amount: 10_500n });
  t.strictSame(prices.creation({ ttlMinutes: 1e15 }), { minutes: 1440, amount: 730_000n });
  t.strictSame(prices.creation({ spendLimit: 17_500n }), { minutes: 15, amount: 17_500n });
  t.strictSame(prices.creation({ spendLimit: 17_499n }), {
    minutes: 15,
    amount: 17_500n,
    notice: 'spend_limit_exceeded',
  });
  t.strictSame(prices.extension(30), { minutes: 30, amount: 15_000n });
  t.match(prices.shownCreation(), { minUsd: '0.0105', maxUsd: '0.73' });
  t.match(prices.shownExtension(), { minUsd: '0.0005', maxUsd: '0.72' });
  t.match(await refusal(() => workspaces.create({ spendLimit: 0n })), {
    code: 'spend_limit_exceeded',
    status: 422,
    facts: { price_usd: '0.0175', ttl_minutes: 15, spend_limit_usd: '0' },
  });
});

t.test('the paid minutes begin at commit, and the record has every field', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.workspaces.create({ ttlMinutes: 5000, spendLimit: 1_000_000n });
  t.equal(
    world.workspaces.views.show(id),
    undefined,
    'a creation that waits for its payment is shown to nobody',
  );
  t.strictSame(world.workspaces.views.headers(id), {});
  world.minutes(3);
  const { record, token } = await world.workspaces.commitCreation(id);
  t.match(token, /^fws_/);
  t.strictSame(record, {
    id,
    state: 'active',
    created_at: '2026-11-21T09:03:00.000Z',
    expires_at: '2026-11-22T09:03:00.000Z',
    ttl_minutes_asked: 5000,
    ttl_minutes: 1440,
    ttl_seconds_left: 86_400,
    price_usd: '0.73',
    spend_usd: '0.73',
    spend_limit_usd: '1',
    reserve: { minutes: 0, usd: '0' },
    limits: { file_bytes_max: 1000 },
    links: { self: `http://127.0.0.1:8402/agent/v1/workspaces/${id}` },
  });
  t.strictSame(world.workspaces.views.headers(id), {
    'X-Workspace-TTL-Seconds': '86400',
    'X-Workspace-Spend-Remaining-USD': '0.27',
  });
  const other = await world.active();
  t.strictSame(world.workspaces.views.headers(other.id), { 'X-Workspace-TTL-Seconds': '900' });
});

t.test('a repeated commit gives no new minutes and revokes the previous token', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await world.active();
  world.minutes(5);
  for (const again of [() => world.workspaces.commitCreation(id), () => world.workspaces.reissue(id)]) {
    const answer = await again();
    t.equal(answer.record.ttl_seconds_left, 600);
    t.equal(answer.record.spend_usd, '0.0175');
    t.notOk(world.workspaces.tokenOpens(id, token));
    t.ok(world.workspaces.tokenOpens(id, answer.token));
  }
  world.minutes(10);
  const late = await world.workspaces.reissue(id);
  t.equal(late.token, undefined, 'an expired workspace gets no token');
  t.equal(late.record.state, 'disposing');
  await world.workspaces.sweep();
  const ended = await world.workspaces.reissue(id);
  t.equal(ended.token, undefined);
  t.equal(ended.record.state, 'disposed');
  t.equal(ended.record.expires_at, '2026-11-21T09:15:00.000Z');
});

t.test('an undone creation leaves nothing, and a paid one cannot be undone', async (t) => {
  const folder = t.testdir();
  const world = await World.open(folder);
  t.teardown(() => world.close());
  const { id } = await world.workspaces.create({});
  await world.workspaces.undoCreation(id);
  await world.workspaces.undoCreation(id);
  t.equal((await refusal(() => world.workspaces.commitCreation(id)))?.code, 'internal');
  for (const table of ['workspaces', 'workspace_undecided', 'workspace_due', 'workspace_activity']) {
    t.equal(world.store.table(table).count(), 0, table);
  }
  const paid = await world.active();
  t.equal((await refusal(() => world.workspaces.undoCreation(paid.id)))?.code, 'internal');
  t.ok(world.workspaces.tokenOpens(paid.id, paid.token));
});

t.test('every wrong id and token is refused alike, in authentication and in DELETE', async (t) => {
  const world = await openWorld(t);
  const mine = await world.active();
  const foreign = await world.active();
  const expired = await world.active({ ttlMinutes: 1 });
  const deleted = await world.active();
  const operators = await world.active();
  const pending = (await world.workspaces.create({})).id;
  await world.workspaces.dispose(deleted.id, deleted.token);
  await world.workspaces.disposeAsOperator(operators.id);
  world.minutes(1);
  const matrix: [string, string, string | undefined][] = [
    ['no token', mine.id, undefined],
    ['empty token', mine.id, ''],
    ['malformed token', mine.id, 'fws_x'],
    ['unknown token', mine.id, newToken()],
    ['another’s token', mine.id, foreign.token],
    ['unknown id', newId('workspace'), mine.token],
    ['malformed id', 'ws_1', mine.token],
    ['very long id', `ws_${'a'.repeat(5000)}`, mine.token],
    ['id of zeros', `ws_${'0'.repeat(32)}`, mine.token],
    ['foreign kind of id', newId('item'), mine.token],
    ['expired', expired.id, expired.token],
    ['unpaid', pending, newToken()],
    ['deleted, another’s token', deleted.id, mine.token],
    ['disposed by the operator', operators.id, operators.token],
  ];
  const expected = await refusal(() => world.workspaces.authenticate(newId('workspace'), newToken()));
  t.equal(expected?.status, 401);
  for (const [name, id, token] of matrix) {
    t.strictSame(await refusal(() => world.workspaces.authenticate(id, token)), expected, name);
    t.strictSame(await refusal(() => world.workspaces.dispose(id, token)), expected, `DELETE: ${name}`);
    t.notOk(world.workspaces.tokenOpens(id, token), name);
  }
  t.strictSame(
    await refusal(() => world.workspaces.authenticate(deleted.id, deleted.token)),
    expected,
    'deleted',
  );
  t.match(
    await world.workspaces.receipt(expired.id, expired.token),
    { claims: { reason: 'expired' } },
    'before a sweep has found it, too',
  );
  t.equal(world.workspaces.authenticate(mine.id, mine.token).id, mine.id);
});

t.test('a workspace expires to the millisecond, over clock jumps and restarts', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await world.active({ ttlMinutes: 2 });
  world.clock.jump(86_400_000);
  t.ok(world.workspaces.tokenOpens(id, token));
  t.equal(world.workspaces.views.expiry(id), '2026-11-22T09:02:00.000Z', 'its end moves with the wall clock');
  world.clock.jump(-7 * 86_400_000);
  world.minutes(1);
  await world.workspaces.sweep();
  world.restart(50 * 60_000);
  t.equal(
    world.workspaces.views.show(id)?.ttl_seconds_left,
    60,
    'the time that the server was down is given back',
  );
  world.clock.advance(59_999);
  t.ok(world.workspaces.tokenOpens(id, token));
  t.equal(world.workspaces.views.headers(id)['X-Workspace-TTL-Seconds'], '0');
  world.clock.advance(1);
  t.notOk(world.workspaces.tokenOpens(id, token));
});

t.test('more downtime than the setting allows is not given back', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await world.active({ ttlMinutes: 20 });
  world.restart(70 * 60_000);
  t.equal(world.workspaces.views.show(id)?.ttl_seconds_left, 600);
  world.restart(71 * 60_000);
  t.notOk(world.workspaces.tokenOpens(id, token));
});

t.test('usage shows time, money, contents and latency; counts outlive a restart', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ spendLimit: 20_000n });
  t.match(await world.workspaces.views.usage(id), {
    searches: 0,
    items: 0,
    segments: 0,
    bytes: 0,
    latency_ms: { p50: null },
  });
  world.tenants.ingest(id, 'a'.repeat(64));
  world.workspaces.activity.countIngest(id);
  for (let index = 1; index <= 100; index += 1) {
    world.workspaces.activity.countSearch(id, { query: `q${index}`, k: 30, hits: 2, latency_ms: index });
  }
  world.minutes(1);
  await world.workspaces.sweep();
  world.restart();
  const usage = await world.workspaces.views.usage(id);
  const { latency_ms, ...rest } = usage;
  t.strictSame(rest, {
    id,
    state: 'active',
    created_at: '2026-11-21T09:00:00.000Z',
    expires_at: '2026-11-21T09:15:00.000Z',
    ttl_seconds_left: 840,
    spend_usd: '0.0175',
    spend_limit_usd: '0.02',
    reserve: { minutes: 0, usd: '0' },
    searches: 100,
    ingests: 1,
    items: 1,
    segments: 2,
    bytes: 100,
  });
  t.ok(latency_ms.p50! >= 50 && latency_ms.p50! < 55);
  t.equal(latency_ms.max, 100);
  const page = await world.workspaces.activity.history(id, { limit: 2 });
  t.strictSame(page.entries[0], {
    at: '2026-11-21T09:00:00.000Z',
    query: 'q100',
    k: 30,
    hits: 2,
    latency_ms: 100,
  });
  world.workspaces.activity.countSearch(id, { image_sha256: 'b'.repeat(64), k: 1, hits: 0, latency_ms: 3 });
  t.match(
    (await world.workspaces.activity.history(id, { limit: 1 })).entries,
    [{ image_sha256: 'b'.repeat(64), hits: 0 }],
    'not flushed yet',
  );
});

t.test('neither token nor query ever reaches the shared state', async (t) => {
  const folder = t.testdir();
  const world = await World.open(folder);
  const { id, token } = await world.active();
  world.workspaces.activity.countSearch(id, { query: 'a secret query', k: 30, hits: 0, latency_ms: 1 });
  await world.workspaces.sweep();
  await world.close();
  for (const name of readdirSync(join(folder, 'state'))) {
    const bytes = readFileSync(join(folder, 'state', name));
    t.notOk(bytes.includes(token), name);
    t.notOk(bytes.includes('a secret query'), name);
  }
});

t.test('the operator sees the paid workspaces, page by page', async (t) => {
  const world = await openWorld(t);
  const ids = (await Promise.all(Array.from({ length: 5 }, () => world.active()))).map(({ id }) => id).sort();
  await world.workspaces.create({});
  t.strictSame(
    world.workspaces.views.list({ limit: 100 }).workspaces.map(({ id }) => id),
    ids,
  );
  t.strictSame(
    world.workspaces.views.list({ limit: 100, after: ids[2] }).workspaces.map(({ id }) => id),
    ids.slice(3),
  );
});

t.test('two sets of books in one process know nothing of each other', async (t) => {
  const folder = t.testdir();
  const [first, second] = [await World.open(join(folder, 'a')), await World.open(join(folder, 'b'))];
  t.teardown(() => Promise.all([first.close(), second.close()]));
  const { id, token } = await first.active();
  const other = await second.active();
  first.workspaces.activity.countSearch(id, { query: 'q', k: 1, hits: 0, latency_ms: 1 });
  t.ok(first.workspaces.tokenOpens(id, token));
  t.notOk(second.workspaces.tokenOpens(id, token));
  t.equal(second.workspaces.views.show(id), undefined);
  t.match(await second.workspaces.views.usage(other.id), { searches: 0 });
  first.minutes(15);
  await Promise.all([first.workspaces.sweep(), second.workspaces.sweep()]);
  t.equal(first.workspaces.views.show(id)?.state, 'disposed');
  t.ok(second.workspaces.tokenOpens(other.id, other.token), 'its own clock has not moved');
});
