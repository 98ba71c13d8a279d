import { setTimeout as pause } from 'node:timers/promises';
import type { Encoder } from '@farthing/engine/encode/encoder';
import { native } from '@farthing/native';
import type { AnswerMcp } from '@farthing/protocol/schema/mcp';
import type { Logger } from 'pino';
import { addGauge, addGauges } from '../metrics/gauges.ts';
import type { LoadClusterTools } from '../operator/cluster-tools.ts';
import type { Settings } from '../settings/settings.ts';
import { AllBooks } from '../wiring/all-books.ts';
import type { BooksOptions } from '../wiring/books.ts';
import { type ProcessOptions, type Runtime, wireProcess } from '../wiring/process.ts';
import { servicesOf } from '../wiring/services.ts';
import { alone, type OpenTopology, type Topology, type TopologyOptions } from '../wiring/topology.ts';
import { openFronts, openInterface, openMetrics, openPage, openSocket } from './listeners.ts';
import type { StartProgress } from './terminal/progress.ts';

/** Sources of time; tests simulate them. */
export type Times = Pick<ProcessOptions, 'clock'> & Pick<BooksOptions, 'monotonic'>;

export interface ServeOptions extends Times, Omit<ProcessOptions, 'baseUrl' | 'kept'> {
  readonly progress: StartProgress;
  readonly cluster: Cluster;
}

/** Several servers: the parts of another package, loaded when they are needed. */
export interface Cluster {
  readonly open: OpenTopology;
  readonly tools: LoadClusterTools;
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
  /** Where Prometheus reads; undefined if the metrics are off. */
  readonly metricsUrl: string | undefined;
  /** Resolves with an event for the log once another server has taken over: this one must not answer any more. */
  readonly lost: Promise<object>;
  /** Absolute path of the folder with all content of a Tenant. */
  tenantFolder: Runtime['tenants']['folder'];
  /** A key for the operator's own agents, named `first`; undefined where there are keys already, or several servers. */
  firstKey(): Promise<string | undefined>;
  /** Starts readers and loads the MCP libraries, so that the first upload and the first call need not wait for them. */
  warm(): Promise<void>;
  /** Stops listening, answers running requests, and closes everything in order. */
  stop(): Promise<void>;
}

/** Expiry is exact to a second. */
const SWEEP_INTERVAL_MS = 1000;

/** Connects the parts, recovers from a crash, and listens. @throws ConfigError when an address is taken or not this machine's */
export async function serve({ monotonic, progress, cluster, ...options }: ServeOptions): Promise<Served> {
  const { settings, log } = options;
  progress.begin('state and indexes');
  const address = new Address(settings);
  const lost = Promise.withResolvers<object>();
  // Once its lease has ended, a server gets no slots: a start that waits for them would never end.
  const orLost = <T>(work: Promise<T>) => Promise.race([work, lost.promise.then(endStart)]);
  const topology = await orLost(openTopology({ ...options, onLost: lost.resolve }, cluster.open));
  const runtime = await wireProcess({ ...options, kept: topology.keeper, baseUrl: () => address.base });
  const placement = topology.place(runtime, { ...(monotonic && { monotonic }) });
  const books = new AllBooks(runtime, placement);
  await books.recover();
  progress.begin('console, API and MCP');
  const services = servicesOf(runtime, books, placement.front);
  const forward = topology.forward((some) => servicesOf(runtime, books, some));
  const mcp = mcpAnswer(address);
  const deps = { runtime, books, services, forward, mcp: mcp.answer, cluster: cluster.tools };
  const fronts = await openFronts(deps);
  const server = await openInterface(deps);
  fronts?.connect(server);
  address.listensAt(server.port);
  const page = await openPage(deps);
  const socket = await openSocket(deps);
  const { registry } = runtime.metrics;
  const tallies = () => fronts?.tallies() ?? [];
  const running = () => tallies().reduce((sum, front) => sum + front.running, server.running());
  addGauges(registry, { runtime, books, services, running, fronts: tallies });
  for (const gauge of topology.gauges) addGauge(registry, gauge, undefined);
  const metricsServer = await openMetrics(runtime, fronts);
  const sweeper = setInterval(() => {
    fronts?.tick();
    void books.sweep();
  }, SWEEP_INTERVAL_MS);
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
    url: address.listening,
    port: server.port,
    adminPort: page?.port,
    log,
    encoder: runtime.encoder,
    metricsUrl: metricsServer?.url,
    lost: lost.promise,
    tenantFolder: (tenant) => runtime.tenants.folder(tenant),
    firstKey: async () =>
      services.house?.list().length === 0
        ? services.house.create({ name: 'first', may: 'admin' })
        : undefined,
    warm,
    stop: async () => {
      runtime.draining.abort();
      // From here other servers own the slots, and this one forwards what still arrives.
      await placement.leave();
      clearInterval(sweeper);
      await pause(1000 * settings.STOP_NOTICE_SECONDS);
      // Requests that wait for a job would delay the stop until its end. The job continues at the next start.
      books.stopWaiting();
      forward.endStreams();
      const api = { close: () => server.close(() => fronts?.drained()) };
      for (const part of [books.backup, socket, page, api, fronts, forward, metricsServer])
        await part?.close();
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

/** The topology of one server or, with `FARTHING_CLUSTER`, of several; which the program hands over. @throws ConfigError */
async function openTopology(options: TopologyOptions, openSeveral: OpenTopology): Promise<Topology> {
  const { settings, bookFolders } = options;
  // A restored backup of a cluster has several stores, which one server serves.
  if (settings.CLUSTER === '' && bookFolders.length === 1) return alone(options);
  return openSeveral(options);
}

/** The server's URLs. With port 0 they are known once it listens. */
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
  get listening(): string {
    const { HOST } = this.#settings;
    if (this.#port === 0) return '';
    return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${this.#port}`;
  }

  /** Public URL: part of every quote and link. */
  get base(): string {
    return this.#settings.BASE_URL || this.listening;
  }
}

/** The MCP libraries are as large as all other code: they are loaded after the start, or by the first call. */
function mcpAnswer(address: Address): { readonly answer: AnswerMcp; load(): Promise<AnswerMcp> } {
  let loading: Promise<AnswerMcp> | undefined;
  const open = async () => {
    const { mcpEndpoint } = await import('@farthing/mcp/endpoint');
    return mcpEndpoint({
      innerUrl: () => address.listening,
      baseUrl: () => address.base,
    });
  };
  const load = () => {
    loading ??= open();
    return loading;
  };
  return { load, answer: async (request, sent, left) => (await load())(request, sent, left) };
}
