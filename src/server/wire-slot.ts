import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, systemClock, toTimestamp } from '../domain/clock.ts';
import { EXTRACT_LIMITS } from '../domain/document.ts';
import { formatUsd } from '../domain/money.ts';
import type { Address } from '../domain/payment.ts';
import type { Encoder } from '../encode/encoder.ts';
import type { ModelVersions } from '../encode/model-versions.ts';
import { openListening } from '../encode/speech/listening.ts';
import { openExtractor } from '../extract/extractor.ts';
import { ingestEffect } from '../http/routes/ingest.ts';
import { workspaceCreateEffect, workspaceExtendEffect } from '../http/routes/workspaces.ts';
import type { Services } from '../http/services.ts';
import { INGEST_LIMITS } from '../ingest/deps.ts';
import { Ingest } from '../ingest/ingest.ts';
import { Previews } from '../ingest/previews.ts';
import { Reencoding } from '../ingest/reencoding/reencoding.ts';
import { TenantItems } from '../ingest/tenant-items.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { BackupsTaken } from '../operator/backup/backups-taken.ts';
import { LiveBackup } from '../operator/backup/live-backup.ts';
import { snapshotOf } from '../operator/running/snapshot.ts';
import { RecallProbe } from '../search/recall-probe.ts';
import { Search } from '../search/search.ts';
import type { Settings } from '../settings/settings.ts';
import { openTenants, type Tenants } from '../shard/tenants.ts';
import { openStore } from '../state/store.ts';
import { openReceiptSigner } from '../workspace/life/receipt.ts';
import type { KeptFact } from '../workspace/life/receipt-claims.ts';
import { RentedTime } from '../workspace/life/rented-time.ts';
import { PayerIndex } from '../workspace/payer/payer-index.ts';
import { TenantLimits } from '../workspace/tenant-limits.ts';
import { Workspaces } from '../workspace/workspaces.ts';
import { ingestEncoder } from './ingest-encoder.ts';
import { openPayments } from './payments.ts';

export interface WireOptions {
  readonly settings: Settings;
  /** Absolute path of DATA_DIR. */
  readonly data: string;
  readonly stagingFolder: string;
  /** The models in use, and those that filled indexes before. */
  readonly encoders: ModelVersions;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Known once the server listens. */
  readonly baseUrl: () => string;
  readonly clock?: Clock;
  /** Milliseconds from any origin, never going back: what rented time passes with. */
  readonly monotonic?: () => number;
}

/** All parts of the server, connected. */
export interface Parts {
  readonly services: Services;
  readonly tenants: Tenants;
  readonly backup: LiveBackup;
  readonly reencoding: Pick<Reencoding, 'progress'>;
  /** A new key signs receipts from now on. @returns its `kid`. */
  rotateKey(): Promise<string>;
  /** Finishes what a crash left: disposals, payments, jobs. */
  recover(): Promise<void>;
  /** What is due: expiries, and the clock's heartbeat. */
  sweep(): Promise<void>;
  /** What the parts are doing now, for the operator. */
  snapshot(): Record<string, unknown>;
  /** From now on `/readyz` says no. */
  drain(): void;
  close(): Promise<void>;
}

/** An index that nobody asked for ten minutes is closed; opening it again takes some milliseconds. */
const SHARD_IDLE_MS = 600_000;
const ANSWER_BYTES_PER_TENANT_MAX = 64 * 2 ** 20;
const DAY_MS = 86_400_000;
/** Small JSON bodies: a workspace's creation or extension. */
const JSON_BODY_BYTES_MAX = 64 * 1024;

const READERS_MAX = 8;

/** Small files wait for the disk and for their reader about as long as for the encoder; each job holds a whole document. */
const INGEST_JOBS_MAX = 8;

