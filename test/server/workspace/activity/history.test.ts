import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { HistoryEntry } from '../../../../src/protocol/schema/workspaces.ts';
import { History } from '../../../../src/server/workspace/activity/history.ts';

const entry = (hits: number, query = `q${hits}`): HistoryEntry => ({
  at: '2026-11-21T09:00:00.000Z',
  query,
  k: 30,
  hits,
  latency_ms: 1.5,
});

async function all(history: History, limit: number): Promise<number[]> {
  const seen: number[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await history.page({ before: before ?? undefined, limit });
    if (page.entries.length > limit) throw new Error(`${page.entries.length} entries on a page of ${limit}`);
    seen.push(...page.entries.map(({ hits }) => hits));
    before = page.next;
  }
  return seen;
}

t.test('pages of any size together are the whole history, newest first', async (t) => {
  const history = new History(join(t.testdir(), 'history'));
  t.strictSame(await history.page({ limit: 5 }), { entries: [], next: null });
  for (let first = 0; first < 100; first += 10) {
    await history.append(Array.from({ length: 10 }, (_, index) => entry(first + index)));
  }
  const expected = Array.from({ length: 100 }, (_, index) => 99 - index);
  for (const limit of [1, 7, 10, 99, 100, 1000]) t.strictSame(await all(history, limit), expected);
  t.strictSame((await history.page({ limit: 1 })).entries, [entry(99)]);
});

t.test('a line torn by a crash is the only one lost', async (t) => {
  const folder = join(t.testdir(), 'history');
  const history = new History(folder);
  await history.append([entry(0)]);
  const [name] = await readdir(folder);
  await appendFile(join(folder, name!), '{"at":"2026-11-21T09:0');
  await history.append([entry(1)]);
  t.strictSame(await all(history, 10), [1, 0]);
});

t.test('the history has a limit: the oldest files go', async (t) => {
  const folder = join(t.testdir(), 'history');
  const history = new History(folder);
  const long = 'ß'.repeat(300_000);
  for (let index = 0; index < 50; index += 1) await history.append([entry(index, long)]);
  const names = await readdir(folder);
  t.ok(names.length <= 16, `${names.length} files`);
  const seen = await all(history, 3);
  t.equal(seen[0], 49);
  t.strictSame(
    seen,
    Array.from({ length: seen.length }, (_, index) => 49 - index),
  );
  t.ok(seen.length >= 16);
});
