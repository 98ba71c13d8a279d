import t from 'tap';
import { JOB_STATES, type Job, type JobState, mayFollow } from '../../../src/domain/job.ts';
import { JobTable } from '../../../src/ingest/jobs/job-table.ts';
import { openStore } from '../../../src/state/store.ts';

const HOUR_MS = 3_600_000;

t.test('a job takes every lawful step, and no other', async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const rows = store.table<Job>('jobs');
  const jobs = new JobTable(store, { now: () => 0 });
  let tried = 0;
  for (const from of JOB_STATES) {
    for (const to of JOB_STATES) {
      const id = `job_${tried++}`;
      const job = await jobs.create({ id, tenant: 'payer_a', item: 'item' });
      await rows.put(id, { ...job, state: from });
      if (mayFollow(from, to)) t.match(await jobs.move(id, to), { state: to });
      else await t.rejects(jobs.move(id, to), /may not go/);
      t.equal(rows.get(id)?.state, mayFollow(from, to) ? to : from, `${from} to ${to}`);
    }
  }
  const path: JobState[] = ['accepted', 'extracting', 'encoding', 'committing', 'searchable'];
  t.ok(
    path.slice(1).every((to, index) => mayFollow(path[index]!, to)),
    'the way of a good file is lawful',
  );
  await t.rejects(jobs.move('job_unknown', 'failed'), /does not exist/);
  await t.rejects(jobs.create({ id: 'job_0', tenant: 'payer_a', item: 'item' }), /exists/);
});

t.test('a job whose item is searchable goes all that is left of its way', async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const jobs = new JobTable(store, { now: () => 0 });
  for (const state of JOB_STATES) {
    const job = await jobs.create({ id: `job_${state}`, tenant: 'payer_a', item: 'item' });
    await store.table<Job>('jobs').put(job.id, { ...job, state });
    await jobs.finish(job.id, 7);
    const ended = ['failed', 'cancelled', 'searchable'].includes(state);
    t.match(
      jobs.get(job.id),
      ended ? { state, segments: 0 } : { state: 'searchable', segments: 7, progress: 1 },
    );
  }
});

t.test('old ended jobs are pruned; young, running and owing ones stay', async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  let now = 0;
  const jobs = new JobTable(store, { now: () => now });
  const make = async (id: string, state: JobState, creditTo?: string): Promise<void> => {
    await jobs.create({ id, tenant: 'payer_a', item: 'item', creditTo });
    if (state !== 'accepted') await jobs.move(id, state);
  };
  await make('running', 'accepted');
  await make('owing', 'failed', '0xa');
  // At once: each by itself would wait for the disk twice.
  await Promise.all(Array.from({ length: 1_200 }, (_, index) => make(`old_${index}`, 'cancelled')));
  now = 2 * HOUR_MS;
  await make('young', 'failed');
  await jobs.prune(HOUR_MS);
  const left: string[] = [];
  for await (const job of jobs.all()) left.push(job.id);
  t.same(left.sort(), ['owing', 'running', 'young']);
});