export async function wire(options: WireOptions): Promise<Parts> {
  const {
    settings,
    data,
    stagingFolder,
    encoders,
    log,
    metrics,
    baseUrl,
    clock = systemClock,
    monotonic,
  } = options;
  const encoder = encoders.current;
  const event = (entry: object) => {
    metrics.logged(entry);
    log.info(entry);
  };
  const store = openStore(join(data, 'state'));
  const backups = new BackupsTaken(store);
  const tenants = openTenants({
    folder: join(data, 'tenants'),
    spaces: encoder.spaces,
    openShardsMax: settings.OPEN_SHARDS_MAX,
    sizes: {
      ...(settings.BITS_ROWS_MIN !== undefined && { bitsRowsMin: settings.BITS_ROWS_MIN }),
      ...(settings.GRAPH_ROWS_MIN !== undefined && { graphRowsMin: settings.GRAPH_ROWS_MIN }),
    },
    log: event,
  });
  const limits = {
    ...EXTRACT_LIMITS,
    bytesMax: settings.FILE_BYTES_MAX,
    pagesMax: settings.PAGES_MAX,
    pixelsMax: settings.PIXELS_MAX,
    mediaSecondsMax: settings.MEDIA_SECONDS_MAX,
    archiveMembersMax: settings.ARCHIVE_MEMBERS_MAX,
    archiveBytesMax: settings.ARCHIVE_BYTES_MAX,
  };
  const extractor = openExtractor({
    pictureSpec: encoder.pictureSpec,
    limits,
    scratchFolder: join(data, 'scratch'),
    languages: settings.OCR_LANGUAGES,
    readers: settings.READERS || automaticReaders(),
    log: event,
  });
  const listening = await openListening({
    modelsFolder: settings.MODELS_DIR,
    cacheFolder: settings.CACHE_DIR || join(data, 'cache'),
    log: event,
  });
  const time = new RentedTime(store, clock, {
    downtimeRefundMinutesMax: settings.DOWNTIME_REFUND_MINUTES_MAX,
    ...(monotonic && { monotonic }),
  });
  const signer = await openReceiptSigner(join(data, 'keys'));
  const jobsAtOnce = Math.min(INGEST_JOBS_MAX, INGEST_LIMITS.jobsAtOnce + 2 * encoder.workers.ingest);
  const ingestLimits = {
    ...INGEST_LIMITS,
    jobsAtOnce,
    segmentsPerItemMax: settings.SEGMENTS_PER_ITEM_MAX,
    membersPerUploadMax: settings.ARCHIVE_MEMBERS_MAX,
    memberBytesPerUploadMax: settings.ARCHIVE_BYTES_MAX,
  };
  const payments = openPayments({
    settings,
    store,
    clock,
    tenants,
    answerBytesMax: ANSWER_BYTES_PER_TENANT_MAX,
    log: event,
    observe: metrics.facilitatorCalled,
  });
  const stopTenant = (tenant: string) => ingest.cancelTenant(tenant);
  const workspaces = new Workspaces({
    store,
    clock,
    time,
    tenants,
    signer,
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
      ttlMinutesDefault: 15,
    },
    limits: {
      file_bytes: settings.FILE_BYTES_MAX,
      items: ingestLimits.itemsPerTenantMax,
      bytes: ingestLimits.bytesPerTenantMax,
      segments: ingestLimits.segmentsPerTenantMax,
      segments_per_item: ingestLimits.segmentsPerItemMax,
      jobs_waiting: ingestLimits.jobsPerTenantMax,
      requests_per_second: settings.TENANT_REQUESTS_PER_SECOND,
      searches_at_once: settings.TENANT_SEARCHES_AT_ONCE,
      ingests_at_once: settings.TENANT_INGESTS_AT_ONCE,
    },
    keptElsewhere: (createdAt, disposedAt) => [
      ...keptByOthers(settings, disposedAt),
      ...backups.keptOf(createdAt),
    ],
    links: (id) => linksOf(`${baseUrl()}/agent/v1/workspaces/${id}`),
    log: event,
  });
  const payerIndex = new PayerIndex({
    store,
    time,
    // A payer may begin anew after its index has ended.
    tenants: { dispose: (tenant) => tenants.dispose(tenant, { mayReturn: true }) },
    stopTenant,
    lifetimeHours: settings.PAYER_INDEX_MINUTES / 60,
    log: event,
  });
  const reencoding = new Reencoding({
    tenants,
    extractor,
    encoder,
    store,
    inUse: encoder.spaces.map(({ name, modelSha256, model }) => ({ role: name, modelSha256, model })),
    load: (space) => encoders.former(space),
    onDone: () => encoders.closeFormers(),
    log: event,
    warn: (entry) => {
      metrics.logged(entry);
      log.warn(entry);
    },
  });
  const ingest: Ingest = new Ingest({
    tenants,
    extractor,
    encoder: ingestEncoder(encoders, tenants),
    ...(listening && { listening }),
    store,
    clock,
    expiry: (tenant) =>
      tenant.startsWith('payer_') ? payerIndex.expiryAfterIngest() : workspaces.expiry(tenant),
    limits: ingestLimits,
    newCredit: async (payer: Address, job) => {
      await payments.credits.newCredit(payer, job);
      metrics.credited(Number(formatUsd(settings.INGEST_PRICE_USD)));
    },
    log: event,
  });
  const gate = payments.gate({
    ingest: ingestEffect(ingest, payerIndex),
    workspace_create: workspaceCreateEffect(workspaces),
    workspace_extend: workspaceExtendEffect(workspaces),
  });
  const backup = new LiveBackup({ data, store, tenants, spaces: encoder.spaces, clock, log: event });
  const probe = new RecallProbe({ tenants, every: settings.RECALL_PROBE, observe: metrics.probed });
  let draining = false;
  let closed = false;
  const services: Services = {
    baseUrl,
    prices: {
      search: settings.SEARCH_PRICE_USD,
      ingest: settings.INGEST_PRICE_USD,
      item: settings.ITEM_PRICE_USD,
    },
    limits: {
      searchBodyBytesMax: settings.SEARCH_BODY_BYTES_MAX,
      jsonBodyBytesMax: JSON_BODY_BYTES_MAX,
      fileBytesMax: settings.FILE_BYTES_MAX,
      waitSecondsMax: settings.PREFER_WAIT_SECONDS_MAX,
    },
    stagingFolder,
    gate,
    search: new Search({ tenants, encoders, extractor, observe: metrics.searched, probe }),
    ingest,
    workspaces,
    payerIndex,
    tenantLimits: new TenantLimits({
      requestsPerSecond: settings.TENANT_REQUESTS_PER_SECOND,
      burst: 2 * settings.TENANT_REQUESTS_PER_SECOND,
      searchesAtOnce: settings.TENANT_SEARCHES_AT_ONCE,
      ingestsAtOnce: settings.TENANT_INGESTS_AT_ONCE,
    }),
    credits: payments.credits,
    items: new TenantItems({ tenants, ingest }),
    previews: new Previews({ tenants, extractor }),
    expiry: (tenant) => (tenant.startsWith('payer_') ? payerIndex.expiry(tenant) : workspaces.expiry(tenant)),
    onFault: (error, requestId) => {
      metrics.logged({ event: 'fault' });
      log.error({ event: 'fault', request_id: requestId, err: error });
    },
    readiness: () => {
      const reasons = [
        ...(draining ? ['The server is stopping.'] : []),
        ...(encoder.serving() ? [] : ['No encoder could be started again.']),
      ];
      const body = report(settings, encoder, extractor.confinement(), gate.health());
      const change = reencoding.progress();
      return {
        ready: reasons.length === 0,
        body: { reasons, ...body, ...(change && { reencoding: change }) },
      };
    },
    jwks: () => signer.jwks(),
  };
  return {
    services,
    tenants,
    backup,
    reencoding,
    rotateKey: () => signer.rotate(),
    recover: async () => {
      await payments.connect();
      await tenants.resumeDisposals();
      await payments.credits.recover();
      await gate.recover();
      await workspaces.resume();
      await payerIndex.sweep();
      await reencoding.start();
      await ingest.resume();
    },
    sweep: async () => {
      await workspaces.sweep().catch((error: unknown) => log.error({ event: 'sweep_failed', err: error }));
      // The first part may have taken until after the end: what is read next is closed by then.
      if (closed) return;
      await payerIndex.sweep();
      await tenants
        .closeIdle(SHARD_IDLE_MS)
        .catch((error: unknown) => log.error({ event: 'close_failed', err: error }));
    },
    snapshot: () => snapshotOf({ encoder, extractor, gate, tenants, workspaces }),
    drain: () => {
      draining = true;
    },
    close: async () => {
      closed = true;
      await reencoding.close();
      await ingest.close();
      await gate.close();
      await workspaces.close();
      await payerIndex.close();
      await extractor.close();
      await probe.close();
      await listening?.close();
      await tenants.close();
      await store.close();
    },
  };
}

/** The other half of the processors is for the encoders. */
function automaticReaders(): number {
  return Math.min(READERS_MAX, Math.max(1, Math.floor(availableParallelism() / 2)));
}

/** What stays of a workspace outside its folder and its record; said in its receipt. */
function keptByOthers({ JOURNAL_KEEP_DAYS }: Settings, disposedAt: number): KeptFact[] {
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

function report(
  settings: Settings,
  encoder: Encoder,
  confinement: unknown,
  payment: object,
): Record<string, unknown> {
  return {
    families: encoder.families,
    queues: encoder.queueDepths(),
    payment,
    extraction: confinement ?? 'not started yet',
    prices_usd: {
      search: formatUsd(settings.SEARCH_PRICE_USD),
      ingest: formatUsd(settings.INGEST_PRICE_USD),
      item: formatUsd(settings.ITEM_PRICE_USD),
      workspace: formatUsd(settings.WORKSPACE_BASE_USD),
      workspace_minute: formatUsd(settings.WORKSPACE_MINUTE_USD),
    },
    workspace_minutes: {
      min: settings.WORKSPACE_TTL_MINUTES_MIN,
      max: settings.WORKSPACE_TTL_MINUTES_MAX,
    },
  };
}
