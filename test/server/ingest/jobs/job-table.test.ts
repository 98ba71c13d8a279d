import t from 'tap';
import type { Address } from '../../../../src/protocol/address.ts';
import { type JobId, newId, payerTenantId } from '../../../../src/protocol/id.ts';
import type { Job, JobState } from '../../../../src/protocol/job.ts';
import { JobTable } from '../../../../src/server/ingest/jobs/job-table.ts';
import { openStore } from '../../../../src/server/state/store.ts';

const HOUR_MS = 3_600_000;
const PAYER = `0x${'a'.repeat(40)}` as const;
const TENANT = payerTenantId(PAYER);

t.test('the end of a job whose item is searchable is told before its row is written', async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const rows = store.table<Job>('jobs');
  const jobs = new JobTable(store, { now: () => 0 });
  const { id } = await jobs.create({ id: newId('job'), tenant: TENANT, item: newId('item') });
  await t.rejects(jobs.endSearchable(id), /may not end from accepted/);
  for (const state of ['extracting', 'encoding', 'committing'] as const)
    await jobs.move(id, state, { segments: 4 });
  const waiting = jobs.waitFor(id, HOUR_MS);
  const written = jobs.endSearchable(id);
  t.equal(rows.get(id)?.state, 'accepted', 'not written yet');
  t.match(await waiting, { state: 'searchable', progress: 1, segments: 4 });
  await written;
  t.match(rows.get(id), { state: 'searchable', progress: 1, segments: 4 });
});

t.test('old ended jobs are pruned; young, running and owing ones stay', async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  let now = 0;
  const jobs = new JobTable(store, { now: () => now });
  const make = async (state: JobState, creditTo?: Address): Promise<JobId> => {
    const { id } = await jobs.create({ id: newId('job'), tenant: TENANT, item: newId('item'), creditTo });
    if (state !== 'accepted') await jobs.move(id, state);
    return id;
  };
  const running = await make('accepted');
  const owing = await make('failed', PAYER);
  // At once: each by itself would wait for the disk twice.
  await Promise.all(Array.from({ length: 1_200 }, () => make('cancelled')));
  now = 2 * HOUR_MS;
  const young = await make('failed');
  await jobs.prune(HOUR_MS);
  const left: string[] = [];
  for await (const job of jobs.all()) left.push(job.id);
  t.same(left.sort(), [running, owing, young].sort());
});
