import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Address } from '../../../src/protocol/address.ts';
import { systemClock } from '../../../src/protocol/clock.ts';
import { FarthingError } from '../../../src/protocol/error.ts';
import { newId, payerTenantId, type TenantId } from '../../../src/protocol/id.ts';
import type { Job } from '../../../src/protocol/job.ts';
import { Ingest } from '../../../src/server/ingest/ingest.ts';
import { JobLimits } from '../../../src/server/ingest/jobs/job-limits.ts';
import { INGEST_LIMITS, type IngestLimits } from '../../../src/server/ingest/ports/limits.ts';
import type { StagedUpload } from '../../../src/server/ingest/ports/ports.ts';
import { openStore, type Store } from '../../../src/server/state/store.ts';
import { ARCHIVE, FakeEncoder, FakeExtractor, FakeTenants } from './stand-ins.ts';
import '../../rig/teardown-order.ts';

const PAYER: Address = `0x${'a'.repeat(40)}`;
const TENANT = payerTenantId(PAYER);
const OTHER_TENANT = payerTenantId(`0x${'b'.repeat(40)}`);
const A_WHILE_MS = 60_000;

interface Rig {
  readonly ingest: Ingest;
  readonly tenants: FakeTenants;
  readonly extractor: FakeExtractor;
  readonly encoder: FakeEncoder;
  readonly store: Store;
  readonly credits: string[];
  readonly events: { event: string; error?: string }[];
  /** A new Ingest over the same disk, as after a restart. */
  restart(): Promise<Ingest>;
  /** As `restart`, but before `resume`. */
  reopen(): Promise<Ingest>;
  add(text: string, options?: { held?: boolean; creditTo?: Address; tenant?: TenantId }): Promise<Job>;
}

function openRig(
  test: Test,
  limits: Partial<IngestLimits> = {},
  expiry: string | null = null,
  folder = test.testdir(),
): Rig {
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
      // Both have paid.
      jobLimits: new JobLimits(limits?.jobsAtOnce ?? INGEST_LIMITS.jobsAtOnce, { of: (tenant) => tenant }),
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
  return outcome.info;
}

/** A job's end is visible before its credit is given. */
async function untilNoneRuns({ ingest }: Rig): Promise<void> {
  while (ingest.depths().running > 0) await new Promise(setImmediate);
}

/** The Tenant's files, including incoming ones. */
function files({ tenants }: Rig, tenant = TENANT): string[] {
  return ['files', 'incoming'].flatMap((name) => {
    const folder = join(tenants.folder(tenant), name);
    return existsSync(folder) ? readdirSync(folder) : [];
  });
}

t.test('an unreadable file fails its job with the code, is removed, and gives one credit', async (t) => {
  const rig = openRig(t);
  rig.extractor.failure = new FarthingError('file_corrupt', 'It is damaged.');
  const job = await rig.add('broken', { creditTo: PAYER });
  const ended = await rig.ingest.waitFor(job.id, A_WHILE_MS);
  t.match(ended, { state: 'failed', error: { code: 'file_corrupt', detail: 'It is damaged.' } });
  t.equal(rig.tenants.shard(TENANT).item(job.item)?.state, 'failed');
  t.same(files(rig), []);
  await rig.restart();
  t.same(rig.credits, [`${PAYER} ${job.id}`], 'a restart gives no second one');
  rig.extractor.failure = undefined;
  const again = await rig.add('broken');
  t.match(
    await rig.ingest.waitFor(again.id, A_WHILE_MS),
    { state: 'searchable' },
    'a failed item is no duplicate',
  );
});

t.test('a fault of the server shows as internal, without its message', async (t) => {
  const rig = openRig(t);
  rig.extractor.failure = new TypeError('secret innards');
  const job = await rig.add('text');
  const ended = await rig.ingest.waitFor(job.id, A_WHILE_MS);
  t.equal(ended?.error?.code, 'internal');
  t.notMatch(ended?.error?.detail, /innards/);
  t.match(rig.events.find(({ event }) => event === 'ingest_failed')?.error, /innards/, 'they are logged');
});

