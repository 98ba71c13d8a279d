import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { FarthingError } from '../../src/domain/error.ts';
import type { Job } from '../../src/domain/job.ts';
import type { Address } from '../../src/domain/payment.ts';
import { Ingest } from '../../src/ingest/ingest.ts';
import { INGEST_LIMITS, type IngestLimits, type StagedUpload } from '../../src/ingest/parts.ts';
import { openStore, type Store } from '../../src/state/store.ts';
import { FakeEncoder, FakeExtractor, FakeTenants } from './stand-ins.ts';
import '../teardown-order.ts';

const TENANT = 'payer_a';
const PAYER: Address = `0x${'a'.repeat(40)}`;
const A_WHILE_MS = 20_000;

interface Bench {
  readonly ingest: Ingest;
  readonly tenants: FakeTenants;
  readonly extractor: FakeExtractor;
  readonly encoder: FakeEncoder;
  readonly store: Store;
  readonly credits: string[];
  readonly events: { event: string; error?: string }[];
  /** The same disk under a new Ingest, as after an end of the server. */
  restart(): Promise<Ingest>;
  add(text: string, options?: { held?: boolean; creditTo?: Address; tenant?: string }): Promise<Job>;
}

function bench(test: Test, limits: Partial<IngestLimits> = {}, expiry: string | null = null): Bench {
  const folder = test.testdir();
  const tenants = new FakeTenants(join(folder, 'tenants'));
  const extractor = new FakeExtractor();
  const encoder = new FakeEncoder();
  const store = openStore(join(folder, 'state'));
  const credits: string[] = [];
  const events: { event: string }[] = [];
  const make = (): Ingest =>
    new Ingest({
      tenants,
      extractor,
      encoder,
      store,
      clock: systemClock,
      expiry: () => expiry,
      limits: { ...INGEST_LIMITS, ...limits },
      newCredit: async (payer, job) => void credits.push(`${payer} ${job}`),
      log: (event) => void events.push(event as { event: string }),
    });
  let ingest = make();
  test.teardown(async () => {
    extractor.go();
    await ingest.close();
    await store.close();
  });
  return {
    tenants,
    extractor,
    encoder,
    store,
    credits,
    events,
    get ingest() {
      return ingest;
    },
    restart: async () => {
      await ingest.close();
      ingest = make();
      await ingest.resume();
      return ingest;
    },
    add: async (text, { held = false, creditTo, tenant = TENANT } = {}) => {
      const upload = await tenants.stage(tenant, text);
      const opened = await inspected(ingest, tenant, upload);
      return (await ingest.accept(tenant, upload, opened, { held, creditTo })).job;
    },
  };
}

async function inspected(ingest: Ingest, tenant: string, upload: StagedUpload) {
  const outcome = await ingest.inspect(tenant, upload);
  if ('duplicate' in outcome) throw new Error('an unexpected duplicate');
  return outcome.opened;
}

/** Files of the Tenant, incoming ones included. */
function files({ tenants }: Bench, tenant = TENANT): string[] {
  return ['files', 'incoming'].flatMap((name) => {
    const folder = join(tenants.folder(tenant), name);
    return existsSync(folder) ? readdirSync(folder) : [];
  });
}

t.test('an accepted file becomes a searchable item with its passages, families and title', async (t) => {
  const b = bench(t, {}, '2030-01-01T00:00:00.000Z');
  const upload = await b.tenants.stage(TENANT, 'some words', 'näme.txt');
  const opened = await inspected(b.ingest, TENANT, upload);
  const { item, job, duplicate } = await b.ingest.accept(TENANT, upload, opened, { held: false });
  t.match(
    { item, job, duplicate },
    { item: { state: 'pending', name: 'näme.txt' }, job: { state: 'accepted' }, duplicate: false },
  );
  const ended = await b.ingest.waitFor(job.id, A_WHILE_MS);
  t.match(ended, { state: 'searchable', progress: 1, segments: 2 });
  t.notOk(ended?.error);
  const stored = b.tenants.shard(TENANT).stored.get(item.id);
  t.match(stored?.item, {
    state: 'searchable',
    families: ['text_semantic', 'raw'],
    segments: 2,
    title: 'A title',
    expires_at: '2030-01-01T00:00:00.000Z',
    bytes: 10,
  });
  t.equal(stored?.segments[0]?.words, 'A title\nFirst passage.');
  t.equal(stored?.segments[1]?.record.text, 'Second passage.');
  t.ok(b.tenants.fileExists(TENANT, item.id), 'the file is kept under the id of its item');
  t.same(files(b), [item.id], 'nothing stays in incoming');
});

