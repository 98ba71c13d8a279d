import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AnswerMcp } from '../api/mcp.ts';
import type { Encoder } from '../encode/encoder.ts';
import { addGauges } from '../metrics/gauges.ts';
import { Traffic } from '../metrics/traffic.ts';
import type { Settings } from '../settings/settings.ts';
import { openInterface, openMetrics, openPage, openSocket } from './listeners.ts';
import { servicesOf } from './services.ts';
import type { StartProgress } from './terminal/progress.ts';
import { type ProcessOptions, wireProcess } from './wire-process.ts';
import { type Slot, type SlotOptions, wireSlot } from './wire-slot.ts';

/** Sources of time; tests simulate them. */
export type Times = Pick<SlotOptions, 'clock' | 'monotonic'>;

export interface ServeOptions extends Times, Omit<ProcessOptions, 'baseUrl'> {
  readonly progress: StartProgress;
}

/** A server that answers. */
export interface Served {
  readonly url: string;
  readonly port: number;
  /** Port of the operator's page, where there is one. */
  readonly adminPort: number | undefined;
  readonly log: Logger;
  /** For benches and the operator: what the encoders serve, their counts and their numbers of workers. */
  readonly encoder: Pick<Encoder, 'counters' | 'workers' | 'spaces' | 'missing'>;
  /** Where Prometheus reads, where the settings want it. */
  readonly metricsUrl: string | undefined;
  /** Absolute path of the folder with all content of a Tenant. */
  tenantFolder: Slot['tenants']['folder'];
  /** Starts readers and loads the libraries of MCP, for which the first upload and the first call would otherwise wait. */
  warm(): Promise<void>;
  /** Stops listening, answers running requests, and closes everything in order. */
  stop(): Promise<void>;
}

/** Expiry is exact to a second. */
const SWEEP_INTERVAL_MS = 1000;

/** Connects the parts, finishes what a crash left, and listens. @throws ConfigError when an address cannot be had */
export async function serve({ clock, monotonic, progress, ...options }: ServeOptions): Promise<Served> {
  const { settings, data, log } = options;
  progress.begin('state and indexes');
  const address = new Address(settings);
  const runtime = await wireProcess({ ...options, baseUrl: () => address.base });
  const slot = wireSlot({ runtime, folder: data, clock, monotonic });
  await slot.recover();
  progress.begin('console, API and MCP');
  const services = servicesOf(runtime, slot);
  const traffic = new Traffic();
  const mcp = mcpAnswer(address);
  const deps = { runtime, slot, services, mcp: mcp.answer };
  const server = await openInterface(deps, traffic);
  address.listensAt(server.port);
  const page = await openPage(deps, traffic);
  const socket = await openSocket(deps);
  addGauges(runtime.metrics.registry, { runtime, slot, services, running: () => server.running() });
  const metricsServer = await openMetrics(runtime);
  const sweeper = setInterval(() => void slot.sweep(), SWEEP_INTERVAL_MS);
  return {
    url: address.own,
    port: server.port,
    adminPort: page?.port,
    log,
    encoder: runtime.encoder,
    metricsUrl: metricsServer?.url,
    tenantFolder: (tenant) => slot.tenants.folder(tenant),
    warm: async () => {
      await runtime.extractor.warm();
      if (!runtime.draining.signal.aborted) await mcp.load().catch(() => undefined);
    },
    stop: async () => {
      clearInterval(sweeper);
      runtime.draining.abort();
      await pause(1000 * settings.STOP_NOTICE_SECONDS);
      // Requests that follow a job or wait for one would keep the server until the job's end; it continues at the next start.
      services.ingest.stopWaiting();
      for (const part of [slot.backup, socket, page, server, metricsServer]) await part?.close();
      await slot.endWork();
      await runtime.closeReaders();
      await slot.close();
      await runtime.close();
    },
  };
}

/** The server's addresses: with a free port they are known once it listens. */
class Address {
  readonly #settings: Settings;
  #port: number;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#port = settings.PORT;
  }

  listensAt(port: number): void {
    this.#port = port;
  }

  /** URL at which this process listens; empty until it is known. */
  get own(): string {
    const { HOST } = this.#settings;
    if (this.#port === 0) return '';
    return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${this.#port}`;
  }

  /** Public URL: part of every quote and link. */
  get base(): string {
    return this.#settings.BASE_URL || this.own;
  }
}

/** The libraries of MCP are as large as the rest together: they are loaded after the start, or by the first call. */
function mcpAnswer(address: Address): { readonly answer: AnswerMcp; load(): Promise<AnswerMcp> } {
  let loading: Promise<AnswerMcp> | undefined;
  const open = async () => {
    const { mcpEndpoint } = await import('../mcp/endpoint.ts');
    return mcpEndpoint({
      innerUrl: () => address.own,
      baseUrl: () => address.base,
    });
  };
  const load = () => {
    loading ??= open();
    return loading;
  };
  return { load, answer: async (request, sent, left) => (await load())(request, sent, left) };
}
