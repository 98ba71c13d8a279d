import t from 'tap';
import type { DisposalAnswer } from '../../../../src/protocol/schema/workspaces.ts';
import { verifyReceipt } from '../../../../src/server/workspace/disposal/receipt.ts';
import { digestOfItems } from '../../../../src/server/workspace/tenant/inventory.ts';
import { Crash, openWorld, type World } from '../world.ts';

const DIGESTS = ['b'.repeat(64), 'a'.repeat(64)];

async function filled(world: World) {
  const workspace = await world.active();
  for (const digest of DIGESTS) {
    world.tenants.ingest(workspace.id, digest);
    world.workspaces.activity.countIngest(workspace.id);
  }
  world.workspaces.activity.countSearch(workspace.id, { query: 'where?', k: 30, hits: 1, latency_ms: 2 });
  await world.workspaces.sweep();
  return workspace;
}

t.test('DELETE destroys the folder, and its receipt says what was destroyed and what is kept', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await filled(world);
  world.minutes(2);
  const answer = await world.workspaces.dispose(id, token);
  t.notOk(world.tenants.has(id));
  t.match(answer, { id, state: 'disposed' });
  t.strictSame(answer.claims, {
    iss: 'http://127.0.0.1:8402',
    sub: id,
    iat: Date.UTC(2026, 10, 21, 9, 2) / 1000,
    workspace: id,
    created_at: '2026-11-21T09:00:00.000Z',
    expires_at: '2026-11-21T09:15:00.000Z',
    disposed_at: '2026-11-21T09:02:00.000Z',
    reason: 'deleted',
    items: 2,
    segments: 4,
    bytes: 200,
    items_sha256: digestOfItems(DIGESTS),
    searches: 1,
    ingests: 2,
    spend_usd: '0.0175',
    kept: [
      {
        what: 'SHA-256 of the capability token',
        why: 'answering the same DELETE again',
        until: '2026-11-22T09:02:00.000Z',
      },
      {
        what: 'id, times, counts, amounts and this receipt',
        why: 'the books',
        until: '2027-02-19T09:02:00.000Z',
      },
    ],
  });
  const check = await verifyReceipt(answer.receipt, world.signer.jwks());
  t.ok(check.valid && check.claims);
  t.strictSame(check.valid && check.claims, answer.claims);
});

t.test('requests begun before the end finish, later ones are refused, jobs stop twice', async (t) => {
  const world = await openWorld(t, { drainSecondsMax: 60 });
  const { id, token } = await filled(world);
  const leave = world.workspaces.enter(id);
  const disposal = world.workspaces.dispose(id, token);
  while (world.stopped.length < 1) await new Promise(setImmediate);
  t.notOk(world.workspaces.tokenOpens(id, token));
  t.ok(world.tenants.has(id), 'its data is there for the running request');
  world.workspaces.activity.countSearch(id, { query: 'late', k: 1, hits: 0, latency_ms: 1 });
  leave();
  t.match((await disposal).claims, { searches: 2 });
  t.strictSame(world.stopped, [id, id]);
});

t.test('a request that never ends delays its disposal by a set time only', async (t) => {
  const world = await openWorld(t, { drainSecondsMax: 0.01 });
  const { id, token } = await filled(world);
  const leave = world.workspaces.enter(id);
  await world.workspaces.dispose(id, token);
  t.notOk(world.tenants.has(id));
  t.match(world.events[0], { event: 'disposal_without_waiting' });
  world.tenants.ingest(id, 'c'.repeat(64));
  world.workspaces.activity.countSearch(id, { query: 'too late', k: 1, hits: 0, latency_ms: 1 });
  await world.workspaces.sweep();
  leave();
  while (world.tenants.has(id)) await new Promise(setImmediate);
  t.pass('what it left goes too');
});

t.test('a disposal cut short at any boundary completes at start, with its receipt', async (t) => {
  const world = await openWorld(t);
  let boundaries = 0;
  for (let completed = false; !completed; boundaries += 1) {
    const { id, token } = await filled(world);
    world.boundariesLeft = boundaries;
    const answer = await world.workspaces.dispose(id, token).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
      return undefined;
    });
    completed = world.boundariesLeft > 0;
    world.restart();
    await world.workspaces.resume();
    if (world.workspaces.views.show(id)?.state === 'active') {
      t.ok(world.tenants.has(id), `${boundaries}: nothing had begun`);
      t.ok(world.workspaces.tokenOpens(id, token));
    }
    const again: DisposalAnswer = await world.workspaces.dispose(id, token);
    t.notOk(world.tenants.has(id));
    t.match(
      again.claims,
      { reason: 'deleted', items: 2, segments: 4, searches: 1, items_sha256: digestOfItems(DIGESTS) },
      `boundary ${boundaries}`,
    );
    t.equal((await verifyReceipt(again.receipt, world.signer.jwks())).valid, true);
    if (answer) t.strictSame(again, answer);
  }
  t.ok(boundaries > 10, `${boundaries} boundaries`);
});

t.test('a failed disposal is retried: later by the sweep, at once by the next DELETE', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await filled(world);
  world.boundariesLeft = 3;
  await t.rejects(world.workspaces.dispose(id, token));
  await t.rejects(world.workspaces.dispose(id, token));
  world.boundariesLeft = Number.POSITIVE_INFINITY;
  await world.workspaces.dispose(id, token);
  const other = await filled(world);
  world.minutes(15);
  await world.time.beat();
  world.boundariesLeft = 7;
  await world.workspaces.sweep();
  t.match(world.events.at(-1), { event: 'sweep_failed', workspace: other.id });
  world.boundariesLeft = Number.POSITIVE_INFINITY;
  await world.workspaces.sweep();
  t.equal(world.workspaces.views.show(other.id)?.state, 'disposing', 'not at once');
  world.minutes(1);
  await world.workspaces.sweep();
  t.equal(world.workspaces.views.show(other.id)?.state, 'disposed');
  t.notOk(world.tenants.has(other.id));
});
