import { join } from 'node:path';
import { type Clock, systemClock, toTimestamp } from '../domain/clock.ts';
import { isPayer, type TenantId } from '../domain/id.ts';
import { formatUsd } from '../domain/money.ts';
import type { Services } from '../http/access/services.ts';
import { Ingest } from '../ingest/ingest.ts';
import { Previews } from '../ingest/items/previews.ts';
import { Reencoding } from '../ingest/reencoding/reencoding.ts';
import { TenantItems } from '../ingest/tenant-items.ts';
import { BackupsTaken } from '../operator/backup/backups-taken.ts';
import { LiveBackup } from '../operator/backup/live-backup.ts';
import { effectHandlers, openPurchases } from '../purchases/purchases.ts';
import { RecallProbe } from '../search/recall-probe.ts';
import { Search } from '../search/search.ts';
import type { Settings } from '../settings/settings.ts';
import { openTenants, type Tenants } from '../shard/tenants.ts';
import { openStore, type Store } from '../state/store.ts';
import type { KeptFact } from '../workspace/disposal/receipt-claims.ts';
import { PayerIndex } from '../workspace/payer/payer-index.ts';
import { RentedTime } from '../workspace/time/rented-time.ts';
import { Workspaces } from '../workspace/workspaces.ts';
import { ingestEncoder } from './ingest-encoder.ts';
import { openPayments, type Payments } from './payments.ts';
import type { Runtime } from './wire-process.ts';

export interface SlotOptions {
  readonly runtime: Runtime;
  /** Absolute path of the folder that holds the slot's state and its Tenants. */
  readonly folder: string;
  readonly clock?: Clock;
  /** Milliseconds from any origin, never going back: rented time passes by it. */
  readonly monotonic?: () => number;
}

/** The routes' services that belong to one set of books. */
export type SlotServices = Pick<
  Services,
  'gate' | 'search' | 'ingest' | 'workspaces' | 'payerIndex' | 'purchases' | 'items' | 'previews' | 'expiry'
>;

/** One set of books and the Tenants in it. A process holds one today; slots share nothing. */
export interface Slot {
  readonly services: SlotServices;
  readonly tenants: Tenants;
  readonly backup: LiveBackup;
  readonly reencoding: Pick<Reencoding, 'progress'>;
  /** Finishes what a crash left: disposals, payments, jobs. */
  recover(): Promise<void>;
  /** Ends what is due and keeps the clock. Called once a second. */
  sweep(): Promise<void>;
  /** Ends all running work; indexes and state stay open for requests that are being answered. */
  endWork(): Promise<void>;
  /** Closes indexes and state. */
  close(): Promise<void>;
}

/** An index without a request for this long is closed; opening it again takes milliseconds. */
const SHARD_IDLE_MS = 600_000;
const ANSWER_BYTES_PER_TENANT_MAX = 64 * 2 ** 20;
const WORKSPACE_TTL_MINUTES_DEFAULT = 15;
const DAY_MS = 86_400_000;

/** What most parts of a slot stand on. */
interface Ground {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly clock: Clock;
  readonly time: RentedTime;
  readonly tenants: Tenants;
  readonly payments: Payments;
  /** Cancels a Tenant's jobs and waits for them. */
  readonly stopTenant: (tenant: TenantId) => Promise<void>;
}

