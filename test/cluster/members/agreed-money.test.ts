import t from 'tap';
import { agreeOnMoney } from '../../../src/cluster/members/agreed-money.ts';
import { MemoryKv } from '../memory-kv.ts';

t.test('the first server decides on the money, and one with another may not join', async (t) => {
  const kv = new MemoryKv();
  await agreeOnMoney(kv, 'one', 'play');
  await agreeOnMoney(kv, 'one', 'play');
  await t.rejects(agreeOnMoney(kv, 'one', 'eip155:8453'), {
    message: /"one" are in play money, and these settings in eip155:8453/,
  });
  await agreeOnMoney(kv, 'two', 'eip155:8453');
  const begun = ['play', 'eip155:8453'].map((money) => agreeOnMoney(kv, 'three', money));
  const ended = await Promise.allSettled(begun);
  t.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1, 'of two at once one decides');
});
