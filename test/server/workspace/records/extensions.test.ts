import t from 'tap';
import { toFarthingError } from '../../../../src/protocol/error.ts';
import { newId } from '../../../../src/protocol/id.ts';
import { openWorld, PAYER } from '../world.ts';

async function refusal(work: () => Promise<unknown>) {
  try {
    await work();
  } catch (error) {
    const { code, facts } = toFarthingError(error);
    return { code, facts };
  }
  return undefined;
}

t.test('an extension adds to what is left at commit, and its record is the step’s', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 10, spendLimit: 100_000n });
  world.minutes(4);
  const { step } = await world.workspaces.extend(id, { payer: PAYER });
  t.equal(world.workspaces.views.show(id)?.ttl_seconds_left, 360, 'nothing is added before the payment');
  world.minutes(1);
  const record = await world.workspaces.commitExtension(step);
  t.strictSame(record, {
    id,
    state: 'active',
    created_at: '2026-11-21T09:00:00.000Z',
    expires_at: '2026-11-21T09:25:00.000Z',
    ttl_minutes_asked: null,
    ttl_minutes: 15,
    ttl_seconds_left: 1200,
    price_usd: '0.0075',
    spend_usd: '0.0225',
    spend_limit_usd: '0.1',
    reserve: { minutes: 0, usd: '0' },
    limits: { file_bytes_max: 1000 },
  });
  world.minutes(1);
  for (const again of [world.workspaces.commitExtension(step), world.workspaces.reissueExtension(step)]) {
    t.match(await again, {
      ttl_seconds_left: 1140,
      spend_usd: '0.0225',
      price_usd: '0.0075',
      ttl_minutes: 15,
    });
  }
  t.equal((await refusal(() => world.workspaces.undoExtension(step)))?.code, 'internal', 'a paid step stays');
});

t.test('an undone extension gives back its share of the budget', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ spendLimit: 25_000n });
  const { step } = await world.workspaces.extend(id, { payer: PAYER });
  t.equal(
    (await refusal(() => world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 1 })))?.code,
    'spend_limit_exceeded',
  );
  await world.workspaces.undoExtension(step);
  await world.workspaces.undoExtension(step);
  const second = await world.workspaces.extend(id, { payer: PAYER });
  t.match(await world.workspaces.commitExtension(second.step), { spend_usd: '0.025' });
  t.equal((await refusal(() => world.workspaces.commitExtension(step)))?.code, 'internal');
});

t.test('racing extensions together never exceed the spend limit', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ spendLimit: 17_500n + 5n * 7_500n });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => world.workspaces.extend(id, { payer: PAYER })),
  );
  const steps = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value.step : []));
  t.equal(steps.length, 5);
  await Promise.all(
    steps.flatMap((step) => [world.workspaces.commitExtension(step), world.workspaces.commitExtension(step)]),
  );
  t.match(world.workspaces.views.show(id), { spend_usd: '0.055', ttl_seconds_left: 90 * 60 });
  t.equal(world.workspaces.views.headers(id)['X-Workspace-Spend-Remaining-USD'], '0');
});

t.test('racing extensions together never exceed the total time', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 1440 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, () => world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 1440 })),
  );
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 6);
  t.strictSame(
    await refusal(() => world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 1, showFigures: true })),
    {
      code: 'ttl_limit_exceeded',
      facts: { ttl_minutes: 1, ttl_seconds_left: 7 * 86_400, ttl_total_minutes_max: 10_080 },
    },
  );
  t.strictSame(await refusal(() => world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 1 })), {
    code: 'ttl_limit_exceeded',
    facts: {},
  });
  world.minutes(1);
  t.equal(await refusal(() => world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 1 })), undefined);
});

t.test('only the holder of a workspace sees its figures', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ spendLimit: 20_000n });
  t.strictSame(await refusal(() => world.workspaces.extend(id, { payer: PAYER })), {
    code: 'spend_limit_exceeded',
    facts: {},
  });
  t.strictSame(await refusal(() => world.workspaces.extend(id, { payer: PAYER, showFigures: true })), {
    code: 'spend_limit_exceeded',
    facts: { price_usd: '0.0075', spend_usd: '0.0175', spend_pending_usd: '0', spend_limit_usd: '0.02' },
  });
});

t.test('an unknown, unpaid, expired or ended workspace cannot be extended', async (t) => {
  const world = await openWorld(t);
  const expired = await world.active({ ttlMinutes: 1 });
  const deleted = await world.active();
  await world.workspaces.dispose(deleted.id, deleted.token);
  const pending = await world.workspaces.create({});
  world.minutes(1);
  for (const id of [newId('workspace'), 'x', `ws_${'a'.repeat(4000)}`, pending.id, expired.id, deleted.id]) {
    t.equal(
      (await refusal(() => world.workspaces.extend(id, { payer: PAYER })))?.code,
      'workspace_unauthorized',
      id.slice(0, 40),
    );
  }
});

t.test('a workspace outlives its time while an extension bought in time settles', async (t) => {
  const world = await openWorld(t);
  const { id, token } = await world.active({ ttlMinutes: 1 });
  world.tenants.ingest(id, 'a'.repeat(64));
  const { step } = await world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 10 });
  world.minutes(5);
  await world.workspaces.sweep();
  t.notOk(world.workspaces.tokenOpens(id, token), 'its time is over all the same');
  t.ok(world.tenants.has(id));
  t.match(await world.workspaces.commitExtension(step), { state: 'active', ttl_seconds_left: 600 });
  t.ok(world.workspaces.tokenOpens(id, token));
});

t.test('an open extension keeps no workspace for ever; its late settlement is booked', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 1 });
  world.tenants.ingest(id, 'a'.repeat(64));
  const { step } = await world.workspaces.extend(id, { payer: PAYER, ttlMinutes: 10 });
  world.minutes(15);
  await world.workspaces.sweep();
  t.notOk(world.tenants.has(id));
  t.match(await world.workspaces.commitExtension(step), {
    state: 'disposed',
    ttl_seconds_left: 0,
    spend_usd: '0.0155',
  });
  t.match(world.events, [{ event: 'workspace_disposed' }, { event: 'extension_paid_after_end' }]);
});

t.test('an undone extension lets an expired workspace end', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active({ ttlMinutes: 1 });
  const { step } = await world.workspaces.extend(id, { payer: PAYER });
  world.minutes(2);
  await world.workspaces.sweep();
  await world.workspaces.undoExtension(step);
  await world.workspaces.sweep();
  t.equal(world.workspaces.views.show(id)?.state, 'disposed');
});

t.test('creations and extensions with an open payment can be listed at a start', async (t) => {
  const world = await openWorld(t);
  const { id } = await world.active();
  const pending = await world.workspaces.create({});
  const { step } = await world.workspaces.extend(id, { payer: PAYER });
  const paid = await world.workspaces.extend(id, { payer: PAYER });
  await world.workspaces.commitExtension(paid.step);
  world.restart();
  t.strictSame(world.workspaces.pendingCreations(), [pending.id]);
  t.strictSame(world.workspaces.pendingExtensions(), [{ step, payer: PAYER }]);
});