t.test(
  'the same bytes again are the item that is there, pending or searchable, one at a time or at once',
  async (t) => {
    const b = bench(t);
    b.extractor.hold();
    const first = await b.add('the same');
    const second = await b.ingest.inspect(TENANT, await b.tenants.stage(TENANT, 'the same'));
    t.match(second, {
      duplicate: { duplicate: true, item: { id: first.item, state: 'pending' }, job: { id: first.id } },
    });
    b.extractor.go();
    await b.ingest.waitFor(first.id, A_WHILE_MS);
    const third = await b.ingest.inspect(TENANT, await b.tenants.stage(TENANT, 'the same'));
    t.match(third, { duplicate: { item: { id: first.item, state: 'searchable' } } });

    const uploads = await Promise.all([1, 2, 3].map(() => b.tenants.stage(TENANT, 'at once')));
    const answers = await Promise.all(
      uploads.map(async (upload) =>
        b.ingest.accept(TENANT, upload, { kind: 'text', mediaType: 'text/plain' }, { held: false }),
      ),
    );
    t.equal(new Set(answers.map(({ item }) => item.id)).size, 1);
    t.equal(answers.filter(({ duplicate }) => !duplicate).length, 1);

    const elsewhere = await b.ingest.inspect('payer_b', await b.tenants.stage('payer_b', 'the same'));
    t.ok('opened' in elsewhere, 'another tenant knows nothing of it');
  },
);

t.test(
  'a file that cannot be read fails its job with the code, loses its bytes and gives one credit',
  async (t) => {
    const b = bench(t);
    b.extractor.failure = new FarthingError('file_corrupt', 'It is damaged.');
    const job = await b.add('broken', { creditTo: PAYER });
    const ended = await b.ingest.waitFor(job.id, A_WHILE_MS);
    t.match(ended, { state: 'failed', error: { code: 'file_corrupt', detail: 'It is damaged.' } });
    t.equal(b.tenants.shard(TENANT).item(job.item)?.state, 'failed');
    t.same(files(b), []);
    await b.restart();
    t.same(b.credits, [`${PAYER} ${job.id}`], 'a restart gives no second one');
    b.extractor.failure = undefined;
    const again = await b.add('broken');
    t.match(
      await b.ingest.waitFor(again.id, A_WHILE_MS),
      { state: 'searchable' },
      'a failed item is no duplicate',
    );
  },
);

t.test('a fault of ours is told as internal, without its words', async (t) => {
  const b = bench(t);
  b.extractor.failure = new TypeError('secret innards');
  const job = await b.add('text');
  const ended = await b.ingest.waitFor(job.id, A_WHILE_MS);
  t.equal(ended?.error?.code, 'internal');
  t.notMatch(ended?.error?.detail, /innards/);
  t.match(b.events.find(({ event }) => event === 'ingest_failed')?.error, /innards/, 'they are logged');
});

t.test('a failed commit fails the job and leaves no segments', async (t) => {
  const b = bench(t);
  await (await b.add('first')).id;
  b.tenants.shard(TENANT).failure = Object.assign(new Error('no room'), { code: 'ENOSPC' });
  const job = await b.add('second');
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'failed', error: { code: 'storage_full' } });
  t.same(b.tenants.shard(TENANT).stored.get(job.item)?.segments, []);
});

t.test('a held job waits for its release, and runs once however often it is released', async (t) => {
  const b = bench(t);
  const job = await b.add('paid', { held: true, creditTo: PAYER });
  t.match(await b.ingest.waitFor(job.id, 50), { state: 'accepted', held: true });
  t.same(b.extractor.begun, []);
  const [one, two] = await Promise.all([b.ingest.release(job.id), b.ingest.release(job.id)]);
  t.equal(one.item.id, two.item.id);
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
  t.match(await b.ingest.release(job.id), { job: { state: 'searchable' } });
  t.equal(b.extractor.begun.length, 1);
  await b.ingest.withdraw(job.id);
  t.match(b.ingest.job(job.id), { state: 'searchable' }, 'a released job is not withdrawn');
  await t.rejects(b.ingest.release(`job_${randomBytes(16).toString('hex')}`), { code: 'job_not_found' });
});

