import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Encoder, EncoderOptions } from '@farthing/engine/encode/encoder';
import { IndexModels } from '@farthing/engine/encode/index-models';
import { openPreviousEncoder } from '@farthing/engine/encode/open-encoder';
import { type Listening, openListening } from '@farthing/engine/encode/speech/listening';
import { RecallProbe } from '@farthing/engine/search/recall-probe';
import { Search } from '@farthing/engine/search/search';
import type { IndexKeeper } from '@farthing/engine/shard/keeper';
import { openTenants, type Tenants } from '@farthing/engine/shard/tenants';
import { type Clock, systemClock } from '@farthing/protocol/clock';
import { Owners } from '@farthing/queues/owners';
import type { Extractor } from '@farthing/readers/extractor';
import { openExtractor } from '@farthing/readers/open-extractor';
import type { Logger } from 'pino';
import { Incoming } from '../http/body/incoming.ts';
import { SharedBytes } from '../http/body/shared-bytes.ts';
import { didOf } from '../http/pages/did.ts';
import { filesIn } from '../ingest/items/files.ts';
import { Previews } from '../ingest/items/previews.ts';
import { JobLimits } from '../ingest/jobs/job-limits.ts';
import type { StoredFiles } from '../ingest/ports/ports.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Settings } from '../settings/settings.ts';
import { leadsTo } from '../state/book-folders.ts';
import type { Store } from '../state/store.ts';
import { openReceiptSigner, type ReceiptSigner } from '../workspace/disposal/receipt.ts';
import { TenantLimits } from '../workspace/tenant-limits.ts';
import { eventLog } from './event-log.ts';
import { type FrontParts, frontParts } from './front-parts.ts';
import { type Limits, limitsOf, SEARCHES_PER_PROBE, type TenantLimitChanges } from './limits.ts';
import { openPayments, type Payments } from './payments.ts';

export interface ProcessOptions {
  readonly settings: Settings;
  /** Absolute path of the data folder. */
  readonly data: string;
  /** Absolute path of the folder in which uploads wait while they are received. */
  readonly stagingFolder: string;
  /** Open and warm; closed by `close`. */
  readonly encoder: Encoder;
  /** How the encoder was opened; models that filled indexes before are opened the same way. */
  readonly encoding: EncoderOptions;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  /** Absolute paths of the stores' folders: each has the state of its store and their Tenants. */
  readonly bookFolders: readonly string[];
  /** Keeps the Tenants' content beyond this disk; undefined: nothing does. */
  readonly kept: ContentKeeper | undefined;
  /** Public address of the server; known once it listens. */
  readonly baseUrl: () => string;
  /** Changes of constants, by tests and benches. */
  readonly tenantLimits?: TenantLimitChanges;
  readonly settlementWaitSecondsMax?: number;
}

/** Stores the Tenants' content beyond this disk. */
export interface ContentKeeper {
  readonly keeper: IndexKeeper;
  files(tenants: Tenants): StoredFiles;
  /** Opens the keys that sign receipts: those of this disk, and those that other servers have. */
  openSigner(): Promise<ReceiptSigner>;
  /** When the last backup that `farthing admin cluster backup` took began; undefined without any. */
  lastBackup(): Promise<number | undefined>;
  /** Makes a copied state, with all files and indexes beside it, independent of etcd and the object store. */
  makeAlone(copy: Store): Promise<void>;
  close(): void;
}

/** The parts that a process has once, however many stores it holds: models, readers, limits, keys, log and metrics. */
export interface Runtime extends Omit<ProcessOptions, 'tenantLimits'> {
  readonly clock: Clock;
  /** The models in use, and those that filled indexes before. */
  readonly encoders: IndexModels;
  readonly extractor: Extractor;
  /** Finds speech in recordings; undefined without its models. */
  readonly listening: Listening | undefined;
  readonly limits: Limits;
  /** The payer of each Tenant; all shared queues ask it. */
  readonly owners: Owners;
  readonly tenantLimits: TenantLimits;
  /** Undefined where one thread answers all. */
  readonly fronts: FrontParts | undefined;
  /** Uploads while they are received. */
  readonly incoming: Incoming;
  readonly tenants: Tenants;
  readonly files: StoredFiles;
  readonly search: Search;
  readonly previews: Previews;
  readonly jobLimits: JobLimits;
  readonly payments: Payments;
  readonly signer: ReceiptSigner;
  /** Like `eventLog`. */
  event(entry: object): void;
  /** Like `event`, as a warning. */
  warn(entry: object): void;
  /** Aborted when the server is to stop: `/readyz` answers 503 from then on. */
  readonly draining: AbortController;
  /** Ends the reader processes and closes the indexes; before that, all stores have ended their work. */
  closeReaders(): Promise<void>;
  /** Ends the encoders, last of all. */
  close(): Promise<void>;
}

const READERS_MAX = 8;