/** Opens one set of books. It serves once `recover` has resolved. */
export function wireSlot(options: SlotOptions): Slot {
  const { runtime, folder } = options;
  const { settings, encoder, encoders, extractor, metrics, event: log } = runtime;
  const ground = openGround(options, (tenant) => ingest.cancelTenant(tenant));
  const { store, clock, tenants, payments } = ground;
  const workspaces = openWorkspaces(ground);
  const payerIndex = openPayerIndex(ground);
  const reencoding = openReencoding(ground);
  const ingest = openIngest(ground, workspaces, payerIndex);
  const purchases = openPurchases({ ingest, payerIndex, credits: payments.credits, workspaces });
  const gate = payments.gate(effectHandlers(purchases));
  const probe = new RecallProbe({ tenants, every: settings.RECALL_PROBE, observe: metrics.probed });
  const services: SlotServices = {
    gate,
    search: new Search({ tenants, encoders, extractor, observe: metrics.searched, probe }),
    ingest,
    workspaces,
    payerIndex,
    purchases,
    items: new TenantItems({ tenants, ingest }),
    previews: new Previews({ tenants, extractor }),
    expiry: (tenant) => (isPayer(tenant) ? payerIndex.expiry(tenant) : workspaces.expiry(tenant)),
  };
  const ending = new AbortController();
  return {
    services,
    tenants,
    backup: new LiveBackup({ data: folder, store, tenants, spaces: encoder.spaces, clock, log }),
    reencoding,
    recover: () => recover(ground, services, reencoding),
    sweep: () => sweep(ground, services, ending.signal),
    endWork: async () => {
      ending.abort();
      for (const part of [reencoding, ingest, gate, workspaces, payerIndex]) await part.close();
    },
    close: async () => {
      for (const part of [probe, tenants, store]) await part.close();
    },
  };
}

function openGround(
  { runtime, folder, clock = systemClock, monotonic }: SlotOptions,
  stopTenant: Ground['stopTenant'],
): Ground {
  const { settings, encoder, metrics, event: log } = runtime;
  const store = openStore(join(folder, 'state'));
  const tenants = openTenants({
    folder: join(folder, 'tenants'),
    spaces: encoder.spaces,
    openShardsMax: settings.OPEN_SHARDS_MAX,
    sizes: {
      ...(settings.BITS_ROWS_MIN !== undefined && { bitsRowsMin: settings.BITS_ROWS_MIN }),
      ...(settings.GRAPH_ROWS_MIN !== undefined && { graphRowsMin: settings.GRAPH_ROWS_MIN }),
    },
    log,
  });
  const time = new RentedTime(store, clock, {
    downtimeRefundMinutesMax: settings.DOWNTIME_REFUND_MINUTES_MAX,
    ...(monotonic && { monotonic }),
  });
  const payments = openPayments({
    settings,
    store,
    clock,
    tenants,
    answerBytesMax: ANSWER_BYTES_PER_TENANT_MAX,
    log,
    observe: metrics.facilitatorCalled,
  });
  return { runtime, store, clock, time, tenants, payments, stopTenant };
}

function openWorkspaces({ runtime, store, clock, time, tenants, stopTenant }: Ground): Workspaces {
  const { settings, limits, baseUrl } = runtime;
  const backups = new BackupsTaken(store);
  return new Workspaces({
    store,
    clock,
    time,
    tenants,
    signer: runtime.signer,
    stopTenant,
    get issuer() {
      return baseUrl();
    },
    pricing: {
      base: settings.WORKSPACE_BASE_USD,
      perMinute: settings.WORKSPACE_MINUTE_USD,
      ttlMinutesMin: settings.WORKSPACE_TTL_MINUTES_MIN,
      ttlMinutesMax: settings.WORKSPACE_TTL_MINUTES_MAX,
      ttlTotalMinutesMax: settings.WORKSPACE_TTL_TOTAL_MINUTES_MAX,
      ttlMinutesDefault: WORKSPACE_TTL_MINUTES_DEFAULT,
    },
    limits: {
      file_bytes: settings.FILE_BYTES_MAX,
      items: limits.ingest.itemsPerTenantMax,
      bytes: limits.ingest.bytesPerTenantMax,
      segments: limits.ingest.segmentsPerTenantMax,
      segments_per_item: limits.ingest.segmentsPerItemMax,
      jobs_waiting: limits.ingest.jobsPerTenantMax,
      requests_per_second: settings.TENANT_REQUESTS_PER_SECOND,
      searches_at_once: settings.TENANT_SEARCHES_AT_ONCE,
      ingests_at_once: settings.TENANT_INGESTS_AT_ONCE,
    },
    keptElsewhere: (createdAt, disposedAt) => [
      ...keptInLedger(settings, disposedAt),
      ...backups.keptOf(createdAt),
    ],
    links: (id) => linksOf(`${baseUrl()}/agent/v1/workspaces/${id}`),
    log: runtime.event,
  });
}

