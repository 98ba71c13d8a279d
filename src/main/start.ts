import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { type Encoder, type EncoderOptions, openEncoder, openFormerEncoder } from '../encode/encoder.ts';
import { Generations } from '../encode/generations.ts';
import { Cors } from '../http/cors.ts';
import { allRoutes } from '../http/routes.ts';
import { listen } from '../http/server.ts';
import { mcpEndpoint } from '../mcp/endpoint.ts';
import { native } from '../native/index.ts';
import { openAdmin } from './admin.ts';
import { ConfigError } from './config.ts';
import { checkDataVersion } from './data-version.ts';
import { answeredLine, openLog } from './log.ts';
import { readGauges } from './metrics/gauges.ts';
import { readGpuGauges } from './metrics/gpu.ts';
import { Metrics } from './metrics/metrics.ts';
import { serveMetrics } from './metrics/server.ts';
import { openOperatorSocket } from './operator-socket.ts';
import type { Settings } from './settings.ts';
import { Traffic } from './traffic.ts';
import { type Parts, type WireOptions, wire } from './wire.ts';

export interface Running {
  readonly url: string;
  readonly startMilliseconds: number;
  readonly port: number;
  /** Of the operator's page, where there is one. */
  readonly adminPort: number | undefined;
  readonly log: Logger;
  /** For benches and the operator: what the encoders did, and with how many workers. */
  readonly encoder: Pick<Encoder, 'counters' | 'workers' | 'families'>;
  /** Where Prometheus reads, if it is asked for. */
  readonly metricsUrl: string | undefined;
  /** True when nothing was stored before this start. */
  readonly firstStart: boolean;
  /** Where all content of a Tenant lies. */
  tenantFolder(tenant: string): string;
  /** Stops listening, answers what is running, and closes everything in order. Asked again: the same promise. */
  stop(): Promise<void>;
}

/** Expiries are looked at and the clock is kept once a second: expiry is exact to a second. */
const SWEEP_INTERVAL_MS = 1000;

/** Where `make console` builds the console. */
const CONSOLE_FOLDER = resolve(import.meta.dirname, '../../.build/console');

/** Sources of time; tests put simulated ones in their place. */
export type Times = Pick<WireOptions, 'clock' | 'monotonic'>;

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
      `DATA_DIR=${data}: another Farthing is using this folder; stop it, or set another one`,
    );
  await checkDataVersion(data).catch((error: unknown) => {
    lock.release();
    throw error;
  });
  const stagingFolder = join(data, 'incoming');
  await rm(stagingFolder, { recursive: true, force: true });
  await mkdir(stagingFolder, { recursive: true, mode: 0o700 });
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
    alarm: (event) => {
      metrics.logged(event);
      log.error(event);
    },
    onTask: metrics.encoded,
  };
  const encoder = await openEncoder(encoding);
  const encoders = new Generations({
    current: encoder,
    // Searches go on at full speed; a single worker adds to what is ingested meanwhile.
    open: (space) =>
      openFormerEncoder({ ...encoding, queryWorkers: encoder.workers.query, ingestWorkers: 1 }, space),
    log: encoding.log,
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
    encoders,
    log,
    metrics,
    baseUrl: () => state.baseUrl,
  });
  await parts.recover();
  const inner = { url: '' };
  const mcp = mcpEndpoint({
    innerUrl: () => inner.url,
    baseUrl: () => state.baseUrl,
    bodyBytesMax: settings.SEARCH_BODY_BYTES_MAX,
  });
  const traffic = new Traffic();
  const server = await listen({
    host: settings.HOST,
    port: settings.PORT,
    cors: new Cors(settings.CORS_ORIGINS),
    routes: allRoutes(parts.services, {
      notes: () => unavailableNotes(encoder),
      consoleFolder: settings.CONSOLE === '0' ? undefined : CONSOLE_FOLDER,
      mcp,
    }),
    onAnswered: (event) => {
      metrics.answered(event);
      traffic.count(event);
      log.info(answeredLine(event));
    },
    onFault: parts.services.onFault,
  });
  const admin = await openAdmin({
    settings,
    parts,
    traffic,
    registry: metrics.registry,
    consoleFolder: CONSOLE_FOLDER,
    log,
  });
  const url = addressOf(settings, server.port);
  state.baseUrl ||= url;
  inner.url = url;
  const operator = await openOperatorSocket(data, {
    workspaces: parts.services.workspaces,
    backup: parts.backup,
    rotateKey: parts.rotateKey,
  }).catch((error: unknown) => {
    log.warn({ event: 'operator_socket_unavailable', error: String(error) });
    return undefined;
  });
  const { gate, ingest, readiness } = parts.services;
  readGauges(metrics.registry, {
    data,
    encoder,
    tenants: parts.tenants,
    gate,
    ingest,
    reencoding: parts.reencoding,
    formerModels: () => encoders.formerCount,
    ready: () => readiness().ready,
    running: () => server.running(),
  });
  const metricsServer = await openMetrics(metrics, settings, log);
  const sweeper = setInterval(() => void parts.sweep(), SWEEP_INTERVAL_MS);
  const stop = async () => {
    clearInterval(sweeper);
    parts.drain();
    await new Promise((resume) => setTimeout(resume, 1000 * settings.STOP_NOTICE_SECONDS));
    await parts.backup.close();
    await operator?.close();
    await admin?.close();
    await server.close();
    await metricsServer?.close();
    await parts.close();
    await encoders.closeFormers();
    await encoder.close();
    lock.release();
  };
  let stopped: Promise<void> | undefined;
  return {
    url,
    startMilliseconds: Math.round(performance.now() - started),
    port: server.port,
    adminPort: admin?.port,
    log,
    encoder,
    firstStart,
    metricsUrl: metricsServer?.url,
    tenantFolder: (tenant) => parts.tenants.folder(tenant),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** A taken port costs the metrics, not the service. */
async function openMetrics(metrics: Metrics, { METRICS_HOST, METRICS_PORT }: Settings, log: Logger) {
  if (METRICS_PORT === 'off') return undefined;
  try {
    await readGpuGauges(metrics.registry);
    return await serveMetrics(metrics.registry, { host: METRICS_HOST, port: METRICS_PORT });
  } catch (error) {
    log.error({ event: 'metrics_unavailable', error: String(error) });
    return undefined;
  }
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