/** Opens the parts that a process has once. */
export async function wireProcess(options: ProcessOptions): Promise<Runtime> {
  const { settings, data, bookFolders, clock = systemClock, encoder, encoding, log, metrics } = options;
  const event = eventLog(metrics, log);
  const limits = limitsOf(settings, encoder.workers.ingest, options.tenantLimits);
  const owners = new Owners();
  const extractor = openExtractor({
    pictureSpec: encoder.pictureSpec,
    limits: limits.extract,
    scratchFolder: join(data, 'scratch'),
    languages: settings.OCR_LANGUAGES,
    readers: settings.READERS || automaticReaders(),
    owners,
    log: event,
  });
  const listening = await openListening({
    modelsFolder: settings.MODELS_DIR,
    cacheFolder: encoding.cacheFolder,
    owners,
    log: event,
  });
  const encoders = indexModels(encoder, encoding);
  const tenantLimits = new TenantLimits(limits.tenant);
  const fronts = frontParts({
    settings,
    encoder,
    encoding,
    limits,
    tenantLimits,
    isAlone: bookFolders.length === 1,
    log: event,
  });
  const tenants = tenantsIn(bookFolders, options, { encoders, fronts, log: event });
  const files = options.kept?.files(tenants) ?? filesIn(tenants);
  const signer = await (options.kept?.openSigner() ?? openReceiptSigner(keysFolder(data)));
  const payments = await openPayments({
    settings,
    data,
    clock,
    owners,
    tenants,
    log: event,
    observe: metrics.facilitatorCalled,
    ...(options.settlementWaitSecondsMax !== undefined && {
      settlementWaitSecondsMax: options.settlementWaitSecondsMax,
    }),
    sign: (claims) => signer.signAs(didOf(options.baseUrl()), claims),
  });
  const probe = new RecallProbe({ tenants, every: SEARCHES_PER_PROBE, observe: metrics.probed });
  const { unproved, proved, tenant } = limits.http.incomingBytesMax;
  return {
    ...options,
    clock,
    encoders,
    extractor,
    listening,
    limits,
    tenantLimits,
    fronts,
    incoming: new Incoming({
      folder: options.stagingFolder,
      shares: { unproved: new SharedBytes(unproved), proved: new SharedBytes(proved, tenant) },
      freeBytesMin: limits.http.freeDiskBytesMin,
    }),
    tenants,
    files,
    search: new Search({ tenants, encoders, extractor, owners, observe: metrics.searched, probe }),
    previews: new Previews({ tenants, files, extractor }),
    jobLimits: new JobLimits(limits.ingest.jobsAtOnce, owners),
    owners,
    payments,
    signer,
    event,
    warn: (entry) => event({ ...entry, level: 'warn' }),
    draining: new AbortController(),
    closeReaders: async () => {
      await extractor.close();
      await listening?.close();
      await probe.close();
      await tenants.close();
    },
    close: async () => {
      await payments.close();
      options.kept?.close();
      await encoders.close();
      await encoder.close();
    },
  };
}

function indexModels(encoder: Encoder, encoding: EncoderOptions): IndexModels {
  return new IndexModels({
    current: encoder,
    // As many query workers as before; one ingest worker is enough for fewer indexes.
    open: (space) =>
      openPreviousEncoder({ ...encoding, queryWorkers: encoder.workers.query, ingestWorkers: 1 }, space),
    log: encoding.log,
  });
}

/** The Tenants of all stores, with one bound of open indexes. */
function tenantsIn(
  bookFolders: readonly string[],
  { settings, encoder, kept }: ProcessOptions,
  { encoders, fronts, log }: Pick<Runtime, 'encoders' | 'fronts'> & { readonly log: (event: object) => void },
): Tenants {
  const all = bookFolders.map(tenantsFolder);
  return openTenants({
    folder: { all, of: (tenant) => all[leadsTo(tenant, all.length)]! },
    spaces: encoder.spaces,
    openShardsMax: settings.OPEN_SHARDS_MAX,
    sizes: {
      ...(settings.BITS_ROWS_MIN !== undefined && { bitsRowsMin: settings.BITS_ROWS_MIN }),
      ...(settings.GRAPH_ROWS_MIN !== undefined && { graphRowsMin: settings.GRAPH_ROWS_MIN }),
    },
    ...(kept && { keeper: kept.keeper }),
    onGone: (isGone) => encoders.gone(isGone),
    ...(fronts && { onClosing: (tenant) => fronts.grants.closing(tenant) }),
    log,
  });
}

/** Path of the keys that sign receipts. */
export function keysFolder(data: string): string {
  return join(data, 'keys');
}

/** Folders of a store's Tenants. */
export function tenantsFolder(bookFolder: string): string {
  return join(bookFolder, 'tenants');
}

/** Half of the processors: the other half is for the encoders. */
function automaticReaders(): number {
  return Math.min(READERS_MAX, Math.max(1, Math.floor(availableParallelism() / 2)));
}
