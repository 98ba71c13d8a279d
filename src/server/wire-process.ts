import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Encoder, EncoderOptions } from '../encode/encoder.ts';
import { ModelVersions } from '../encode/model-versions.ts';
import { openPreviousEncoder } from '../encode/open-encoder.ts';
import { type Listening, openListening } from '../encode/speech/listening.ts';
import { type Extractor, openExtractor } from '../extract/extractor.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Settings } from '../settings/settings.ts';
import { openReceiptSigner, type ReceiptSigner } from '../workspace/disposal/receipt.ts';
import { TenantLimits } from '../workspace/tenant-limits.ts';
import { type Limits, limitsOf } from './limits.ts';

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
  /** Public address of the server; known once it listens. */
  readonly baseUrl: () => string;
}

/** What a process has once, however many slots it holds: models, readers, limits, keys, log and metrics. */
export interface Runtime extends ProcessOptions {
  /** The models in use, and those that filled indexes before. */
  readonly encoders: ModelVersions;
  readonly extractor: Extractor;
  /** Finds speech in recordings; undefined without its models. */
  readonly listening: Listening | undefined;
  readonly limits: Limits;
  readonly tenantLimits: TenantLimits;
  readonly signer: ReceiptSigner;
  /** Logs an event and counts it. */
  event(entry: object): void;
  /** As `event`, as a warning. */
  warn(entry: object): void;
  /** Aborted when the server is to stop: `/readyz` answers 503 from then on. */
  readonly draining: AbortController;
  /** Ends the reader processes; before that, every slot has ended its work. */
  closeReaders(): Promise<void>;
  /** Ends the encoders, last of all. */
  close(): Promise<void>;
}

const READERS_MAX = 8;

/** Opens what a process has once. */
export async function wireProcess(options: ProcessOptions): Promise<Runtime> {
  const { settings, data, encoder, encoding, log, metrics } = options;
  const event = (entry: object) => {
    metrics.logged(entry);
    log.info(entry);
  };
  const limits = limitsOf(settings, encoder.workers.ingest);
  const extractor = openExtractor({
    pictureSpec: encoder.pictureSpec,
    limits: limits.extract,
    scratchFolder: join(data, 'scratch'),
    languages: settings.OCR_LANGUAGES,
    readers: settings.READERS || automaticReaders(),
    log: event,
  });
  const listening = await openListening({
    modelsFolder: settings.MODELS_DIR,
    cacheFolder: encoding.cacheFolder,
    log: event,
  });
  const encoders = modelVersions(encoder, encoding);
  return {
    ...options,
    encoders,
    extractor,
    listening,
    limits,
    tenantLimits: new TenantLimits(limits.tenant),
    signer: await openReceiptSigner(join(data, 'keys')),
    event,
    warn: (entry) => {
      metrics.logged(entry);
      log.warn(entry);
    },
    draining: new AbortController(),
    closeReaders: async () => {
      await extractor.close();
      await listening?.close();
    },
    close: async () => {
      await encoders.closePrevious();
      await encoder.close();
    },
  };
}

function modelVersions(encoder: Encoder, encoding: EncoderOptions): ModelVersions {
  return new ModelVersions({
    current: encoder,
    // Searches keep their speed; one worker is enough for ingests into indexes that are being re-encoded.
    open: (space) =>
      openPreviousEncoder({ ...encoding, queryWorkers: encoder.workers.query, ingestWorkers: 1 }, space),
    log: encoding.log,
  });
}

/** Half of the processors: the other half is for the encoders. */
function automaticReaders(): number {
  return Math.min(READERS_MAX, Math.max(1, Math.floor(availableParallelism() / 2)));
}
