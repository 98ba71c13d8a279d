import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { FarthingError } from '../../src/domain/error.ts';
import { newId, payerTenantId, type TenantId } from '../../src/domain/id.ts';
import type { Job } from '../../src/domain/job.ts';
import type { Address } from '../../src/domain/payment.ts';
import { Ingest } from '../../src/ingest/ingest.ts';
import { INGEST_LIMITS, type IngestLimits, type StagedUpload } from '../../src/ingest/ports/ports.ts';
import { openStore, type Store } from '../../src/state/store.ts';
import { ARCHIVE, FakeEncoder, FakeExtractor, FakeTenants, TEXT } from './stand-ins.ts';
import '../rig/teardown-order.ts';

const PAYER: Address = `0x${'a'.repeat(40)}`;
const TENANT = payerTenantId(PAYER);
const OTHER_TENANT = payerTenantId(`0x${'b'.repeat(40)}`);
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
  /** The same, before anything of it is gone on with. */
  reopen(): Promise<Ingest>;
  add(text: string, options?: { held?: boolean; creditTo?: Address; tenant?: TenantId }): Promise<Job>;
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
  const reopen = async (): Promise<Ingest> => {
    await ingest.close();
    ingest = make();
    return ingest;
  };
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
      await reopen();
      await ingest.resume();
      return ingest;
    },
    reopen,
    add: async (text, { held = false, creditTo, tenant = TENANT } = {}) => {
      const upload = await tenants.stage(tenant, text);
      const opened = await inspected(ingest, tenant, upload);
      return (await ingest.accept(tenant, upload, opened, { held, creditTo })).job;
    },
  };
}

async function inspected(ingest: Ingest, tenant: TenantId, upload: StagedUpload) {
  const outcome = await ingest.inspect(tenant, upload);
  if ('duplicate' in outcome) throw new Error('an unexpected duplicate');
  return outcome.opened;
}

/** A job's end is told before its credit is given. */
async function untilNoneRuns({ ingest }: Bench): Promise<void> {
  while (ingest.depths().running > 0) await new Promise(setImmediate);
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
      uploads.map(async (upload) => b.ingest.accept(TENANT, upload, TEXT, { held: false })),
    );
    t.equal(new Set(answers.map(({ item }) => item.id)).size, 1);
    t.equal(answers.filter(({ duplicate }) => !duplicate).length, 1);

    const elsewhere = await b.ingest.inspect(OTHER_TENANT, await b.tenants.stage(OTHER_TENANT, 'the same'));
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
  t.equal(one.item?.id, job.item);
  t.equal(two.item?.id, job.item);
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
  t.match(await b.ingest.release(job.id), { job: { state: 'searchable' } });
  t.equal(b.extractor.begun.length, 1);
  await b.ingest.withdraw(job.id);
  t.match(b.ingest.job(job.id), { state: 'searchable' }, 'a released job is not withdrawn');
  await t.rejects(b.ingest.release(newId('job')), { code: 'job_not_found' });
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
  'the same bytes that come while their first upload is being written wait for its payment',
  async (t) => {
    const b = bench(t, { heldWaitSecondsMax: 1 });
    const [upload, copy] = [await b.tenants.stage(TENANT, 'twice'), await b.tenants.stage(TENANT, 'twice')];
    await b.tenants.use(TENANT, { create: true }, () => undefined);
    const second = new Promise<Awaited<ReturnType<Ingest['inspect']>>>((resolve) => {
      b.tenants.shard(TENANT).onPut = () => resolve(b.ingest.inspect(TENANT, copy));
    });
    const { job } = await b.ingest.accept(TENANT, upload, TEXT, { held: true });
    await b.ingest.release(job.id);
    t.match(await second, { duplicate: { item: { id: job.item } } });
  },
);

t.test('an acceptance that fails half-way holds up nobody who sends the same bytes', async (t) => {
  const b = bench(t);
  await b.tenants.use(TENANT, { create: true }, () => undefined);
  b.tenants.shard(TENANT).recordFailure = new FarthingError('storage_full', 'no room');
  await t.rejects(b.add('no room for it', { held: true }), { code: 'storage_full' });
  t.same([files(b), b.ingest.depths().held], [[], 0]);
  b.tenants.shard(TENANT).recordFailure = undefined;
  t.match(await b.add('no room for it', { held: true }), { state: 'accepted' });
});

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
    id: newId('job'),
    item: newId('item'),
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

t.test('what was paid for in an index that ended while the server was down is a credit', async (t) => {
  const b = bench(t);
  b.extractor.hold();
  const running = await b.add('running', { creditTo: PAYER });
  const held = await b.add('held', { held: true, creditTo: PAYER });
  await b.ingest.close();
  b.tenants.shards.delete(TENANT);
  await b.restart();
  t.match(b.ingest.job(running.id), { state: 'cancelled' });
  t.same(b.credits, [`${PAYER} ${running.id}`], 'nothing for what its payment has not decided');
  const released = await b.ingest.release(held.id);
  t.match(released, { item: undefined, job: { state: 'cancelled' } });
  await b.ingest.release(held.id);
  t.same(b.credits.slice(1), [`${PAYER} ${held.id}`], 'once');
});

