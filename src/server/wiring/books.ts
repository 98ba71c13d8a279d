import { fillingSpaces } from '@farthing/engine/encode/encoder';
import { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import { HOUR_MS, MINUTE_MS } from '@farthing/protocol/clock';
import { isPayer, type TenantId, type WorkspaceId } from '@farthing/protocol/id';
import { formatUsd } from '@farthing/protocol/money';
import type { PreviousModel } from '@farthing/protocol/schema/service';
import type { Services } from '../http/access/services.ts';
import { Ingest } from '../ingest/ingest.ts';
import { ModelChanges } from '../ingest/model-changes.ts';
import { TenantItems } from '../ingest/tenant-items.ts';
import { BackupsTaken, keptInBackups } from '../operator/backup/backups-taken.ts';
import { Credits } from '../purchases/credits.ts';
import type { WorkspaceExtensionDeps } from '../purchases/paid-workspace.ts';
import { effectHandlers, openPurchases } from '../purchases/purchases.ts';
import { ReserveReturns, type ReserveReturnsDeps } from '../purchases/reserve-returns.ts';
import { groupOf } from '../settings/settings.ts';
import { ModelHistory } from '../state/model-history.ts';
import type { Store } from '../state/store.ts';
import { HouseKeys } from '../workspace/house/house-keys.ts';
import { houseTable } from '../workspace/house/house-table.ts';
import { PayerIndex } from '../workspace/payer/payer-index.ts';
import { RentedTime } from '../workspace/time/rented-time.ts';
import { TTL_MINUTES, ttlMinutesMax } from '../workspace/workspace.ts';
import { Workspaces, type WorkspacesDeps } from '../workspace/workspaces.ts';
import { ingestEncoder } from './ingest-encoder.ts';
import { KEPT_IN_ETCD, keptByNodes, keptInLedger } from './kept-facts.ts';
import { prepaidTerms } from './prepaid-terms.ts';
import type { Runtime } from './process.ts';

export interface BooksOptions {
  readonly runtime: Runtime;
  /** Absolute path of the folder that holds their state and their Tenants. */
  readonly folder: string;
  readonly store: Store;
  /** Absent: each id belongs to this store. */
  readonly others?: OtherBooks;
  /** Milliseconds from any origin, never going back: rented time passes by it. */
  readonly monotonic?: () => number;
}

/** Books beside these: a payer's payment may extend a workspace of theirs, and the reverse. */
export interface OtherBooks
  extends Pick<WorkspaceExtensionDeps, 'leadsHere' | 'extensionsOf'>,
    Pick<ReserveReturnsDeps, 'returnTo'> {
  /** Settles or undoes extensions of these workspaces whose payers belong to other stores. */
  orphansIn(workspaces: Workspaces): { sweep(): Promise<void>; close(): Promise<void> };
  /** Has other servers remove their copies of an ended Tenant. Absent: there are no other servers. */
  readonly removeCopies?: WorkspacesDeps['removeCopies'];
}

/** The routes' services that belong to one store. */
export type BooksServices = Pick<
  Services,
  'gate' | 'ingest' | 'workspaces' | 'house' | 'payerIndex' | 'purchases' | 'prepaid' | 'items' | 'expiry'
>;

/** One store with its services and Tenants: everything that a slot owns. */
export interface Books {
  /** Rented time now, and how far the wall clock is ahead of it; in milliseconds. */
  readonly clock: () => { readonly rentedMs: number; readonly aheadMs: number };
  readonly services: BooksServices;
  /** Absolute path. */
  readonly folder: string;
  readonly store: Store;
  readonly credits: Credits;
  /** Replaced models that living indexes may still use, each with its last moment (RFC 3339). */
  previousModels(): PreviousModel[];
  /** Finishes payments that a crash left open. */
  recoverPayments(): Promise<void>;
  /** To be called next: finishes disposals. */
  resume(): Promise<void>;
  /** To be called last: resumes jobs, which may fetch indexes. Requests may be served at the same time. */
  resumeJobs(): Promise<void>;
  /** Ends whatever has expired. Called once a second. @param beats whether to write the clock of rented time, too */
  sweep(beats: boolean): Promise<void>;
  /** Ends all running work; state stays open for requests that are being answered. */
  endWork(): Promise<void>;
  /** Closes the state. */
  close(): Promise<void>;
}

/** A server that was away for longer is no server that its renters wait for: their time passes. */
const DOWNTIME_REFUND_MINUTES_MAX = 1440;
/** A month in which a payer, who extends its index by each upload, moves to the new model. */
const PREVIOUS_MODEL_DAYS = 30;
/** A workspace of the house has no end, and neither has the time in which its model is needed: a century. */
const HOUSE_MODEL_MS = 100 * 365 * 24 * HOUR_MS;

/** A single server has no other stores. */
const NO_OTHERS: OtherBooks = {
  leadsHere: () => true,
  extensionsOf: async (id) => {
    throw new Error(`${id} leads to these books`);
  },
  returnTo: async ({ payer }) => {
    throw new Error(`${payer} leads to these books`);
  },
  orphansIn: () => ({ sweep: async () => undefined, close: async () => undefined }),
};

/** The dependencies that most parts of a store share. */
interface Ground extends Pick<BooksOptions, 'runtime' | 'store'>, Required<Pick<BooksOptions, 'others'>> {
  readonly time: RentedTime;
  readonly models: ModelHistory;
  readonly credits: Credits;
  /** Undefined beside other books: their ids lead to several servers, and a key would be known to one. */
  readonly house: HouseKeys | undefined;
  /** Cancels a Tenant's jobs and waits for them. */
  readonly stopTenant: (tenant: TenantId) => Promise<void>;
}

/** Opens one store. It serves once `recoverPayments` and `resume` have resolved. */
export function wireBooks(options: BooksOptions): Books {
  const { runtime, folder, others = NO_OTHERS } = options;
  const ground = openGround({ ...options, others }, (tenant) => ingest.cancelTenant(tenant));
  const { store, credits, house } = ground;
  const workspaces = openWorkspaces(ground);
  const leaveOwners = runtime.owners.join((workspace) => workspaces.ownerOf(workspace));
  const payerIndex = openPayerIndex(ground);
  const ingest = openIngest(ground, workspaces, payerIndex);
  const prepaid = openPrepaid(ground);
  const purchases = openPurchases({ ingest, payerIndex, credits, workspaces, prepaid, ...others });
  const orphans = others.orphansIn(workspaces);
  const gate = runtime.payments.gate(store, effectHandlers(purchases), prepaid);
  const { leadsHere, returnTo } = others;
  const returns = new ReserveReturns({ workspaces, gate, store, leadsHere, returnTo, log: runtime.event });
  const services: BooksServices = {
    gate,
    ingest,
    workspaces,
    house,
    payerIndex,
    purchases,
    prepaid,
    items: new TenantItems({
      tenants: runtime.tenants,
      files: runtime.files,
      ingest,
      weightsOf: (space) => ground.models.weightsOf(space),
    }),
    expiry: (tenant) => (isPayer(tenant) ? payerIndex.expiry(tenant) : workspaces.views.expiry(tenant)),
  };
  const ending = new AbortController();
  let resuming: Promise<void> = Promise.resolve();
  return {
    clock: () => ({ rentedMs: ground.time.now(), aheadMs: ground.time.toWall(0) }),
    services,
    folder,
    store,
    credits,
    previousModels: () =>
      ground.models
        .previous()
        .map(({ until, ...model }) => ({ ...model, until: ground.time.toTimestamp(until) })),
    recoverPayments: async () => {
      await credits.recover();
      await gate.recover();
    },
    resume: async () => {
      await noteModels(ground);
      await workspaces.resume();
      await payerIndex.sweep();
    },
    resumeJobs: () => {
      resuming = ingest.resume();
      return resuming;
    },
    sweep: (beats) => {
      // Another server may take long to answer.
      void orphans.sweep();
      void returns.deliver();
      return sweep(runtime, services, { beats, ending: ending.signal });
    },
    endWork: async () => {
      ending.abort();
      for (const part of [ingest, gate, orphans, returns, workspaces, payerIndex]) await part.close();
      await resuming.catch(() => undefined);
      leaveOwners();
    },
    close: () => store.close(),
  };
}

/** Recovers from a crash, except for jobs. Payments come before the work that they pay for. */
export async function recoverBooks(books: readonly Books[]): Promise<void> {
  await Promise.all(books.map((each) => each.recoverPayments()));
  await Promise.all(books.map((each) => each.resume()));
}

function openGround(
  { runtime, store, others, monotonic }: BooksOptions & Pick<Ground, 'others'>,
  stopTenant: Ground['stopTenant'],
): Ground {
  const { settings, clock } = runtime;
  const time = new RentedTime(store, clock, {
    downtimeRefundMinutesMax: DOWNTIME_REFUND_MINUTES_MAX,
    ...(monotonic && { monotonic }),
  });
  const credits = new Credits({ store, clock });
  const models = new ModelHistory({
    store,
    now: () => time.now(),
    inUse: fillingSpaces(runtime.encoder),
    extendedMs: 24 * HOUR_MS * PREVIOUS_MODEL_DAYS,
    lifetimeMs: () =>
      houseTable(store).count() > 0
        ? HOUSE_MODEL_MS
        : MINUTE_MS * Math.max(settings.WORKSPACE_TTL_TOTAL_MINUTES_MAX, settings.PAYER_INDEX_MINUTES),
  });
  const house =
    others === NO_OTHERS
      ? new HouseKeys({ store, clock, log: runtime.event, ...(monotonic && { monotonic }) })
      : undefined;
  return { runtime, others, store, time, models, credits, house, stopTenant };
}

function openWorkspaces({ runtime, others, store, time, models, house, stopTenant }: Ground): Workspaces {
  const { settings, clock, tenants, limits, baseUrl } = runtime;
  const { leadsHere, removeCopies } = others;
  const backups = new BackupsTaken(store);
  const priced = groupOf(settings, 'workspace');
  return new Workspaces({
    store,
    clock,
    time,
    tenants,
    leadsHere,
    signer: runtime.signer,
    stopTenant,
    get issuer() {
      return baseUrl();
    },
    pricing: {
      ...priced,
      ttlMinutesMin: TTL_MINUTES.min,
      ttlMinutesMax: ttlMinutesMax(priced.ttlTotalMinutesMax),
      ttlMinutesDefault: TTL_MINUTES.initial,
    },
    limits: {
      file_bytes: settings.FILE_BYTES_MAX,
      items: limits.ingest.itemsPerTenantMax,
      bytes: limits.ingest.bytesPerTenantMax,
      segments: limits.ingest.segmentsPerTenantMax,
      segments_per_item: limits.ingest.segmentsPerItemMax,
      jobs_waiting: limits.ingest.jobsPerTenantMax,
      requests_per_second: limits.tenant.requestsPerSecond,
      searches_at_once: limits.tenant.searchesAtOnce,
      ingests_at_once: limits.tenant.ingestsAtOnce,
    },
    keptElsewhere: async ({ createdAt, house }, disposedAt, left) => [
      ...keptInLedger(settings, disposedAt, !house),
      ...(runtime.kept ? KEPT_IN_ETCD : []),
      ...keptByNodes(left),
      ...keptInBackups([backups.last, await runtime.kept?.lastBackup()], createdAt),
    ],
    ...(house && { house }),
    ...(runtime.fronts && { readers: runtime.fronts.grants }),
    ...(removeCopies && { removeCopies }),
    hasCopies: runtime.kept !== undefined,
    weightsOf: (space) => models.weightsOf(space),
    links: (id) => linksOf(`${baseUrl()}/agent/v1/workspaces/${id}`),
    log: runtime.event,
  });
}

function openPayerIndex({ runtime, store, time, models, stopTenant }: Ground): PayerIndex {
  const { tenants } = runtime;
  return new PayerIndex({
    store,
    time,
    // A payer may come back after its index has ended.
    tenants: { dispose: (tenant) => tenants.dispose(tenant, { mayReturn: true }) },
    stopTenant,
    lifetimeHours: runtime.settings.PAYER_INDEX_MINUTES / 60,
    endsBy: (begunAt) => models.endsBy(begunAt),
    log: runtime.event,
  });
}

function openPrepaid({ runtime, store }: Ground): PrepaidBalances {
  const { clock, settings } = runtime;
  return new PrepaidBalances({ store, clock, ...prepaidTerms(settings) });
}

/** Logs each space whose model has changed: new indexes use the new one, existing ones keep theirs. */
async function noteModels({ runtime, models }: Ground): Promise<void> {
  for (const { name, weights: from } of await models.start()) {
    const to = runtime.encoder.spaces.find((space) => space.name === name)?.weights ?? 'none';
    const consequence = 'new indexes have the new model; those that there are keep theirs until they end';
    runtime.warn({ event: 'model_changed', space: name, from, to, consequence });
  }
}

function openIngest(ground: Ground, workspaces: Workspaces, payerIndex: PayerIndex): Ingest {
  const { runtime, store, others, credits } = ground;
  const { settings, clock, tenants, files, encoders, extractor, listening, limits, jobLimits, metrics } =
    runtime;
  const languageOf = (tenant: string) =>
    isPayer(tenant as TenantId) ? undefined : workspaces.languageOf(tenant as WorkspaceId);
  // Where the content is kept as a log of writes, each write needs the model that it was made with.
  const models = runtime.kept
    ? undefined
    : new ModelChanges({ tenants, models: encoders, owners: runtime.owners, languageOf, log: runtime.event });
  return new Ingest({
    tenants,
    files,
    extractor,
    encoder: ingestEncoder(encoders, tenants, runtime.owners, languageOf, models),
    ...(models && { models }),
    ...(listening && { listening }),
    store,
    clock,
    expiry: (tenant) =>
      isPayer(tenant) ? payerIndex.expiryAfterIngest(tenant) : workspaces.views.expiry(tenant),
    limits: limits.ingest,
    jobLimits,
    leadsHere: others.leadsHere,
    newCredit: async (payer, job) => {
      await credits.newCredit(payer, job);
      metrics.credited(Number(formatUsd(settings.INGEST_PRICE_USD)));
    },
    log: runtime.event,
  });
}

async function sweep(
  { log }: Runtime,
  { workspaces, payerIndex }: BooksServices,
  { beats, ending }: { readonly beats: boolean; readonly ending: AbortSignal },
): Promise<void> {
  await workspaces.sweep(beats).catch((error: unknown) => log.error({ event: 'sweep_failed', err: error }));
  // The store may have closed while the workspaces were swept: nothing is read after that.
  if (!ending.aborted) await payerIndex.sweep();
}

function linksOf(self: string): Record<string, string> {
  return {
    self,
    search: `${self}/search`,
    ingest: `${self}/ingest`,
    usage: `${self}/usage`,
    extend: `${self}/extend`,
    reserve: `${self}/reserve`,
  };
}
