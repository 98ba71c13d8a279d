import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AnswerMcp } from '../api/mcp.ts';
import type { Encoder } from '../encode/encoder.ts';
import { addGauge, addGauges } from '../metrics/gauges.ts';
import { Traffic } from '../metrics/traffic.ts';
import { native } from '../native/index.ts';
import type { Settings } from '../settings/settings.ts';
import { AllBooks } from '../wiring/all-books.ts';
import type { BooksOptions } from '../wiring/books.ts';
import { type ProcessOptions, type Runtime, wireProcess } from '../wiring/process.ts';
import { servicesOf } from '../wiring/services.ts';
import { alone, type Topology, type TopologyOptions } from '../wiring/topology.ts';
import { openInterface, openMetrics, openPage, openSocket } from './listeners.ts';
import type { StartProgress } from './terminal/progress.ts';

/** Sources of time; tests simulate them. */
export type Times = Pick<ProcessOptions, 'clock'> & Pick<BooksOptions, 'monotonic'>;

export interface ServeOptions extends Times, Omit<ProcessOptions, 'baseUrl' | 'kept'> {
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
  readonly encoder: Pick<Encoder, 'counters' | 'workers' | 'spaces' | 'missing' | 'otherLanguages'>;
  /** Where Prometheus reads, where the settings want it. */
  readonly metricsUrl: string | undefined;
  /** Resolves with what happened when another server has taken over: this one may answer nothing more. */
  readonly lost: Promise<object>;
  /** Absolute path of the folder with all content of a Tenant. */
  tenantFolder: Runtime['tenants']['folder'];
  /** Starts readers and loads the libraries of MCP, for which the first upload and the first call would otherwise wait. */
  warm(): Promise<void>;
  /** Stops listening, answers running requests, and closes everything in order. */
  stop(): Promise<void>;
}

/** Expiry is exact to a second. */
const SWEEP_INTERVAL_MS = 1000;

/** Connects the parts, finishes what a crash left, and listens. @throws ConfigError when an address cannot be had */
export async function serve({ monotonic, progress, ...options }: ServeOptions): Promise<Served> {
  const { settings, log } = options;
  progress.begin('state and indexes');
  const address = new Address(settings);
  const lost = Promise.withResolvers<object>();
  // With its lease over a server cannot take its place among the others: a start that waits for that would wait for ever.
  const orLost = <T>(work: Promise<T>) => Promise.race([work, lost.promise.then(endStart)]);
  const topology = await orLost(openTopology({ ...options, onLost: lost.resolve }));
  const runtime = await wireProcess({ ...options, kept: topology.keeper, baseUrl: () => address.base });
  const placement = topology.place(runtime, { ...(monotonic && { monotonic }) });
  const books = new AllBooks(runtime, placement);
  await books.recover();
  progress.begin('console, API and MCP');
  const services = servicesOf(runtime, books, placement.front);
  const forward = topology.forward((some) => servicesOf(runtime, books, some));
  const traffic = new Traffic();
  const mcp = mcpAnswer(address);
  const deps = { runtime, books, services, forward, mcp: mcp.answer };
  const server = await openInterface(deps, traffic);
  address.listensAt(server.port);
  const page = await openPage(deps, traffic);
  const socket = await openSocket(deps);
  const { registry } = runtime.metrics;
  addGauges(registry, { runtime, books, services, running: () => server.running() });
  for (const gauge of topology.gauges) addGauge(registry, gauge, undefined);
  const metricsServer = await openMetrics(runtime);
  const sweeper = setInterval(() => void books.sweep(), SWEEP_INTERVAL_MS);
  let warming: Promise<void> | undefined;
  const warm = () => {
    warming ??= (async () => {
      await runtime.extractor.warm();
      if (!runtime.draining.signal.aborted) await mcp.load().catch(() => undefined);
      native.returnFreeMemory();
    })();
    return warming;
  };
  await orLost(placement.start(warm));
  return {
    url: address.own,
    port: server.port,
    adminPort: page?.port,
    log,
    encoder: runtime.encoder,
    metricsUrl: metricsServer?.url,
    lost: lost.promise,
    tenantFolder: (tenant) => runtime.tenants.folder(tenant),
    warm,
    stop: async () => {
      runtime.draining.abort();
      // The others answer what this one had, and this one passes on what still comes.
      await placement.leave();
      clearInterval(sweeper);
      await pause(1000 * settings.STOP_NOTICE_SECONDS);
      // Requests that follow a job or wait for one would keep the server until the job's end; it continues at the next start.
      books.stopWaiting();
      forward.endStreams();
      for (const part of [books.backup, socket, page, server, forward, metricsServer]) await part?.close();
      await books.endWork();
      await runtime.closeReaders();
      await books.close();
      await runtime.close();
    },
  };
}

function endStart(lost: object): never {
  throw new Error(`books were lost during the start: ${JSON.stringify(lost)}`);
}

/** One server's own, or that of several, whose code is loaded with the setting alone. @throws ConfigError */
async function openTopology(options: TopologyOptions): Promise<Topology> {
  const { settings, bookFolders } = options;
  // A backup of several servers is served by one, with as many sets of books.
  if (settings.CLUSTER === '' && bookFolders.length === 1) return alone(options);
  const { openCluster } = await import('../cluster/open.ts');
  return openCluster(options);
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