t.test('a withdrawn job vanishes with its item and its file, also after a restart', async (t) => {
  const b = bench(t);
  const first = await b.add('one', { held: true });
  const second = await b.add('two', { held: true });
  await b.ingest.withdraw(first.id);
  await b.ingest.withdraw(first.id);
  t.equal(b.ingest.job(first.id), undefined);
  await b.restart();
  t.match(b.ingest.job(second.id), { held: true, state: 'accepted' }, 'held ones stay held');
  await b.ingest.withdraw(second.id);
  t.equal(b.tenants.shard(TENANT).stored.size, 0);
  t.same(files(b), []);
});

t.test(
  'bytes that a payment holds are waited for: a duplicate once it is paid, a new item once it is not',
  async (t) => {
    const b = bench(t);
    const first = await b.add('held bytes', { held: true });
    const waiting = b.ingest.inspect(TENANT, await b.tenants.stage(TENANT, 'held bytes'));
    await b.ingest.release(first.id);
    t.match(await waiting, { duplicate: { item: { id: first.item } } });

    const second = await b.add('more bytes', { held: true });
    const waitingToo = b.ingest.inspect(TENANT, await b.tenants.stage(TENANT, 'more bytes'));
    await b.ingest.withdraw(second.id);
    t.ok('opened' in (await waitingToo));
  },
);

t.test(
  'jobs that the end of the server interrupts run again, and are given up after too many attempts',
  async (t) => {
    const b = bench(t, { attemptsMax: 2 });
    b.extractor.hold();
    const job = await b.add('interrupted', { creditTo: PAYER });
    const queued = await b.add('queued');
    await b.restart();
    t.match(b.ingest.job(job.id), { attempts: 1 });
    await b.restart();
    await b.restart();
    t.match(b.ingest.job(job.id), { state: 'failed', error: { code: 'interrupted' } });
    t.same(b.credits, [`${PAYER} ${job.id}`]);
    t.match(b.ingest.job(queued.id), { state: 'failed' });
  },
);

t.test(
  'an interrupted job ends searchable after the restart, and one that had been committed is not done again',
  async (t) => {
    const b = bench(t);
    b.extractor.hold();
    const job = await b.add('interrupted');
    await b.ingest.close();
    b.extractor.go();
    await b.restart();
    t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable', segments: 2 });

    // As the disk is after an end between the commit and the job's last row.
    const rows = b.store.table<Job>('jobs');
    await rows.put(job.id, { ...rows.get(job.id)!, state: 'committing', progress: 0.95 });
    const before = b.extractor.begun.length;
    await b.restart();
    t.match(b.ingest.job(job.id), { state: 'searchable', progress: 1 });
    t.equal(b.extractor.begun.length, before);
  },
);

t.test('an acceptance that the end of the server cut short leaves nothing', async (t) => {
  const b = bench(t);
  const done = await b.add('other');
  await b.ingest.waitFor(done.id, A_WHILE_MS);
  const job: Job = {
    ...b.ingest.job(done.id)!,
    id: `job_${'0'.repeat(32)}`,
    item: `item_${'0'.repeat(32)}`,
    state: 'accepted',
  };
  await b.store.table<Job>('jobs').put(job.id, job);
  await b.restart();
  t.equal(b.ingest.job(job.id), undefined);
  t.same(files(b), [done.item]);
});

t.test('jobs of a tenant that is gone are forgotten at start', async (t) => {
  const b = bench(t);
  b.extractor.hold();
  const job = await b.add('gone');
  await b.ingest.close();
  b.tenants.shards.delete(TENANT);
  await b.restart();
  t.equal(b.ingest.job(job.id), undefined);
});

t.test('a cancelled job leaves nothing but its state, whether it waits or runs', async (t) => {
  const b = bench(t, { jobsAtOnce: 1 });
  b.extractor.hold();
  const running = await b.add('running');
  const waiting = await b.add('waiting');
  const told = b.ingest.waitFor(waiting.id, A_WHILE_MS);
  t.match(await b.ingest.cancel(waiting.id), { state: 'cancelled' });
  t.match(await told, { state: 'cancelled' });
  t.match(await b.ingest.cancel(running.id), { state: 'cancelled' });
  t.equal(b.tenants.shard(TENANT).stored.size, 0);
  t.same(files(b), []);
  await t.rejects(b.ingest.cancel(running.id), { code: 'job_ended' });
  await t.rejects(b.ingest.cancel('job_unknown'), { code: 'job_not_found' });
});

