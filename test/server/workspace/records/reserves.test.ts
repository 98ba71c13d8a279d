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
