import t from 'tap';
import { toFarthingError } from '../../../../src/protocol/error.ts';
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
