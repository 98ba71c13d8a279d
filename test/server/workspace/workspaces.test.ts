import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { toFarthingError } from '../../../src/protocol/error.ts';
import { CopiedRegistry } from '../../../src/server/workspace/copied-registry.ts';
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

t.test(
  'a workspace of the house has no end, shares as one owner, and is disposed of as others are',
  async (t) => {
    const world = await openWorld(t);
    const { workspaces } = world;
    const [one, other] = [await workspaces.createForHouse({}), await workspaces.createForHouse({})];
    const rented = await world.active();
    t.same([workspaces.ownerOf(one.id), workspaces.ownerOf(other.id)], ['house', 'house']);
    t.equal(workspaces.ownerOf(rented.id), undefined);
    world.minutes(50 * 365 * 1440);
    await workspaces.sweep();
    world.restart(366 * 86_400_000);
    await world.workspaces.sweep();
    t.equal(world.workspaces.views.show(rented.id)?.state, 'disposed');
    t.match(await world.workspaces.views.usage(one.id), {
      state: 'active',
      expires_at: null,
      ttl_seconds_left: null,
    });
    t.notOk(world.workspaces.tokenOpens(one.id, rented.token), 'a token opens none');
    t.same(
      await new CopiedRegistry(world.store, world.clock).endAll(),
      { workspaces: 0, indexes: 0 },
      'no money bought it',
    );
    await world.workspaces.sweep();
    const { claims } = await world.workspaces.disposeAsOperator(one.id);
    t.match(claims, { reason: 'operator', spend_usd: '0', expires_at: claims.disposed_at });
    t.same(
      Array.from(world.workspaces.ofHouse(), ({ id }) => id),
      [other.id],
    );
  },
);

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
