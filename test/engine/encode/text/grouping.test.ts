import t from 'tap';
import { groupByLength, type RunBounds } from '../../../../src/engine/encode/text/grouping.ts';

const bounds: RunBounds = { rows: 16, tokens: 1024, paddingShare: 0.15 };

/** Pseudo-random numbers that are the same in each run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

t.test('every row is in one run, within rows, tokens and padding', async (t) => {
  for (let seed = 0; seed < 300; seed++) {
    const next = random(seed);
    const lengths = Uint32Array.from(
      { length: Math.floor(next() * 80) },
      () => 1 + Math.floor(next() ** 2 * 256),
    );
    const runs = groupByLength(lengths, bounds);
    const rows = runs.flatMap((run) => [...run.rows]).sort((a, b) => a - b);
    t.strictSame(rows, [...lengths.keys()], `seed ${seed}: rows`);
    for (const run of runs) {
      const tokens = run.rows.reduce((sum, row) => sum + lengths[row]!, 0);
      const size = run.width * run.rows.length;
      const fits =
        run.rows.length <= 16 && (size <= 1024 || run.rows.length === 1) && 1 - tokens / size <= 0.15 + 1e-9;
      if (!fits) t.fail(`seed ${seed}: a run of ${run.rows.length} × ${run.width} with ${tokens} tokens`);
    }
  }
});

t.test('a run has one of the given widths', async (t) => {
  const runs = groupByLength(Uint32Array.from([3, 9, 17]), { ...bounds, widths: [8, 16, 32] });
  t.strictSame(
    runs.map(({ width }) => width),
    [32, 16, 8],
  );
});
