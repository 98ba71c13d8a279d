import t from 'tap';
import { newStepId } from '../../../../src/protocol/id.ts';
import { unusedReserves } from '../../../../src/server/workspace/records/reserves.ts';
import { openWorld, PAYER, type World } from '../world.ts';

const MONEY = 'play';

async function reserve(world: World, id: Parameters<World['workspaces']['endReserve']>[0], minutes: number) {
  const request = { payer: PAYER, ttlMinutes: minutes, reserveMoney: MONEY };
  const { step } = await world.workspaces.extend(id, request);
  return { step, record: await world.workspaces.commitExtension(step) };
}

const owed = ({ workspaces }: World) =>
  workspaces.returns(100).map(({ step, payer, money, amount }) => ({ step, payer, money, amount }));

t.test('minutes in reserve are used one by one once the others have run out', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 10 });
  const { record } = await reserve(world, id, 5);
  const reserved = { minutes: 5, usd: '0.0025' };
  t.match(record, { ttl_seconds_left: 900, price_usd: '0.0025', spend_usd: '0.015', reserve: reserved });
  world.minutes(10);
  t.match(world.workspaces.views.show(id), { spend_usd: '0.015', reserve: reserved }, 'not begun');
  world.clock.advance(1);
  t.match(await world.workspaces.views.usage(id), {
    spend_usd: '0.0155',
    reserve: { minutes: 4, usd: '0.002' },
    ttl_seconds_left: 299,
  });
  world.minutes(4);
  t.match(world.workspaces.views.show(id), { state: 'active', reserve: { minutes: 0, usd: '0' } });
  world.minutes(1);
  t.equal(world.workspaces.views.show(id)?.state, 'disposing');
  await world.workspaces.sweep();
  t.match(world.workspaces.views.show(id), { state: 'disposed', spend_usd: '0.0175' });
  t.same(owed(world), [], 'all of it was used');
});

t.test('minutes that are bought later are used before those in reserve', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 1 });
  const { step } = await reserve(world, id, 5);
  world.clock.advance(150_000);
  const bought = await world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 10 });
  const record = await world.workspaces.commitExtension(bought.step);
  t.match(record, { ttl_seconds_left: 210 + 600, reserve: { minutes: 3, usd: '0.0015' } });
  world.minutes(10);
  t.match(world.workspaces.views.show(id), { ttl_seconds_left: 210, reserve: { minutes: 3 } });
  await world.workspaces.endReserve(id);
  t.same(owed(world), [{ step, payer: PAYER, money: MONEY, amount: 1500n }]);
  t.match(world.workspaces.views.show(id), { ttl_seconds_left: 30, spend_usd: '0.0165' });
});

t.test('the end of a reserve gives back what is not used, once', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 10, spendLimit: 20_000n });
  await reserve(world, id, 10);
  t.match(world.workspaces.views.headers(id), {
    'X-Workspace-TTL-Seconds': '1200',
    'X-Workspace-Reserve-Minutes': '10',
    'X-Workspace-Spend-Remaining-USD': '0',
  });
  await t.rejects(reserve(world, id, 1), { code: 'spend_limit_exceeded' });
  const ended = { id, ttl_seconds_left: 600, returned_minutes: 10, returned_usd: '0.005' };
  t.match(await world.workspaces.endReserve(id), ended);
  t.match(await world.workspaces.endReserve(id), { returned_minutes: 0, returned_usd: '0' });
  t.equal(owed(world).length, 1);
  const headers = world.workspaces.views.headers(id);
  t.equal(headers['X-Workspace-Spend-Remaining-USD'], '0.005', 'and so does the limit');
  t.notOk('X-Workspace-Reserve-Minutes' in headers);
});

t.test('a deleted workspace gives back what is not used, and its receipt says what was', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await world.active({ ttlMinutes: 1 });
  const [first, second] = [await reserve(world, id, 2), await reserve(world, id, 3)];
  world.minutes(3.5);
  const { claims } = await world.workspaces.dispose(id, token);
  t.equal(claims.spend_usd, '0.012', 'a base, a minute, and three of five');
  t.same(owed(world), [{ step: second.step, payer: PAYER, money: MONEY, amount: 1000n }]);
  t.match(await world.workspaces.reissueExtension(first.step), { reserve: { minutes: 0 } });
});

t.test('a reserve that is paid after the end goes back whole', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await world.active({ ttlMinutes: 10 });
  const request = { payer: PAYER, ttlMinutes: 4, reserveMoney: MONEY };
  const { step } = await world.workspaces.extend(id, request);
  await world.workspaces.dispose(id, token);
  await world.workspaces.commitExtension(step);
  await world.workspaces.commitExtension(step);
  t.same(owed(world), [{ step, payer: PAYER, money: MONEY, amount: 2000n }]);
  t.equal(world.workspaces.views.show(id)?.spend_usd, '0.015');
});

t.test('what is owed is noted until the payer has it, over restarts', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 10 });
  const { step } = await reserve(world, id, 4);
  await world.workspaces.endReserve(id);
  world.restart();
  t.equal(owed(world).length, 1);
  await world.workspaces.returned(step);
  t.equal(owed(world).length, 0);
});

t.test('a workspace has 32 reserves at most, and its longest time with them', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 1 });
  for (let count = 0; count < 32; count++) await reserve(world, id, 1);
  await t.rejects(reserve(world, id, 1), { code: 'rate_limited' });
  world.minutes(1.5);
  t.match((await reserve(world, id, 1)).record, { reserve: { minutes: 32 } }, 'one is used');
  const { id: other } = await world.active({ ttlMinutes: 1440 });
  for (let day = 0; day < 6; day++) await reserve(world, other, 1440);
  await t.rejects(reserve(world, other, 1), { code: 'ttl_limit_exceeded' });
});

t.test('answers warn in the last two minutes, with what is in reserve', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 3 });
  const warning = () => world.workspaces.views.headers(id)['X-Workspace-TTL-Warning'];
  t.equal(warning(), undefined);
  world.minutes(1);
  t.equal(warning(), `The workspace ends in 120 s. POST /agent/v1/workspaces/${id}/extend adds minutes.`);
  await reserve(world, id, 1);
  t.equal(warning(), undefined);
});

t.test('the earliest reserve is used first', (t) => {
  const each = { payer: PAYER, money: MONEY, minutes: 2, perMinute: 5n };
  const step = newStepId(`ws_${'0'.repeat(32)}` as never);
  const reserves = [each, each].map((reserve) => ({ ...reserve, step }));
  const left = (now: number) =>
    unusedReserves({ reserves, endsAt: 600_000 } as never, now).map(({ minutes }) => minutes);
  t.same(left(0), [2, 2]);
  t.same(left(360_000), [2, 2], 'at their begin');
  t.same(left(360_001), [1, 2]);
  t.same(left(480_001), [1]);
  t.same(left(540_000), [1]);
  t.same(left(540_001), []);
  t.end();
});
