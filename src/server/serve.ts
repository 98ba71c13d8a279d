import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Encoder, EncoderOptions } from '../encode/encoder.ts';
import { ModelVersions } from '../encode/model-versions.ts';
import { openFormerEncoder } from '../encode/open-encoder.ts';
import { Cors } from '../http/exchange/cors.ts';
import { listenAt } from '../http/listen-at.ts';
import { allRoutes } from '../http/routes/all-routes.ts';
import type { McpAnswer } from '../http/routes/mcp.ts';
import { readGauges } from '../metrics/gauges.ts';
import { readGpuGauges } from '../metrics/gpu.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { serveMetrics } from '../metrics/server.ts';
import { Traffic } from '../metrics/traffic.ts';
import { openAdmin } from '../operator/running/operator-page.ts';
import { openOperatorSocket } from '../operator/running/operator-socket.ts';
import type { Settings } from '../settings/settings.ts';
import { answeredLine } from './log.ts';
import { type WireOptions, wire } from './wire-slot.ts';

/** Sources of time; tests put simulated ones in their place. */
export type Times = Pick<WireOptions, 'clock' | 'monotonic'>;

export interface ServeOptions
  extends Times,
    Pick<WireOptions, 'settings' | 'data' | 'stagingFolder' | 'log' | 'metrics'> {
  /** Open and warm; it belongs to the server from now on. */
  readonly encoder: Encoder;
  /** How it was opened: models that filled indexes before are opened the same way. */
  readonly encoding: EncoderOptions;
}

/** A server that answers. */
export interface Served {
  readonly url: string;
  readonly port: number;
  /** Of the operator's page, where there is one. */
  readonly adminPort: number | undefined;
  readonly log: Logger;
  /** For benches and the operator: what the encoders did, and with how many workers. */
  readonly encoder: Pick<Encoder, 'counters' | 'workers' | 'families'>;
  /** Where Prometheus reads, if it is asked for. */
  readonly metricsUrl: string | undefined;
  /** Where all content of a Tenant lies. */
  tenantFolder(tenant: string): string;
  /** Stops listening, answers what is running, and closes everything in order. */
  stop(): Promise<void>;
}

/** Expiries are looked at and the clock is kept once a second: expiry is exact to a second. */
const SWEEP_INTERVAL_MS = 1000;

/** After the first start's demo has asked its questions. */
const MCP_OPENED_AFTER_MS = 3000;

/** Where `make console` builds the console. */
const CONSOLE_FOLDER = resolve(import.meta.dirname, '../../.build/console');

/** Connects the parts, finishes what a crash left, and listens. */
export async function serve({ encoder, encoding, ...rest }: ServeOptions): Promise<Served> {
  const { settings, data, log, metrics } = rest;
  const encoders = new ModelVersions({
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
    ...rest,
    encoders,
    baseUrl: () => state.baseUrl,
  });
  await parts.recover();
  const inner = { url: '' };
  const mcp = openedLater(async () => {
    const { mcpEndpoint } = await import('../mcp/endpoint.ts');
    return mcpEndpoint({
      innerUrl: () => inner.url,
      baseUrl: () => state.baseUrl,
    });
  });
  const traffic = new Traffic();
  const server = await listenAt(['HOST', 'PORT'], {
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
    // Who follows a job, or waits for one, would keep the server until its end; it goes on at the next start.
    ingest.stopWaiting();
    await parts.backup.close();
    await operator?.close();
    await admin?.close();
    await server.close();
    await metricsServer?.close();
    await parts.close();
    await encoders.closeFormers();
    await encoder.close();
  };
  return {
    url,
    port: server.port,
    adminPort: admin?.port,
    log,
    encoder,
    metricsUrl: metricsServer?.url,
    tenantFolder: (tenant) => parts.tenants.folder(tenant),
    stop,
  };
}

/** The tools' libraries are as large as the rest together: they are loaded a moment after the start, or when they are first asked for. */
function openedLater(open: () => Promise<McpAnswer>): McpAnswer {
  let opening: Promise<McpAnswer> | undefined;
  const opened = () => {
    opening ??= open();
    return opening;
  };
  setTimeout(() => void opened().catch(() => undefined), MCP_OPENED_AFTER_MS).unref();
  return async (request, sent, left) => (await opened())(request, sent, left);
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
