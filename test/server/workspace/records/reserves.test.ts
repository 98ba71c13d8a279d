import t from 'tap';
import { newStepId } from '../../../../src/protocol/id.ts';
import { unusedReserves } from '../../../../src/server/workspace/records/reserves.ts';
import { PAYER } from '../world.ts';

const MONEY = 'play';

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
