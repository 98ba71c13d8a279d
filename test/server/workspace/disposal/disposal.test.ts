import { createHash } from 'node:crypto';
import t from 'tap';
import { errorCode, FarthingError } from '../../../../src/protocol/error.ts';
import { newId } from '../../../../src/protocol/id.ts';
import type { DisposalAnswer } from '../../../../src/protocol/schema/workspaces.ts';
import { verifyReceipt } from '../../../../src/server/workspace/disposal/receipt.ts';
import { digestOfItems } from '../../../../src/server/workspace/tenant/inventory.ts';
import { Crash, openWorld, PAYER, type World } from '../world.ts';

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

async function isRefused(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => false,
    (error: unknown) => errorCode(error) === 'workspace_unauthorized',
  );
}

t.test('the digest over the items is the same in any order and can be computed by hand', async (t) => {
  t.equal(
    digestOfItems(DIGESTS),
    createHash('sha256')
      .update(`${'a'.repeat(64)}\n${'b'.repeat(64)}\n`)
      .digest('hex'),
  );
  t.equal(digestOfItems(DIGESTS.toReversed()), digestOfItems(DIGESTS));
  t.equal(digestOfItems([]), createHash('sha256').digest('hex'));
});

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

t.test('a receipt counts and digests the same items: the searchable ones', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await filled(world);
  world.tenants.ingest(id, 'c'.repeat(64), 'failed');
  world.tenants.ingest(id, 'd'.repeat(64), 'pending');
  t.match((await world.workspaces.dispose(id, token)).claims, {
    items: 2,
    items_sha256: digestOfItems(DIGESTS),
  });
});

t.test('a repeated DELETE gets the same answer for 24 hours; later the record goes', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await filled(world);
  const first = await world.workspaces.dispose(id, token);
  const { step } = await world
    .active()
    .then(({ id: other }) => world.workspaces.extend(other, { payer: PAYER }));
  await world.workspaces.commitExtension(step);
  world.minutes(24 * 60 - 1);
  await world.workspaces.sweep();
  world.restart();
  t.strictSame(await world.workspaces.dispose(id, token), first);
  world.minutes(1);
  t.ok(await isRefused(world.workspaces.dispose(id, token)), 'before the sweep as after it');
  await world.workspaces.sweep();
  t.ok(await isRefused(world.workspaces.dispose(id, token)));
  t.equal(world.store.table('workspace_tokens').get(id), undefined);
  t.equal(world.workspaces.views.show(id)?.state, 'disposed');
  world.minutes(91 * 24 * 60);
  // The token of the one whose time was over is due first, then its record.
  await world.workspaces.sweep();
  await world.workspaces.sweep();
  for (const table of ['workspaces', 'workspace_due', 'workspace_activity', 'workspace_steps']) {
    t.equal(world.store.table(table).count(), 0, table);
  }
});

t.test('racing DELETEs destroy once and get one receipt', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await filled(world);
  const answers = await Promise.all(Array.from({ length: 10 }, () => world.workspaces.dispose(id, token)));
  for (const answer of answers) t.strictSame(answer, answers[0]);
  t.equal(world.events.length, 1);
});

t.test('expiry and the operator end a workspace alike; the receipt names the reason', async (t) => {
  const world = await openWorld(t);
  const expired = await filled(world);
  const operators = await filled(world);
  t.match((await world.workspaces.disposeAsOperator(operators.id)).claims, {
    reason: 'operator',
    items: 2,
  });
  t.match((await world.workspaces.disposeAsOperator(operators.id)).claims, { reason: 'operator' }, 'again');
  world.minutes(15);
  await world.workspaces.sweep();
  t.match((await world.workspaces.disposeAsOperator(expired.id)).claims, {
    reason: 'expired',
    items: 2,
    searches: 1,
  });
  for (const { id, token } of [expired, operators]) {
    t.notOk(world.tenants.has(id));
    t.ok(await isRefused(world.workspaces.dispose(id, token)));
  }
  t.ok(await isRefused(world.workspaces.receipt(operators.id, operators.token)));
  const { receipt } = await world.workspaces.disposeAsOperator(expired.id);
  t.equal(
    (await world.workspaces.receipt(expired.id, expired.token)).receipt,
    receipt,
    'its holder was away',
  );
  world.minutes(24 * 60);
  t.ok(await isRefused(world.workspaces.receipt(expired.id, expired.token)), 'a day later');
  const unpaid = await world.workspaces.create({});
  await t.rejects(world.workspaces.disposeAsOperator(unpaid.id), { code: 'not_found' });
  await t.rejects(world.workspaces.disposeAsOperator(newId('workspace')), { code: 'not_found' });
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

t.test('a server that stops before counting leaves the count to the next start', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await filled(world);
  world.tenants.useIfThere = () =>
    Promise.reject(new FarthingError('interrupted', 'The server is stopping.'));
  await t.rejects(world.workspaces.dispose(id, token), { code: 'interrupted' });
  Reflect.deleteProperty(world.tenants, 'useIfThere');
  t.ok(world.tenants.has(id));
  world.restart();
  await world.workspaces.resume();
  const { claims }: DisposalAnswer = await world.workspaces.dispose(id, token);
  t.match(claims, { items: 2, segments: 4, items_sha256: digestOfItems(DIGESTS) });
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
