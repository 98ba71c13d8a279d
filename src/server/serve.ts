import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AnswerMcp } from '../api/mcp.ts';
import { openBooks } from '../cluster/books/open-books.ts';
import { Slots } from '../cluster/books/slots.ts';
import type { KeptContent } from '../cluster/content/kept-content.ts';
import { Forwarding } from '../cluster/forward/forwarding.ts';
import type { SlotStore } from '../cluster/log/recorded-store.ts';
import type { SharedSlots } from '../cluster/ownership/shared-slots.ts';
import type { Encoder } from '../encode/encoder.ts';
import type { Services, ServicesBySlot } from '../http/access/services.ts';
import { addGauges } from '../metrics/gauges.ts';
import { Traffic } from '../metrics/traffic.ts';
import type { Settings } from '../settings/settings.ts';
import { slotOf } from '../state/slots.ts';
import type { Slot, SlotOptions } from '../wiring/books.ts';
import {
  eventLog,
  keysFolder,
  type ProcessOptions,
  type Runtime,
  tenantsFolder,
  wireProcess,
} from '../wiring/process.ts';
import { servicesOf } from '../wiring/services.ts';
import { openInterface, openMetrics, openPage, openSocket } from './listeners.ts';
import type { StartProgress } from './terminal/progress.ts';

/** Sources of time; tests simulate them. */
export type Times = Pick<ProcessOptions, 'clock'> & Pick<SlotOptions, 'monotonic'>;

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
  readonly encoder: Pick<Encoder, 'counters' | 'workers' | 'spaces' | 'missing'>;
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
  const onLost = (slot: number, error: unknown) => lost.resolve({ slot, error: String(error) });
  // With its lease over a server cannot take its place among the others: a start that waits for that would wait for ever.
  const orLost = <T>(work: Promise<T>) => Promise.race([work, lost.promise.then(endStart)]);
  const books = await orLost(openBooks(options, onLost));
  const kept = await openKept(options, books.stores ?? []).catch(async (error: unknown) => {
    await books.close();
    throw error;
  });
  const runtime = await wireProcess({ ...options, kept, baseUrl: () => address.base });
  const { sharing } = books;
  const slots = new Slots(runtime, { ...books, ...sharing, monotonic });
  const shared = sharing?.with({ slots, kept: kept!, tenants: runtime.tenants, onLost });
  await slots.recover();
  progress.begin('console, API and MCP');
  const services = servicesBySlot(runtime, slots, shared);
  const traffic = new Traffic();
  const mcp = mcpAnswer(address);
  const forwarding =
    sharing && new Forwarding({ ...sharing, slots: services, observe: runtime.metrics.forwarded });
  const peers = forwarding && { forwarding, signatures: sharing.signatures };
  const deps = { runtime, slots, services, mcp: mcp.answer, ...(peers && { peers }) };
  const server = await openInterface(deps, traffic);
  address.listensAt(server.port);
  const page = await openPage(deps, traffic);
  const socket = await openSocket(deps);
  const { registry } = runtime.metrics;
  addGauges(registry, { runtime, slots, services: services.front, running: () => server.running() });
  const metricsServer = await openMetrics(runtime);
  const sweeper = setInterval(() => void slots.sweep(), SWEEP_INTERVAL_MS);
  let warming: Promise<void> | undefined;
  const warm = () => {
    warming ??= (async () => {
      await runtime.extractor.warm();
      if (!runtime.draining.signal.aborted) await mcp.load().catch(() => undefined);
    })();
    return warming;
  };
  if (shared) await orLost(shared.start(warm));
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
      await shared?.leave();
      clearInterval(sweeper);
      await pause(1000 * settings.STOP_NOTICE_SECONDS);
      // Requests that follow a job or wait for one would keep the server until the job's end; it continues at the next start.
      slots.stopWaiting();
      forwarding?.endStreams();
      for (const part of [slots.backup, socket, page, server, forwarding, metricsServer]) await part?.close();
      await slots.endWork();
      await runtime.closeReaders();
      await slots.close();
      await shared?.close();
      await sharing?.left();
      await runtime.close();
    },
  };
}

function endStart(lost: object): never {
  throw new Error(`slots were lost during the start: ${JSON.stringify(lost)}`);
}

/** Where the settings name an object store: what keeps the Tenants' content there. */
async function openKept(
  { settings, data, slotFolders, encoder, log, metrics }: Omit<ServeOptions, 'progress'>,
  stores: readonly SlotStore[],
): Promise<KeptContent | undefined> {
  if (settings.OBJECTS === '') {
    if (settings.CLUSTER === '') return undefined;
    const { refuseWithoutObjects } = await import('../cluster/content/books-with-objects.ts');
    for (const store of stores) refuseWithoutObjects(store);
    return undefined;
  }
  const { openKeptContent } = await import('../cluster/content/kept-content.ts');
  return openKeptContent({
    settings,
    stores,
    tenantsFolders: slotFolders.map(tenantsFolder),
    keysFolder: keysFolder(data),
    spaces: encoder.spaces,
    log: eventLog(metrics, log),
    onCalled: metrics.objectsCalled,
  });
}

function servicesBySlot(runtime: Runtime, slots: Slots, shared?: SharedSlots): ServicesBySlot {
  const made = new WeakMap<Slot, Services>();
  const of = (slot: Slot) => {
    const services = made.get(slot) ?? servicesOf(runtime, slots, slot);
    made.set(slot, services);
    return services;
  };
  return {
    front: of(slots.front),
    isOne: !shared && slots.count === 1,
    of: (id) => {
      const slot = slots.find(id);
      return slot ? { services: of(slot) } : shared!.whereElse(slotOf(id, slots.count));
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
