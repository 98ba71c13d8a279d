import { availableParallelism } from 'node:os';
import t from 'tap';
import { ScanQueue } from '../../../src/engine/search/scan-queue.ts';

const AT_ONCE = Math.min(4, availableParallelism());

/** Searches that end when they are told to. */
function openSearches(queue: ScanQueue) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const search = (tenant: string) =>
    queue.run(tenant, () => {
      begun.push(tenant);
      return new Promise<void>((resolve) => void ends.push(resolve));
    });
  return { begun, ends, search };
}

t.test("a Tenant's search waits for one of another's, not for all of them", async (t) => {
  const { begun, ends, search } = openSearches(new ScanQueue());
  const all = Array.from({ length: AT_ONCE + 3 }, () => search('many'));
  all.push(search('one'), search('one'));
  t.equal(begun.length, AT_ONCE, 'so many at once');
  for (let ended = 0; ended < all.length; ended += 1) {
    ends[ended]!();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  t.equal(begun.slice(AT_ONCE).join(' '), 'many one many one many');
});

t.test('a search that fails makes room, too', async (t) => {
  const queue = new ScanQueue();
  const fail = async () => {
    throw new Error('no');
  };
  const all = Array.from({ length: 3 * AT_ONCE }, () => queue.run('a', fail));
  for (const one of all) await t.rejects(one, /no/);
  t.equal(await queue.run('a', async () => 'done'), 'done');
});

t.test('one search of a turn of the event loop is alone, if no other runs', async (t) => {
  const queue = new ScanQueue();
  const alone = (search: () => Promise<void> = async () => undefined) =>
    queue.run('a', async (alone) => {
      await search();
      return alone;
    });
  t.ok(await alone());
  t.notOk(await alone(), 'in the same turn');
  await new Promise(setImmediate);
  let end!: () => void;
  const running = alone(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  await new Promise(setImmediate);
  if (AT_ONCE > 1) t.notOk(await alone(), 'another runs');
  end();
  t.ok(await running);
});

t.test('an owner may wait with as many as are free, and the next one is refused', async (t) => {
  const { ends, search } = openSearches(new ScanQueue());
  const all = Array.from({ length: AT_ONCE + 512 }, () => search('a'));
  await t.rejects(search('a'), { code: 'overloaded' });
  for (let ended = 0; ended < all.length; ended += 1) {
    ends[ended]!();
    await Promise.resolve();
    while (ends.length <= ended + 1 && ended + 1 < all.length) await new Promise(setImmediate);
  }
  await Promise.all(all);
});