function openPayerIndex({ runtime, store, time, tenants, stopTenant }: Ground): PayerIndex {
  return new PayerIndex({
    store,
    time,
    // A payer may come back after its index has ended.
    tenants: { dispose: (tenant) => tenants.dispose(tenant, { mayReturn: true }) },
    stopTenant,
    lifetimeHours: runtime.settings.PAYER_INDEX_MINUTES / 60,
    log: runtime.event,
  });
}

function openReencoding({ runtime, store, tenants }: Ground): Reencoding {
  const { encoder, encoders, extractor } = runtime;
  return new Reencoding({
    tenants,
    extractor,
    encoder,
    store,
    inUse: encoder.spaces.map(({ name, modelSha256, weights }) => ({
      role: name,
      modelSha256,
      model: weights,
    })),
    load: (space) => encoders.previous(space),
    onDone: () => encoders.closePrevious(),
    log: runtime.event,
    warn: runtime.warn,
  });
}

function openIngest(ground: Ground, workspaces: Workspaces, payerIndex: PayerIndex): Ingest {
  const { runtime, store, clock, tenants, payments } = ground;
  const { settings, encoders, extractor, listening, limits, metrics } = runtime;
  return new Ingest({
    tenants,
    extractor,
    encoder: ingestEncoder(encoders, tenants),
    ...(listening && { listening }),
    store,
    clock,
    expiry: (tenant) => (isPayer(tenant) ? payerIndex.expiryAfterIngest() : workspaces.expiry(tenant)),
    limits: limits.ingest,
    newCredit: async (payer, job) => {
      await payments.credits.newCredit(payer, job);
      metrics.credited(Number(formatUsd(settings.INGEST_PRICE_USD)));
    },
    log: runtime.event,
  });
}

/** Disposals are finished before anything uses their Tenants, and payments before the work that they pay for. */
async function recover(
  { tenants, payments }: Ground,
  { gate, workspaces, payerIndex, ingest }: SlotServices,
  reencoding: Reencoding,
): Promise<void> {
  await payments.connect();
  await tenants.resumeDisposals();
  await payments.credits.recover();
  await gate.recover();
  await workspaces.resume();
  await payerIndex.sweep();
  await reencoding.start();
  await ingest.resume();
}

async function sweep(
  { runtime, tenants }: Ground,
  { workspaces, payerIndex }: SlotServices,
  ending: AbortSignal,
): Promise<void> {
  const { log } = runtime;
  await workspaces.sweep().catch((error: unknown) => log.error({ event: 'sweep_failed', err: error }));
  // The slot may have closed while the workspaces were swept: nothing is read after that.
  if (ending.aborted) return;
  await payerIndex.sweep();
  await tenants
    .closeIdle(SHARD_IDLE_MS)
    .catch((error: unknown) => log.error({ event: 'close_failed', err: error }));
}

/** What stays of a workspace outside its folder and its record, as its receipt says. */
function keptInLedger({ JOURNAL_KEEP_DAYS }: Settings, disposedAt: number): KeptFact[] {
  return [
    {
      what: 'its payments: wallets, amounts, times, transactions and hashes of the requests',
      why: 'the books',
      until: toTimestamp(disposedAt + JOURNAL_KEEP_DAYS * DAY_MS),
    },
    {
      what: 'ids and states of its jobs',
      why: 'dropped together with others, a day or more after they ended',
      until: null,
    },
  ];
}

function linksOf(self: string): Record<string, string> {
  return {
    self,
    search: `${self}/search`,
    ingest: `${self}/ingest`,
    usage: `${self}/usage`,
    extend: `${self}/extend`,
  };
}
