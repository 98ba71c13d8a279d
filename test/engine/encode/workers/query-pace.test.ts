import t from 'tap';
import { QueryPace } from '../../../../src/engine/encode/workers/query-pace.ts';

/** Tasks one after the other or at once: [begin, end, queries] in milliseconds. */
function paceOf(tasks: readonly (readonly [number, number, number])[]): number {
  const pace = new QueryPace();
  const moments = tasks.flatMap(([begin, end, queries], index) => [
    { at: begin, index, queries: undefined },
    { at: end, index, queries },
  ]);
  const ends: ((now: number, queries: number) => void)[] = [];
  for (const { at, index, queries } of moments.sort((a, b) => a.at - b.at)) {
    if (queries === undefined) ends[index] = pace.begin(at);
    else ends[index]!(at, queries);
  }
  return pace.milliseconds;
}

const repeated = (count: number, of: (index: number) => readonly [number, number, number]) =>
  Array.from({ length: count }, (_, index) => of(index));

t.test('the pace reflects recent queries, whatever was assumed at first', async (t) => {
  const single = paceOf(repeated(2000, (index) => [index * 4, index * 4 + 4, 1]));
  t.ok(Math.abs(single - 4) < 0.01, `${single} ms`);
});

t.test('workers that share the queries share the time, however different they are', async (t) => {
  // Sixteen queries in 100 ms by the one, one in 80 ms by the other: 17.25 queries in 100 ms.
  const tasks = [
    ...repeated(400, (index) => [index * 100, index * 100 + 100, 16] as const),
    ...repeated(500, (index) => [index * 80, index * 80 + 80, 1] as const),
  ];
  const shared = paceOf(tasks);
  t.ok(Math.abs(shared - 100 / 17.25) < 1, `${shared} ms`);
});