t.test('a failed commit fails the job and leaves no segments', async (t) => {
  const rig = openRig(t);
  await (await rig.add('first')).id;
  rig.tenants.shard(TENANT).failure = Object.assign(new Error('no room'), { code: 'ENOSPC' });
  const job = await rig.add('second');
  t.match(await rig.ingest.waitFor(job.id, A_WHILE_MS), { state: 'failed', error: { code: 'storage_full' } });
  t.same(rig.tenants.shard(TENANT).stored.get(job.item)?.segments, []);
});

t.test('a held job waits for its release, and runs once however often it is released', async (t) => {
  const rig = openRig(t);
  const job = await rig.add('paid', { held: true, creditTo: PAYER });
  t.match(await rig.ingest.waitFor(job.id, 50), { state: 'accepted', held: true });
  t.same(rig.extractor.begun, []);
  const [one, two] = await Promise.all([rig.ingest.release(job.id), rig.ingest.release(job.id)]);
  t.equal(one.item?.id, job.item);
  t.equal(two.item?.id, job.item);
  t.match(await rig.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
  t.match(await rig.ingest.release(job.id), { job: { state: 'searchable' } });
  t.equal(rig.extractor.begun.length, 1);
  await rig.ingest.withdraw(job.id);
  t.match(rig.ingest.job(job.id), { state: 'searchable' }, 'a released job is not withdrawn');
  await t.rejects(rig.ingest.release(newId('job')), { code: 'job_not_found' });
});

t.test('a withdrawn job vanishes with its item and its file, also after a restart', async (t) => {
  const rig = openRig(t);
  const first = await rig.add('one', { held: true });
  const second = await rig.add('two', { held: true });
  await rig.ingest.withdraw(first.id);
  await rig.ingest.withdraw(first.id);
  t.equal(rig.ingest.job(first.id), undefined);
  await rig.restart();
  t.match(rig.ingest.job(second.id), { held: true, state: 'accepted' }, 'held ones stay held');
  await rig.ingest.withdraw(second.id);
  t.equal(rig.tenants.shard(TENANT).stored.size, 0);
  t.same(files(rig), []);
});

t.test('bytes whose payment is open are waited for, and are a duplicate if it succeeds', async (t) => {
  const rig = openRig(t);
  const first = await rig.add('held bytes', { held: true });
  const waiting = rig.ingest.inspect(TENANT, await rig.tenants.stage(TENANT, 'held bytes'));
  await rig.ingest.release(first.id);
  t.match(await waiting, { duplicate: { item: { id: first.item } } });

  const second = await rig.add('more bytes', { held: true });
  const waitingToo = rig.ingest.inspect(TENANT, await rig.tenants.stage(TENANT, 'more bytes'));
  await rig.ingest.withdraw(second.id);
  t.ok('info' in (await waitingToo));
});

t.test('interrupted jobs run again until too many attempts; one not begun has none', async (t) => {
  const rig = openRig(t, { attemptsMax: 2, jobsAtOnce: 1 });
  rig.extractor.hold();
  const added = [await rig.add('one', { creditTo: PAYER }), await rig.add('two', { creditTo: PAYER })];
  // A start takes them in the order of their ids.
  const [begins, waits] = added.map(({ id }) => id).sort() as [Job['id'], Job['id']];
  for (const attempts of [1, 2]) {
    const begun = rig.extractor.begun.length;
    await rig.restart();
    while (rig.extractor.begun.length === begun) await new Promise(setImmediate);
    t.match(rig.ingest.job(begins), { attempts });
    t.match(rig.ingest.job(waits), { state: 'accepted', attempts: undefined });
  }
  await rig.restart();
  t.match(rig.ingest.job(begins), { state: 'failed', error: { code: 'interrupted' } });
  t.same(rig.credits, [`${PAYER} ${begins}`]);
  rig.extractor.go();
  t.match(await rig.ingest.waitFor(waits, A_WHILE_MS), { state: 'searchable', attempts: 1 });
});

t.test('an interrupted job ends searchable after a restart; a committed one is done', async (t) => {
  const rig = openRig(t);
  rig.extractor.hold();
  const job = await rig.add('interrupted');
  await rig.ingest.close();
  rig.extractor.go();
  await rig.restart();
  t.match(await rig.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable', segments: 2 });

  // The disk after a crash between the commit and the job's last row.
  const rows = rig.store.table<Job>('jobs');
  await rows.put(job.id, { ...rows.get(job.id)!, state: 'committing', progress: 0.95 });
  const before = rig.extractor.begun.length;
  await rig.restart();
  t.match(rig.ingest.job(job.id), { state: 'searchable', progress: 1 });
  t.equal(rig.extractor.begun.length, before);
});

t.test('an acceptance that the end of the server cut short leaves nothing', async (t) => {
  const rig = openRig(t);
  const done = await rig.add('other');
  await rig.ingest.waitFor(done.id, A_WHILE_MS);
  const job: Job = {
    ...rig.ingest.job(done.id)!,
    id: newId('job'),
    item: newId('item'),
    state: 'accepted',
  };
  await rig.store.table<Job>('jobs').put(job.id, job);
  await rig.restart();
  t.equal(rig.ingest.job(job.id), undefined);
  t.same(files(rig), [done.item]);
});

t.test('a paid job whose index ended while the server was down gives a credit', async (t) => {
  const rig = openRig(t);
  rig.extractor.hold();
  const running = await rig.add('running', { creditTo: PAYER });
  const held = await rig.add('held', { held: true, creditTo: PAYER });
  await rig.ingest.close();
  rig.tenants.shards.delete(TENANT);
  await rig.restart();
  t.match(rig.ingest.job(running.id), { state: 'cancelled' });
  t.same(rig.credits, [`${PAYER} ${running.id}`], 'nothing for what its payment has not decided');
  const released = await rig.ingest.release(held.id);
  t.match(released, { item: undefined, job: { state: 'cancelled' } });
  await rig.ingest.release(held.id);
  t.same(rig.credits.slice(1), [`${PAYER} ${held.id}`], 'once');
});

t.test('a payment settled during a start releases its job once', async (t) => {
  const rig = openRig(t);
  const job = await rig.add('paid', { held: true, creditTo: PAYER });
  rig.extractor.failure = new FarthingError('file_corrupt', 'It is damaged.');
  await rig.reopen();
  await Promise.all([rig.ingest.resume(), rig.ingest.release(job.id)]);
  t.match(await rig.ingest.waitFor(job.id, A_WHILE_MS), { state: 'failed', error: { code: 'file_corrupt' } });
  await rig.ingest.close();
  t.same(rig.credits, [`${PAYER} ${job.id}`]);
  t.same(
    rig.events.filter(({ event }) => event === 'ingest_stuck'),
    [],
  );
  t.equal(rig.ingest.depths().held, 0);
});

t.test('the jobs of a tenant can be cancelled together, and other tenants go on', async (t) => {
  const rig = openRig(t, { jobsAtOnce: 1 });
  rig.extractor.hold();
  const own = [
    await rig.add('one', { creditTo: PAYER }),
    await rig.add('two', { creditTo: PAYER }),
    await rig.add('three', { held: true, creditTo: PAYER }),
  ];
  const other = await rig.add('other', { tenant: OTHER_TENANT });
  await rig.ingest.cancelTenant(TENANT);
  t.same(
    own.map(({ id }) => rig.ingest.job(id)?.state),
    ['cancelled', 'cancelled', 'cancelled'],
  );
  rig.extractor.go();
  t.match(await rig.ingest.waitFor(other.id, A_WHILE_MS), { state: 'searchable' });
  t.equal(rig.credits.length, 2, 'nothing for what its payment has not decided');
  t.match(await rig.ingest.release(own[2]!.id), { item: undefined, job: { state: 'cancelled' } });
  t.match(
    await rig.ingest.release(own[2]!.id),
    { job: { state: 'cancelled' } },
    'as often as it is asked for',
  );
  const owed = own.map(({ id }) => `${PAYER} ${id}`);
  t.same(rig.credits.sort(), owed.sort(), 'what was paid for and will not be done is a credit');
});

t.test('too many jobs or a full encoder refuse a file before anything is stored', async (t) => {
  const rig = openRig(t, { jobsMax: 4 });
  rig.extractor.hold();
  await rig.add('one');
  await rig.add('two', { held: true });
  t.throws(() => rig.ingest.admit(TENANT), { code: 'overloaded', retryAfterS: 5 });
  await t.rejects(rig.add('three'), { code: 'overloaded' });
  const other = openRig(t);
  other.encoder.full = true;
  t.throws(() => other.ingest.admit(TENANT), { code: 'overloaded', retryAfterS: 3 });
});

t.test('a tenant with too many unfinished jobs is refused, and another is not', async (t) => {
  const rig = openRig(t, { jobsPerTenantMax: 2 });
  rig.extractor.hold();
  await rig.add('one');
  await rig.add('two', { held: true });
  t.throws(() => rig.ingest.admit(TENANT), { code: 'rate_limited', retryAfterS: 5 });
  await t.rejects(rig.add('three'), { code: 'rate_limited' });
  t.match(await rig.add('of another', { tenant: OTHER_TENANT }), { state: 'accepted' });
});

t.test('a full index refuses another file with the figures', async (t) => {
  const rig = openRig(t, { itemsPerTenantMax: 1 });
  await rig.add('one');
  await t.rejects(rig.add('two'), { code: 'tenant_full', facts: { limit_items: 1 } });
  const small = openRig(t, { bytesPerTenantMax: 5 });
  await t.rejects(small.add('more than five'), { code: 'tenant_full' });
  t.equal(small.tenants.shard(TENANT).stored.size, 0);
  const waiting = openRig(t, { bytesPerTenantMax: 20 });
  waiting.extractor.hold();
  await waiting.add('twelve bytes');
  await t.rejects(
    waiting.add('twelve more.'),
    { code: 'tenant_full', facts: { bytes: 12 } },
    'what waits counts',
  );
  const full = openRig(t, { itemsPerTenantMax: 5 });
  const archive = { ...ARCHIVE, members: 2 };
  const send = async (text: string) =>
    full.ingest.accept(TENANT, await full.tenants.stage(TENANT, text), archive, { held: true });
  await send('a.zip');
  await t.rejects(send('b.zip'), { code: 'tenant_full', facts: { items: 3 } }, 'and what waits in archives');
  const heavy = openRig(t, { bytesPerTenantMax: 100 });
  const large = { ...ARCHIVE, membersBytes: 80 };
  await heavy.ingest.accept(TENANT, await heavy.tenants.stage(TENANT, 'a.zip'), large, { held: true });
  await t.rejects(heavy.add('sixteen bytes...'), { code: 'tenant_full', facts: { bytes: 85 } });
  const wordy = openRig(t, { segmentsPerTenantMax: 0 });
  await t.rejects(wordy.add('a file'), { code: 'tenant_full', facts: { limit_segments: 0 } });
});

t.test('an overloaded encoder delays a job and does not fail it', async (t) => {
  const rig = openRig(t);
  rig.encoder.overloads = 1;
  const job = await rig.add('patient');
  t.match(await rig.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
});

t.test('an index takes nothing of a nested archive that would exceed its quota', async (t) => {
  const rig = openRig(t, { itemsPerTenantMax: 6 });
  // The archive contains an archive of five files.
  const inner = { ...ARCHIVE, members: 5 };
  const upload = await rig.tenants.stage(TENANT, 'outer');
  rig.extractor.opens.push(inner);
  const { job } = await rig.ingest.accept(TENANT, upload, ARCHIVE, { held: false, creditTo: PAYER });
  t.match(await rig.ingest.waitFor(job.id, A_WHILE_MS), { state: 'searchable' });
  const other = openRig(t, { itemsPerTenantMax: 5 });
  other.extractor.opens.push(inner);
  const again = await other.tenants.stage(TENANT, 'outer');
  const late = await other.ingest.accept(TENANT, again, ARCHIVE, { held: false, creditTo: PAYER });
  const ended = await other.ingest.waitFor(late.job.id, A_WHILE_MS);
  t.match(ended, { state: 'failed', error: { code: 'tenant_full' } });
  await untilNoneRuns(other);
  t.same(other.credits, [`${PAYER} ${late.job.id}`]);
  t.same(files(other), []);
});