t.test('a job of an index that ended while its payment was asked for ends when it is paid', async (t) => {
  const b = bench(t);
  const job = await b.add('late', { held: true, creditTo: PAYER });
  b.tenants.shards.delete(TENANT);
  const released = await b.ingest.release(job.id);
  t.equal(released.item, undefined);
  t.match(released.job.state, /^(failed|cancelled)$/, 'whether its turn came first');
  t.same(b.credits, [`${PAYER} ${job.id}`]);
});

t.test(
  'a damaged index keeps nobody else waiting at a start, and is gone on with once it is whole',
  async (t) => {
    const b = bench(t);
    b.extractor.hold();
    const broken = await b.add('broken', { creditTo: PAYER });
    const other = await b.add('other', { tenant: OTHER_TENANT });
    await b.ingest.close();
    b.extractor.go();
    b.tenants.damaged.add(TENANT);
    await b.restart();
    t.match(await b.ingest.waitFor(other.id, A_WHILE_MS), { state: 'searchable' });
    t.match(
      b.events.find(({ event }) => event === 'ingest_stuck'),
      { error: /shard_corrupt/ },
    );
    t.match(b.ingest.job(broken.id), { state: 'extracting' });
    b.tenants.damaged.clear();
    await b.restart();
    t.match(await b.ingest.waitFor(broken.id, A_WHILE_MS), { state: 'searchable' });
  },
);

t.test('a payment that is decided during a start releases its job once', async (t) => {
  const b = bench(t);
  const job = await b.add('paid', { held: true, creditTo: PAYER });
  b.extractor.failure = new FarthingError('file_corrupt', 'It is damaged.');
  await b.reopen();
  await Promise.all([b.ingest.resume(), b.ingest.release(job.id)]);
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'failed', error: { code: 'file_corrupt' } });
  await b.ingest.close();
  t.same(b.credits, [`${PAYER} ${job.id}`]);
  t.same(
    b.events.filter(({ event }) => event === 'ingest_stuck'),
    [],
  );
  t.equal(b.ingest.depths().held, 0);
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
  await t.rejects(b.ingest.cancel(newId('job')), { code: 'job_not_found' });
});

t.test('a cancellation that fails can be asked for again', async (t) => {
  const b = bench(t, { jobsAtOnce: 1 });
  b.extractor.hold();
  await b.add('running');
  const waiting = await b.add('waiting');
  const shard = b.tenants.shard(TENANT);
  shard.recordFailure = new FarthingError('storage_full', 'no room');
  await t.rejects(b.ingest.cancel(waiting.id), { code: 'storage_full' });
  t.match(b.ingest.depths(), { queued: 0, running: 1 });
  shard.recordFailure = undefined;
  t.match(await b.ingest.cancel(waiting.id), { state: 'cancelled' });
});

t.test('a job is cancelled by two at once', async (t) => {
  const b = bench(t, { jobsAtOnce: 1 });
  b.extractor.hold();
  await b.add('running');
  const waiting = await b.add('waiting');
  const both = await Promise.all([b.ingest.cancel(waiting.id), b.ingest.cancel(waiting.id)]);
  t.match(both, [{ state: 'cancelled' }, { state: 'cancelled' }]);
});

t.test('the jobs of a tenant can be cancelled together, and other tenants go on', async (t) => {
  const b = bench(t, { jobsAtOnce: 1 });
  b.extractor.hold();
  const own = [
    await b.add('one', { creditTo: PAYER }),
    await b.add('two', { creditTo: PAYER }),
    await b.add('three', { held: true, creditTo: PAYER }),
  ];
  const other = await b.add('other', { tenant: OTHER_TENANT });
  await b.ingest.cancelTenant(TENANT);
  t.same(
    own.map(({ id }) => b.ingest.job(id)?.state),
    ['cancelled', 'cancelled', 'cancelled'],
  );
  b.extractor.go();
  t.match(await b.ingest.waitFor(other.id, A_WHILE_MS), { state: 'searchable' });
  t.equal(b.credits.length, 2, 'nothing for what its payment has not decided');
  t.match(await b.ingest.release(own[2]!.id), { item: undefined, job: { state: 'cancelled' } });
  t.match(await b.ingest.release(own[2]!.id), { job: { state: 'cancelled' } }, 'as often as it is asked for');
  const owed = own.map(({ id }) => `${PAYER} ${id}`);
  t.same(b.credits.sort(), owed.sort(), 'what was paid for and will not be done is a credit');
});

t.test('tenants have their turns, however many files one of them sends', async (t) => {
  const b = bench(t, { jobsAtOnce: 1 });
  b.extractor.hold();
  const many = [];
  for (let index = 0; index < 4; index++) many.push(await b.add(`file ${index}`));
  const single = await b.add('single', { tenant: OTHER_TENANT });
  b.extractor.go();
  await Promise.all([...many, single].map(({ id }) => b.ingest.waitFor(id, A_WHILE_MS)));
  const turn = b.extractor.begun.findIndex((path) => path.includes(OTHER_TENANT));
  t.ok(turn <= 2, `the other tenant's file is number ${turn + 1} of 5`);
});

