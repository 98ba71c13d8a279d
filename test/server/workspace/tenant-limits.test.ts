import t from 'tap';
import type { TenantId } from '../../../src/protocol/id.ts';
import { TenantLimits } from '../../../src/server/workspace/tenant-limits.ts';

t.test('searches over a wallet’s places wait for their turn, and delay no other wallet', async (t) => {
  const limits = new TenantLimits({
    requestsPerSecond: 100,
    burst: 100,
    searchesAtOnce: 2,
    ingestsAtOnce: 1,
    streamsAtOnce: 1,
  });
  const { signal } = new AbortController();
  const begun: number[] = [];
  const enter = async (tenant: string, number: number) => {
    const leave = await limits.searchInTurn(tenant as TenantId, signal, () => new Error('gone'));
    begun.push(number);
    return leave;
  };
  const first = await enter('one', 1);
  await enter('one', 2);
  const waiting = [enter('one', 3), enter('one', 4)];
  await enter('other', 5);
  t.same(begun, [1, 2, 5]);
  first();
  (await waiting[0]!)();
  await waiting[1];
  t.same(begun, [1, 2, 5, 3, 4]);
  const gone = new AbortController();
  const left = limits.searchInTurn('one' as TenantId, gone.signal, () => new Error('gone'));
  gone.abort();
  await t.rejects(left, { message: 'gone' });
});
