import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Logger, pino } from 'pino';
import { type Encoder, openEncoder } from '../encode/encoder.ts';
import { Cors } from '../http/cors.ts';
import { allRoutes } from '../http/routes.ts';
import { listen } from '../http/server.ts';
import { native } from '../native/index.ts';
import { ConfigError } from './config.ts';
import { checkDataVersion } from './data-version.ts';
import { openOperatorSocket } from './operator-socket.ts';
import type { Settings } from './settings.ts';
import { type Parts, type WireOptions, wire } from './wire.ts';

export interface Running {
  readonly url: string;
  readonly startMilliseconds: number;
  readonly port: number;
  readonly log: Logger;
  /** For benches and the operator: what the encoders did, and with how many workers. */
  readonly encoder: Pick<Encoder, 'counters' | 'workers' | 'families'>;
  /** True when nothing was stored before this start. */
  readonly firstStart: boolean;
  /** Where all content of a Tenant lies. */
  tenantFolder(tenant: string): string;
  /** Stops listening, answers what is running, and closes everything in order. */
  stop(): Promise<void>;
}

/** Expiries are looked at and the clock is kept once a second: expiry is exact to a second. */
const SWEEP_INTERVAL_MS = 1000;

/** Sources of time; tests put simulated ones in their place. */
export type Times = Pick<WireOptions, 'clock' | 'monotonic'>;

/** Starts the whole server. @throws ConfigError when the folder belongs to another process */
export async function start(settings: Settings, times: Times = {}): Promise<Running> {
  const started = performance.now();
  const log = pino({ level: settings.LOG_LEVEL });
  const data = resolve(settings.DATA_DIR);
  const firstStart = (await mkdir(data, { recursive: true, mode: 0o700 })) !== undefined;
  const lock = native.lockFolder(data);
  if (!lock)
    throw new ConfigError(
      `DATA_DIR=${data}: another Farthing is using this folder; stop it, or set another one`,
    );
  await checkDataVersion(data).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const stagingFolder = join(data, 'incoming');
  await rm(stagingFolder, { recursive: true, force: true });
  await mkdir(stagingFolder, { recursive: true, mode: 0o700 });
  const encoder = await openEncoder({
    modelsFolder: settings.MODELS_DIR,
    cacheFolder: settings.CACHE_DIR ? resolve(settings.CACHE_DIR) : join(data, 'cache'),
    ...(settings.QUERY_WORKERS > 0 && { queryWorkers: settings.QUERY_WORKERS }),
    ...(settings.INGEST_WORKERS > 0 && { ingestWorkers: settings.INGEST_WORKERS }),
    provider: settings.PROVIDER,
    queryQueueMax: settings.QUERY_QUEUE_MAX,
    ingestQueueMax: settings.INGEST_QUEUE_MAX,
    log: (event) => log.info(event),
    alarm: (event) => log.error(event),
  });
  // Part of every quote and link; with a free port it is known once the server listens.
  const state = {
    baseUrl: settings.BASE_URL || (settings.PORT === 0 ? '' : addressOf(settings, settings.PORT)),
  };
  const parts = await wire({
    ...times,
    settings,
    data,
    stagingFolder,
    encoder,
    log,
    baseUrl: () => state.baseUrl,
  });
  await parts.recover();
  const server = await listen({
    host: settings.HOST,
    port: settings.PORT,
    cors: new Cors(settings.CORS_ORIGINS),
    routes: allRoutes(parts.services, () => unavailableNotes(encoder)),
    onAnswered: (event) => log.info({ event: 'answered', ...event }),
    onFault: parts.services.onFault,
  });
  const url = addressOf(settings, server.port);
  state.baseUrl ||= url;
  const operator = await openOperatorSocket(data, parts.services.workspaces).catch((error: unknown) => {
    log.warn({ event: 'operator_socket_unavailable', error: String(error) });
    return undefined;
  });
  const sweeper = setInterval(() => void parts.sweep(), SWEEP_INTERVAL_MS);
  return {
    url,
    startMilliseconds: Math.round(performance.now() - started),
    port: server.port,
    log,
    encoder,
    firstStart,
    tenantFolder: (tenant) => parts.tenants.folder(tenant),
    stop: async () => {
      clearInterval(sweeper);
      parts.drain();
      await operator?.close();
      await server.close();
      await parts.close();
      await encoder.close();
      lock.release();
    },
  };
}

function addressOf({ HOST }: Settings, port: number): string {
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`;
}

function unavailableNotes({ families }: Encoder): string {
  const missing = families.filter(({ available }) => !available);
  return missing
    .map(({ family, reason }) => ` Not available on this server: ${family} (${reason}).`)
    .join('');
}

export type { Parts };
