import t from 'tap';
import { toFarthingError } from '../../../src/protocol/error.ts';
import { newId } from '../../../src/protocol/id.ts';
import { TenantLimits } from '../../../src/server/workspace/tenant-limits.ts';
import { SimulatedClock } from './simulated-clock.ts';

const A = newId('workspace');
const B = newId('workspace');
const SETTINGS = { requestsPerSecond: 10, burst: 5, searchesAtOnce: 2, ingestsAtOnce: 1, streamsAtOnce: 1 };

function refusal(work: () => unknown) {
  try {
    work();
  } catch (error) {
    const { code, status, retryAfterS } = toFarthingError(error);
    return { code, status, retryAfterS };
  }
  return undefined;
}

t.test('a burst passes, then the set rate, and a refusal says when to retry', async (t) => {
  const clock = new SimulatedClock();
  const limits = new TenantLimits(SETTINGS, clock.monotonic);
  for (let index = 0; index < 5; index += 1) limits.request(A);
  t.strictSame(
    refusal(() => limits.request(A)),
    { code: 'rate_limited', status: 429, retryAfterS: 1 },
  );
  limits.request(B);
  let passed = 0;
  for (let elapsed = 0; elapsed < 10_000; elapsed += 20) {
    clock.advance(20);
    if (!refusal(() => limits.request(A))) passed += 1;
  }
  t.equal(passed, 100, 'ten seconds at ten a second, refused ones not counted');
  clock.advance(60_000);
  for (let index = 0; index < 5; index += 1) limits.request(A);
  t.ok(
    refusal(() => limits.request(A)),
    'a long rest gives no more than one burst',
  );
});

t.test('each tenant has its places for searches and ingests, and a place comes back once', async (t) => {
  const limits = new TenantLimits(SETTINGS, new SimulatedClock().monotonic);
  const leave = limits.search(A);
  limits.search(A);
  t.equal(refusal(() => limits.search(A))?.code, 'rate_limited');
  limits.search(B);
  limits.ingest(A);
  t.equal(refusal(() => limits.ingest(A))?.code, 'rate_limited');
  leave();
  leave();
  limits.search(A);
  t.equal(refusal(() => limits.search(A))?.code, 'rate_limited');
});

t.test('a hundred thousand tenants that came once don’t lift the limit of one that is busy', async (t) => {
  const clock = new SimulatedClock();
  const limits = new TenantLimits(SETTINGS, clock.monotonic);
  limits.ingest(A);
  for (let index = 0; index < 100_000; index += 1) {
    clock.advance(1);
    limits.request(newId('workspace'));
  }
  t.equal(refusal(() => limits.ingest(A))?.code, 'rate_limited');
});
