import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Encoder } from '@farthing/engine/encode/encoder';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { loadUws, type Server } from '../http/exchange/server.ts';
import type { Settings } from '../settings/settings.ts';
import { type FrontDeps, FrontThread } from './front-thread.ts';
import type { FrontMetrics } from './messages.ts';
import { FRONTS_MAX, type FrontTally } from './shared-counts.ts';

/** Fewer processors are busy with one event loop and the encoder. */
const PROCESSORS_MIN = 8;
/** A front that ended sooner is started again only after so long. */
const LIVED_MS_MIN = 5000;

/** Number of fronts, and why there is but one where more were asked for. */
export function frontsFor(
  { FRONTS, CLUSTER }: Pick<Settings, 'FRONTS' | 'CLUSTER'>,
  { isAlone, encoder }: { readonly isAlone: boolean; readonly encoder: Pick<Encoder, 'shared'> },
): { readonly count: number; readonly reason?: string } {
  const processors = availableParallelism();
  const automatic = processors < PROCESSORS_MIN ? 1 : Math.min(FRONTS_MAX, Math.floor(processors / 2));
  const count = FRONTS || automatic;
  if (count === 1) return { count };
  const reason =
    CLUSTER !== '' || !isAlone
      ? 'with several servers, or slots, one thread answers'
      : encoder.shared
        ? undefined
        : 'another than the native encoder takes part in queries of words';
  if (reason === undefined) return { count };
  return FRONTS > 1 ? { count: 1, reason } : { count: 1 };
}

export interface FrontsDeps extends FrontDeps {
  /** The owner's clock of rented time. */
  readonly clock: () => { readonly rentedMs: number; readonly aheadMs: number };
}

/** The front threads of this process. The owner, which is the thread that made them, answers what they hand over. */
export class Fronts {
  readonly #deps: FrontsDeps;
  readonly #all: FrontThread[] = [];
  readonly #retired: FrontMetrics[] = [];
  #server: Server | undefined;
  #isStopping = false;

  private constructor(deps: FrontsDeps) {
    this.#deps = deps;
  }

  /** Starts them; they get connections from `connect` on. */
  static async start(deps: FrontsDeps): Promise<Fronts> {
    // A worker's variables are a copy, which a library does not see: it is loaded here first.
    await loadUws();
    const fronts = new Fronts(deps);
    fronts.tick();
    deps.grants.connect(() => fronts.#flush());
    const { memory } = deps.settings;
    await Promise.all(Array.from({ length: memory.fronts }, (_, number) => fronts.#start(number)));
    return fronts;
  }

  /** A server accepts connections for them, and answers what they hand over. */
  connect(server: Server): void {
    this.#server = server;
    for (const front of this.#all) front.connect(server);
  }

  /** Called once a second: the clock of rented time may have been set. */
  tick(): void {
    const { rentedMs, aheadMs } = this.#deps.clock();
    this.#deps.counts.setClock(rentedMs, aheadMs);
  }

  /** Fronts that run. */
  get count(): number {
    return this.#all.filter(Boolean).length;
  }

  /** Requests of each front since its start. */
  tallies(): FrontTally[] {
    const { counts, settings } = this.#deps;
    return Array.from({ length: settings.memory.fronts }, (_, front) => counts.tally(front));
  }

  /** The server's metrics with those of all fronts, as Prometheus reads them. */
  async metrics(own: Registry): Promise<string> {
    const counted = await Promise.all(this.#all.map((front) => front?.metrics()));
    const all = [...this.#retired, ...counted.flatMap((metrics) => (metrics ? [metrics] : []))];
    // What is of the process alone would be left out of a sum of several processes.
    const server = (await own.getMetricsAsJSON()).map((metric) =>
      String(metric.aggregator) === 'omit' ? { ...metric, aggregator: 'first' } : metric,
    );
    return AggregatorRegistry.aggregate([server, ...all] as object[]).metrics();
  }

  /** Resolves when every running request of a front has its answer, and none begins on a connection that stays. */
  async drained(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#all.map((front) => front?.drained()));
  }

  /** Ends them. */
  async close(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#all.map((front) => front?.end()));
  }

  async #flush(): Promise<void> {
    await Promise.all(this.#all.map((front) => front?.flush()));
  }

  async #start(number: number): Promise<void> {
    const started = performance.now();
    const front = new FrontThread(number, this.#deps, (lost) => {
      delete this.#all[number];
      if (lost.lastMetrics) this.#retire(lost.lastMetrics);
      if (!this.#isStopping) void this.#startAgain(number, performance.now() - started);
    });
    await front.ready;
    this.#all[number] = front;
    if (this.#server) front.connect(this.#server);
  }

  async #startAgain(number: number, livedMs: number): Promise<void> {
    await pause(Math.max(0, LIVED_MS_MIN - livedMs), undefined, { ref: false });
    if (this.#isStopping) return;
    try {
      await this.#start(number);
      this.#deps.log({ event: 'front_started', front: number });
      if (this.#isStopping) await this.#all[number]?.end();
    } catch (error) {
      this.#deps.log({ event: 'front_not_started', front: number, error: String(error) });
      if (!this.#isStopping) void this.#startAgain(number, 0);
    }
  }

  /** Counters never go back. */
  #retire(metrics: FrontMetrics): void {
    this.#retired.push(metrics);
  }
}
