import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Encoder, EncoderOptions } from '@farthing/engine/encode/encoder';
import { openEncoder } from '@farthing/engine/encode/open-encoder';
import { native } from '@farthing/native';
import { languageFault } from '@farthing/readers/ocr/languages';
import type { Logger } from 'pino';
import { Metrics } from '../metrics/metrics.ts';
import { ConfigError } from '../settings/config.ts';
import type { Settings } from '../settings/settings.ts';
import { claimBookFolders } from '../state/book-folders.ts';
import { checkDataVersion } from '../state/data-version.ts';
import { claimMoney } from '../state/folder-money.ts';
import { makeFolder } from '../state/make-folder.ts';
import { eventLog } from '../wiring/event-log.ts';
import { checkAddresses } from './addresses.ts';
import { openLog } from './log.ts';
import type { Cluster, Served, ServeOptions, Times } from './serve.ts';
import { type StartProgress, silentProgress } from './terminal/progress.ts';

export type { Cluster } from './serve.ts';

/** Changes by tests and benches: the clocks, and limits that are no settings. */
export interface StartChanges extends Times, Pick<ServeOptions, 'tenantLimits' | 'settlementWaitSecondsMax'> {
  readonly queryQueueMax?: number;
}

const FOLDER_MODE = 0o700;
const LOCK_WAIT_MS = 1000;
const LOCK_LOOK_MS = 20;
/** Queries and uploads that wait for an encoder: seconds of work. The estimated wait refuses before; this bounds the memory. */
const QUERY_QUEUE_MAX = 256;
const INGEST_QUEUE_MAX = 1024;

export interface Running extends Served {
  readonly startMilliseconds: number;
  /** Logs an event as an error, for an operator to see, and counts it. */
  alarm(event: object): void;
}

/** Starts the whole server. @throws ConfigError when an OCR language is not installed, another process uses the data folder, or an address is taken */
export async function start(
  settings: Settings,
  { cluster, queryQueueMax = QUERY_QUEUE_MAX, ...changes }: StartChanges & { readonly cluster: Cluster },
  progress: StartProgress = silentProgress,
): Promise<Running> {
  const started = performance.now();
  const log = openLog(settings);
  const { level } = log;
  // On a terminal, progress and banner replace these lines.
  if (progress !== silentProgress && level === 'info') log.level = 'warn';
  const metrics = new Metrics();
  const logEvent = eventLog(metrics, log);
  const alarm = (event: object) => logEvent({ ...event, level: 'error' });
  progress.begin('data folder and addresses');
  const fault = languageFault(settings.OCR_LANGUAGES);
  if (fault !== undefined) throw new ConfigError(`FARTHING_OCR_LANGUAGES: ${fault}`);
  const folder = await claimDataFolder(settings);
  // Before the models, which take seconds.
  await checkAddresses(settings).catch((error: unknown) => {
    folder.lock.release();
    throw error;
  });
  progress.begin('models: checksums, sessions, warm-up');
  const encoding = encoderOptions(settings, folder.data, { log, metrics, alarm, queryQueueMax });
  // Workers open their sessions on other cores while this thread, which they need to begin, loads the rest of the server.
  let opening!: Promise<Encoder>;
  await new Promise<void>((begun, failed) => {
    opening = openEncoder({ ...encoding, onBegun: begun });
    opening.catch(failed);
  });
  const [{ serve }, encoder] = await Promise.all([import('./serve.ts'), opening]);
  const served = await serve({
    ...changes,
    ...folder,
    settings,
    encoding,
    encoder,
    log,
    metrics,
    progress,
    cluster,
  }).catch((error: unknown) => {
    folder.lock.release();
    throw error;
  });
  progress.end();
  log.level = level;
  const stop = async () => {
    await served.stop();
    folder.lock.release();
  };
  let stopped: Promise<void> | undefined;
  return {
    ...served,
    startMilliseconds: Math.round(performance.now() - started),
    alarm,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

interface DataFolder {
  /** Absolute path. */
  readonly data: string;
  /** Absolute paths. */
  readonly bookFolders: readonly string[];
  /** Absolute path. Emptied at the start: uploads that a former process was receiving are lost. */
  readonly stagingFolder: string;
  readonly lock: { release(): void };
}

/** Makes the data folder, locks it for this process, and checks its version and its money. @throws ConfigError */
async function claimDataFolder(settings: Settings): Promise<DataFolder> {
  const { DATA_DIR, CACHE_DIR } = settings;
  // Other users must not read the folder, including what libraries write.
  process.umask(0o077);
  const data = resolve(DATA_DIR);
  await makeSet('DATA_DIR', data);
  if (CACHE_DIR) await makeSet('CACHE_DIR', resolve(CACHE_DIR));
  const lock = await lockFolder(data);
  if (!lock)
    throw new ConfigError(
      `FARTHING_DATA_DIR=${data}: another Farthing uses this folder; stop it, or set another folder`,
    );
  const bookFolders = await checkDataVersion(data)
    .then(() => claimMoney(data, settings))
    .then(() => claimBookFolders(data, settings.SLOTS))
    .catch((error: unknown) => {
      lock.release();
      throw error;
    });
  const stagingFolder = join(data, 'incoming');
  await rm(stagingFolder, { recursive: true, force: true });
  await makeFolder(stagingFolder, FOLDER_MODE);
  return { data, bookFolders, stagingFolder, lock };
}

/** A reader process forked by a killed server holds its lock until `execve`, so a taken lock is tried again for a second. */
async function lockFolder(data: string): Promise<ReturnType<typeof native.lockFolder>> {
  const until = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    const lock = native.lockFolder(data);
    if (lock || performance.now() > until) return lock;
    await pause(LOCK_LOOK_MS);
  }
}

/** Makes the folder of a setting. @throws ConfigError where the kernel makes none, as in `/proc`; other errors of the system */
async function makeSet(setting: string, path: string): Promise<void> {
  await makeFolder(path, FOLDER_MODE).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new ConfigError(`FARTHING_${setting}=${path}: no folder can be made there; set another one`);
  });
}

function encoderOptions(
  settings: Settings,
  data: string,
  {
    log,
    metrics,
    alarm,
    queryQueueMax,
  }: { log: Logger; metrics: Metrics; alarm: (event: object) => void; queryQueueMax: number },
): EncoderOptions {
  return {
    modelsFolder: settings.MODELS_DIR,
    cacheFolder: settings.CACHE_DIR ? resolve(settings.CACHE_DIR) : join(data, 'cache'),
    ...(settings.QUERY_WORKERS > 0 && { queryWorkers: settings.QUERY_WORKERS }),
    ...(settings.INGEST_WORKERS > 0 && { ingestWorkers: settings.INGEST_WORKERS }),
    provider: settings.PROVIDER,
    queryQueueMax,
    ...(settings.QUERY_WAIT_MS_MAX > 0 && { queryWaitMsMax: settings.QUERY_WAIT_MS_MAX }),
    ingestQueueMax: INGEST_QUEUE_MAX,
    log: eventLog(metrics, log),
    alarm,
    onTask: metrics.encoded,
  };
}
