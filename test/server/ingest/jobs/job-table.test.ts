import t from 'tap';
import type { Address } from '../../../../src/protocol/address.ts';
import { type JobId, newId, payerTenantId } from '../../../../src/protocol/id.ts';
import { isEnded, JOB_STATES, type Job, type JobState, jobMayPass } from '../../../../src/protocol/job.ts';
import { JobTable } from '../../../../src/server/ingest/jobs/job-table.ts';
import { openStore } from '../../../../src/server/state/store.ts';

const HOUR_MS = 3_600_000;
const PAYER = `0x${'a'.repeat(40)}` as const;
const TENANT = payerTenantId(PAYER);

t.test('a job takes every allowed step, and no other; its end is on the disk', async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const rows = store.table<Job>('jobs');
  const jobs = new JobTable(store, { now: () => 0 });
  for (const from of JOB_STATES) {
    for (const to of JOB_STATES) {
      const id = newId('job');
      const job = await jobs.create({ id, tenant: TENANT, item: newId('item') });
      await rows.put(id, { ...job, state: from });
      if (jobMayPass(from, to)) t.match(await jobs.move(id, to), { state: to });
      else await t.rejects(jobs.move(id, to), /may not go/);
      t.equal(jobs.get(id)?.state, jobMayPass(from, to) ? to : from, `${from} to ${to}`);
      t.equal(rows.get(id)?.state, jobMayPass(from, to) && isEnded(to) ? to : from);
    }
  }
  const path: JobState[] = ['accepted', 'extracting', 'encoding', 'committing', 'searchable'];
  t.ok(
    path.slice(1).every((to, index) => jobMayPass(path[index]!, to)),
    'the path of a good file is allowed',
  );
  await t.rejects(jobs.move(newId('job'), 'failed'), /does not exist/);
  const taken = await jobs.create({ id: newId('job'), tenant: TENANT, item: newId('item') });
  await t.rejects(jobs.create({ id: taken.id, tenant: TENANT, item: newId('item') }), /exists/);
});

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
