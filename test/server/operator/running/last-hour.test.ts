import t from 'tap';
import type { Snapshot } from '../../../../src/protocol/schema/operator.ts';
import { Traffic } from '../../../../src/server/metrics/traffic.ts';
import { LastHour } from '../../../../src/server/operator/running/last-hour.ts';

const search = { route: '/agent/v1/search', method: 'POST', status: 200 };

t.test('a point says what happened since the one before, and points older than an hour go', async (t) => {
  const traffic = new Traffic();
  let now = 1_000_000_000_000;
  const realNow = Date.now;
  Date.now = () => now;
  t.teardown(() => {
    Date.now = realNow;
  });
  const hour = new LastHour(async () => ({
    traffic: traffic.report(),
    queues: {
      encoding: { queries: 1, ingest: 2 },
      reading: { queries: 0, opening: 0, extracting: 3 },
    },
    revenue: { settled: { count: 1, usd: '0.006' } },
    recall_probe: [
      { name: 'a', help: '', type: 'gauge', labels: {}, value: 0.98 },
      { name: 'b', help: '', type: 'gauge', labels: {}, value: 1 },
    ] satisfies Snapshot['recall_probe'],
  }));
  t.teardown(() => hour.end());
  t.same(await hour.read(), [], 'one reading is no point');
  traffic.count({ ...search, milliseconds: 500 });
  now += 10_000;
  await hour.read();
  for (let count = 0; count < 20; count++) traffic.count({ ...search, milliseconds: 4 });
  traffic.count({ ...search, status: 503, code: 'overloaded', milliseconds: 1 });
  now += 10_000;
  const [, point] = await hour.read();
  t.match(point, {
    requests_per_second: 2.1,
    faults_per_second: 0.1,
    encoding: 3,
    reading: 3,
    usd: 0.006,
    recall: 0.98,
  });
  t.ok(point!.p99_ms! >= 4 && point!.p99_ms! < 5, 'the slow search belongs to the point before');
  now += 1_000;
  t.equal((await hour.read()).length, 2, 'two seconds lie between points');
  now += 3_600_000;
  const [only, ...rest] = await hour.read();
  t.same([only!.at, rest], [now / 1000, []]);
});