t.test('a tenant whose files last leaves a place to the others', async (t) => {
  const b = bench(t, { jobsAtOnce: 2 });
  b.extractor.hold();
  for (const text of ['one', 'two', 'three']) await b.add(text);
  const other = await b.add('other', { tenant: OTHER_TENANT });
  while (!b.extractor.begun.some((path) => path.includes(OTHER_TENANT))) await new Promise(setImmediate);
  t.match(b.ingest.depths(), { running: 2, queued: 2 });
  b.extractor.go();
  t.match(await b.ingest.waitFor(other.id, A_WHILE_MS), { state: 'searchable' });
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
  t.match(await b.add('of another', { tenant: OTHER_TENANT }), { state: 'accepted' });
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
  const full = bench(t, { itemsPerTenantMax: 5 });
  const archive = { ...ARCHIVE, members: 2 };
  const send = async (text: string) =>
    full.ingest.accept(TENANT, await full.tenants.stage(TENANT, text), archive, { held: true });
  await send('a.zip');
  await t.rejects(send('b.zip'), { code: 'tenant_full', facts: { items: 3 } }, 'and what waits in archives');
  const heavy = bench(t, { bytesPerTenantMax: 100 });
  const large = { ...ARCHIVE, membersBytes: 80 };
  await heavy.ingest.accept(TENANT, await heavy.tenants.stage(TENANT, 'a.zip'), large, { held: true });
  await t.rejects(heavy.add('sixteen bytes...'), { code: 'tenant_full', facts: { bytes: 85 } });
  const wordy = bench(t, { segmentsPerTenantMax: 0 });
  await t.rejects(wordy.add('a file'), { code: 'tenant_full', facts: { limit_segments: 0 } });
});

t.test('an encoder that is full for a moment delays a job and does not fail it', async (t) => {
  const b = bench(t);
  b.encoder.overloads = 1;
  const job = await b.add('patient');
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
});

t.test('an index without room for what an archive in an archive holds takes nothing of it', async (t) => {
  const b = bench(t, { itemsPerTenantMax: 6 });
  // What is in the archive is an archive of five files.
  const inner = { ...ARCHIVE, members: 5 };
  const upload = await b.tenants.stage(TENANT, 'outer');
  b.extractor.opens.push(inner);
  const { job } = await b.ingest.accept(TENANT, upload, ARCHIVE, { held: false, creditTo: PAYER });
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
  const other = bench(t, { itemsPerTenantMax: 5 });
  other.extractor.opens.push(inner);
  const again = await other.tenants.stage(TENANT, 'outer');
  const late = await other.ingest.accept(TENANT, again, ARCHIVE, { held: false, creditTo: PAYER });
  const ended = await other.ingest.waitFor(late.job.id, A_WHILE_MS);
  t.match(ended, { state: 'failed', error: { code: 'tenant_full' } });
  await untilNoneRuns(other);
  t.same(other.credits, [`${PAYER} ${late.job.id}`]);
  t.same(files(other), []);
});

t.test('a reader or an index that is busy for a moment delays a job and does not fail it', async (t) => {
  const b = bench(t);
  b.extractor.hold();
  const job = await b.add('interrupted');
  await b.ingest.close();
  b.extractor.go();
  // Its file is opened again after a restart.
  b.extractor.overloads = 1;
  await b.restart();
  b.tenants.overloads = 1;
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
});

t.test('a job whose failure cannot be written into the index has failed all the same', async (t) => {
  const b = bench(t);
  b.extractor.hold();
  const job = await b.add('broken', { creditTo: PAYER });
  b.extractor.failure = new FarthingError('file_corrupt', 'It is damaged.');
  b.tenants.shard(TENANT).recordFailure = new FarthingError('storage_full', 'no room');
  b.extractor.go();
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'failed', error: { code: 'file_corrupt' } });
  await untilNoneRuns(b);
  t.same(b.credits, [`${PAYER} ${job.id}`]);
  t.same(files(b), []);
  b.tenants.shard(TENANT).recordFailure = undefined;
  b.extractor.failure = undefined;
  const again = await b.add('broken');
  t.match(await b.ingest.waitFor(again.id, A_WHILE_MS), { state: 'searchable' }, 'it is no duplicate');
  t.equal(b.tenants.shard(TENANT).item(job.item)?.state, 'failed');
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
  b.ingest.stopWaiting();
  t.match(await stopped, { state: 'extracting' });
  t.match(await b.ingest.waitFor(job.id, A_WHILE_MS), { state: 'extracting' }, 'who comes later neither');
  const { signal } = new AbortController();
  t.match(await b.ingest.watch(job.id, 10, signal).next(), { done: true });
  await b.ingest.close();
  t.throws(() => b.ingest.admit(TENANT), { code: 'interrupted' });
  t.equal(await b.ingest.waitFor(newId('job'), 10), undefined);
});
