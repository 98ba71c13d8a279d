import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Encoder, EncoderOptions } from '../encode/encoder.ts';
import { openEncoder } from '../encode/open-encoder.ts';
import { Metrics } from '../metrics/metrics.ts';
import { native } from '../native/index.ts';
import { ConfigError } from '../settings/config.ts';
import type { Settings } from '../settings/settings.ts';
import { checkDataVersion } from '../state/data-version.ts';
import { openLog } from './log.ts';
import type { Served, Times } from './serve.ts';

export type { Times } from './serve.ts';

export interface Running extends Served {
  readonly startMilliseconds: number;
  /** True when nothing was stored before this start. */
  readonly firstStart: boolean;
  /** Logs what an operator must see as an error, and counts it. */
  alarm(event: object): void;
}

/** Starts the whole server. @throws ConfigError when the folder belongs to another process */
export async function start(settings: Settings, times: Times = {}): Promise<Running> {
  const started = performance.now();
  const log = openLog(settings);
  const metrics = new Metrics();
  const data = resolve(settings.DATA_DIR);
  const firstStart = (await mkdir(data, { recursive: true, mode: 0o700 })) !== undefined;
  const lock = native.lockFolder(data);
  if (!lock)
    throw new ConfigError(
      `FARTHING_DATA_DIR=${data}: another Farthing uses this folder; stop it, or set another folder`,
    );
  await checkDataVersion(data).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const stagingFolder = join(data, 'incoming');
  await rm(stagingFolder, { recursive: true, force: true });
  await mkdir(stagingFolder, { recursive: true, mode: 0o700 });
  const alarm = (event: object) => {
    metrics.logged(event);
    log.error(event);
  };
  const encoding: EncoderOptions = {
    modelsFolder: settings.MODELS_DIR,
    cacheFolder: settings.CACHE_DIR ? resolve(settings.CACHE_DIR) : join(data, 'cache'),
    ...(settings.QUERY_WORKERS > 0 && { queryWorkers: settings.QUERY_WORKERS }),
    ...(settings.INGEST_WORKERS > 0 && { ingestWorkers: settings.INGEST_WORKERS }),
    provider: settings.PROVIDER,
    queryQueueMax: settings.QUERY_QUEUE_MAX,
    ...(settings.QUERY_WAIT_MS_MAX > 0 && { queryWaitMsMax: settings.QUERY_WAIT_MS_MAX }),
    ingestQueueMax: settings.INGEST_QUEUE_MAX,
    log: (event) => {
      metrics.logged(event);
      log.info(event);
    },
    alarm,
    onTask: metrics.encoded,
  };
  // The workers open their sessions on other cores while this thread, which they need to begin, loads the rest of the server.
  let opening!: Promise<Encoder>;
  await new Promise<void>((begun, failed) => {
    opening = openEncoder({ ...encoding, onBegun: begun });
    opening.catch(failed);
  });
  const [{ serve }, encoder] = await Promise.all([import('./serve.ts'), opening]);
  const served = await serve({ ...times, settings, data, stagingFolder, encoding, encoder, log, metrics });
  const stop = async () => {
    await served.stop();
    lock.release();
  };
  let stopped: Promise<void> | undefined;
  return {
    ...served,
    startMilliseconds: Math.round(performance.now() - started),
    firstStart,
    alarm,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}
