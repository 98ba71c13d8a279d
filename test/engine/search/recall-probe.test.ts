import t, { type Test } from 'tap';
import { type ProbedEvent, RecallProbe, type UnprovedList } from '../../../src/engine/search/recall-probe.ts';
import type { RankedList } from '../../../src/engine/shard/snapshot.ts';
import { openTenants, type SearchSizes } from '../../../src/engine/shard/tenants.ts';
import { Random } from '../../rig/random.ts';
import { itemOf, passage } from '../shard/fixtures.ts';
import '../../rig/teardown-order.ts';

const DIMENSIONS = 64;
const ROWS = 1_500;
const NEVER = new AbortController().signal;
const random = new Random(3);

function vector(): Float32Array {
  const numbers = Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.4);
  const length = Math.hypot(...numbers);
  return numbers.map((value) => value / length);
}

async function tenantsWith(test: Test, sizes: SearchSizes) {
  const spaces = [{ name: 'text_semantic', dimensions: DIMENSIONS, modelSha256: 'ab'.repeat(32) }];
  const tenants = openTenants({ folder: test.testdir(), spaces, openShardsMax: 4, sizes });
  test.teardown(() => tenants.close());
  await tenants.use('ws_a', { create: true }, async (shard) => {
    const segments = Array.from({ length: ROWS }, (_, place) =>
      passage('a', 'word', { place, vectors: { text_semantic: vector() } }),
    );
    await shard.append(itemOf('a', { segments: ROWS }), segments);
    await shard.whenIdle();
  });
  return tenants;
}

/** A search, and its list for a probe. */
async function searched(
  tenants: ReturnType<typeof openTenants>,
): Promise<{ ranking: RankedList; list: UnprovedList }> {
  const query = { space: 'text_semantic', vector: vector() };
  const ranking = await tenants.use('ws_a', {}, async (shard) => {
    const snapshot = shard.snapshot();
    const list = await snapshot.rank(query, { depth: 10 }, NEVER);
    const proved = await snapshot.rank(query, { depth: 10, exact: true }, NEVER);
    snapshot.close();
    t.match(proved, { exact: true, method: 'proved' });
    return list;
  });
  return { ranking, list: { list: 'text_semantic', method: ranking.method, query, depth: 10 } };
}

for (const [method, sizes] of [
  ['bits', { bitsRowsMin: 1_000 }],
  ['graph', { bitsRowsMin: 1_000, graphRowsMin: 1_000 }],
] as const)
  t.test(`every third search by ${method} is proved in the background`, async (t) => {
    const tenants = await tenantsWith(t, sizes);
    const seen: ProbedEvent[] = [];
    const probe = new RecallProbe({ tenants, every: 3, observe: (event) => seen.push(event) });
    for (let number = 0; number < 9; number += 1) {
      const { ranking, list } = await searched(tenants);
      t.match(ranking, { exact: false, method });
      probe.consider('ws_a', [list]);
      await probe.whenIdle();
    }
    t.equal(seen.length, 3);
    const found = seen.reduce((total, event) => total + event.found, 0);
    t.ok(found >= 29 && found <= 30, `${found} of 30`);
    for (const event of seen) t.match(event, { list: 'text_semantic', method, expected: 10 });
    await probe.close();
    probe.consider('ws_a', [(await searched(tenants)).list]);
    t.equal(seen.length, 3, 'nothing runs after it was closed');
  });