t.test('the jobs of a tenant can be cancelled together, and other tenants go on', async (t) => {
  const b = bench(t, { jobsAtOnce: 1 });
  b.extractor.hold();
  const own = [await b.add('one'), await b.add('two'), await b.add('three', { held: true, creditTo: PAYER })];
  const other = await b.add('other', { tenant: 'payer_b' });
  await b.ingest.cancelTenant(TENANT);
  t.same(
    own.map(({ id }) => b.ingest.job(id)?.state),
    ['cancelled', 'cancelled', 'cancelled'],
  );
  b.extractor.go();
  t.match(await b.ingest.waitFor(other.id, A_WHILE_MS), { state: 'searchable' });
  await t.rejects(b.ingest.release(own[2]!.id), { code: 'job_not_found' });
  t.same(b.credits, [`${PAYER} ${own[2]!.id}`], 'what was paid for and will not be done is a credit');
});

t.test('tenants have their turns, however many files one of them sends', async (t) => {
  const b = bench(t, { jobsAtOnce: 1 });
  b.extractor.hold();
  const many = [];
  for (let index = 0; index < 4; index++) many.push(await b.add(`file ${index}`));
  const single = await b.add('single', { tenant: 'payer_b' });
  b.extractor.go();
  await Promise.all([...many, single].map(({ id }) => b.ingest.waitFor(id, A_WHILE_MS)));
  const turn = b.extractor.begun.findIndex((path) => path.includes('payer_b'));
  t.ok(turn <= 2, `the other tenant's file is number ${turn + 1} of 5`);
});

t.test('too many jobs are refused before anything is kept, and so is a full encoder', async (t) => {
  const b = bench(t, { jobsMax: 2 });
  b.extractor.hold();
  await b.add('one');
  await b.add('two', { held: true });
  t.throws(() => b.ingest.admit(TENANT), { code: 'overloaded', retryAfterS: 5 });
  await t.rejects(b.add('three'), { code: 'overloaded' });
  const other = bench(t);
  other.encoder.full = true;
  t.throws(() => other.ingest.admit(TENANT), { code: 'overloaded', retryAfterS: 3 });
});

t.test('a tenant that has enough jobs waiting is refused, and another is not', async (t) => {
  const b = bench(t, { jobsPerTenantMax: 2 });
  b.extractor.hold();
  await b.add('one');
  await b.add('two', { held: true });
  t.throws(() => b.ingest.admit(TENANT), { code: 'rate_limited', retryAfterS: 5 });
  await t.rejects(b.add('three'), { code: 'rate_limited' });
  t.match(await b.add('of another', { tenant: 'payer_b' }), { state: 'accepted' });
});

t.test('a full index refuses another file with the figures', async (t) => {
  const b = bench(t, { itemsPerTenantMax: 1 });
  await b.add('one');
  await t.rejects(b.add('two'), { code: 'tenant_full', facts: { limit_items: 1 } });
  const small = bench(t, { bytesPerTenantMax: 5 });
  await t.rejects(small.add('more than five'), { code: 'tenant_full' });
  t.equal(small.tenants.shard(TENANT).stored.size, 0);
  const waiting = bench(t, { bytesPerTenantMax: 20 });
  waiting.extractor.hold();
  await waiting.add('twelve bytes');
  await t.rejects(
    waiting.add('twelve more.'),
    { code: 'tenant_full', facts: { bytes: 12 } },
    'what waits counts',
  );
  const wordy = bench(t, { segmentsPerTenantMax: 0 });
  await t.rejects(wordy.add('a file'), { code: 'tenant_full', facts: { limit_segments: 0 } });
});

t.test('an encoder that is full for a moment delays a job and does not fail it', async (t) => {
  const b = bench(t);
  b.encoder.overloads = 1;
  const job = await b.add('patient');
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
});

t.test('waiting ends with the time given, with the signal, and with the server', async (t) => {
  const b = bench(t);
  b.extractor.hold();
  const job = await b.add('slow');
  // Until the held reader has it: then nothing more happens to it.
  while (b.ingest.job(job.id)?.progress !== 0.15) await new Promise(setImmediate);
  t.match(await b.ingest.waitFor(job.id, 10), { state: 'extracting', progress: 0.15 });
  const controller = new AbortController();
  const left = b.ingest.waitFor(job.id, A_WHILE_MS, controller.signal);
  controller.abort();
  t.match(await left, { state: 'extracting' });
  const stopped = b.ingest.waitFor(job.id, A_WHILE_MS);
  await b.ingest.close();
  t.match(await stopped, { state: 'extracting' });
  t.throws(() => b.ingest.admit(TENANT), { code: 'interrupted' });
  t.equal(await b.ingest.waitFor('job_unknown', 10), undefined);
});
