import { statfsSync } from 'node:fs';
import type { Encoder } from '@farthing/engine/encode/encoder';
import type { IndexModels } from '@farthing/engine/encode/index-models';
import { familyReports } from '@farthing/engine/search/families';
import type { Tenants } from '@farthing/engine/shard/tenants';
import type { GasHealth } from '@farthing/payment/facilitator/facilitator';
import type { GateHealth } from '@farthing/payment/gate/gate';
import type { JournalTotals } from '@farthing/payment/records/journal';
import type { Ledger } from '@farthing/payment/records/ledger';
import { Gauge, type Registry } from 'prom-client';
import type { FrontTally } from '../fronts/shared-counts.ts';
import type { Services } from '../http/access/services.ts';
import { memoryLeft } from './memory-left.ts';

/** The sources that the gauges read at each scrape: values in memory, or one system call away. */
export interface GaugeSources {
  readonly runtime: {
    /** Absolute path of the data folder. */
    readonly data: string;
    readonly encoder: Pick<Encoder, 'queueDepths' | 'counters' | 'spaces' | 'missing' | 'fusion'>;
    readonly encoders: Pick<IndexModels, 'previousCount'>;
    readonly tenants: Pick<Tenants, 'openCount'>;
  };
  readonly books: {
    readonly ledger: Pick<Ledger, 'totals'>;
    health(): GateHealth;
    jobs(): Readonly<Record<string, number>>;
    lagMs(): number;
  };
  readonly services: Pick<Services, 'readiness'>;
  /** Requests that have no answer yet. */
  readonly running: () => number;
  /** Of each front; none where one thread answers all. */
  readonly fronts: () => readonly FrontTally[];
}

export interface GaugeDescription<Sources> {
  readonly name: string;
  readonly help: string;
  /** Name of the label; without one, the gauge has a single value. */
  readonly label?: string;
  /** The value, or values by the label's. */
  readonly read: (sources: Sources) => number | Readonly<Record<string, number>>;
}

/** Smallest units of the asset in a dollar. */
const UNITS_PER_USD = 1_000_000;

/** Every gauge, without the prefix `farthing_` of its name. */
const GAUGES: readonly GaugeDescription<GaugeSources>[] = [
  {
    name: 'ready',
    help: '1 while /readyz answers 200.',
    read: ({ services }) => Number(services.readiness().ready),
  },
  { name: 'requests_running', help: 'Requests that have no answer yet.', read: ({ running }) => running() },
  {
    name: 'front_answered',
    help: 'Searches that a front has answered by itself, by front; none where one thread answers all (FARTHING_FRONTS).',
    label: 'front',
    read: ({ fronts }) => Object.fromEntries(fronts().map(({ answered }, front) => [front, answered])),
  },
  {
    name: 'front_handed_over',
    help: 'Requests that a front has handed to the owner thread, by front.',
    label: 'front',
    read: ({ fronts }) => Object.fromEntries(fronts().map(({ handedOver }, front) => [front, handedOver])),
  },
  {
    name: 'family_available',
    help: '1 for a family that can be searched.',
    label: 'family',
    read: ({ runtime }) =>
      Object.fromEntries(
        familyReports(runtime.encoder).map(({ family, available }) => [family, Number(available)]),
      ),
  },
  {
    name: 'queue_depth',
    help: 'Calls that wait for an encoder.',
    label: 'queue',
    read: ({ runtime }) => runtime.encoder.queueDepths(),
  },
  {
    name: 'encoder_work',
    help: 'Work of the encoders since the start, by what is counted.',
    label: 'of',
    read: ({ runtime }) => ({ ...runtime.encoder.counters() }),
  },
  { name: 'tenants_open', help: 'Open indexes.', read: ({ runtime }) => runtime.tenants.openCount },
  {
    name: 'jobs',
    help: 'Ingest jobs that have not ended, by state.',
    label: 'state',
    read: ({ books }) => books.jobs(),
  },
  {
    name: 'log_lag_seconds',
    help: 'For how long the log of the books has lacked something that was written (FARTHING_CLUSTER); over 5, requests are refused.',
    read: ({ books }) => books.lagMs() / 1000,
  },
  {
    name: 'previous_models',
    help: 'Models that are open only because living indexes have them.',
    read: ({ runtime }) => runtime.encoders.previousCount,
  },
  {
    name: 'payments_running',
    help: 'Paid requests that run.',
    read: ({ books }) => books.health().running,
  },
  {
    name: 'payments_pending',
    help: 'Payments whose outcome is not known.',
    read: ({ books }) => books.health().pending,
  },
  {
    name: 'facilitator_trouble',
    help: '1 while the facilitator’s last call failed.',
    read: ({ books }) => Number(books.health().facilitator.trouble !== undefined),
  },
  {
    name: 'gas_eth',
    help: 'ETH of the wallet that pays the gas (FARTHING_FACILITATOR=self), by network.',
    label: 'network',
    read: ({ books }) => gas(books, ({ eth }) => Number(eth)),
  },
  {
    name: 'gas_settlements_left',
    help: 'Settlements that this ETH pays for at the present fees, by network.',
    label: 'network',
    read: ({ books }) => gas(books, ({ settlements_left }) => settlements_left),
  },
  {
    name: 'gas_transactions_waiting',
    help: 'Transactions of that wallet that are not mined yet, by network.',
    label: 'network',
    read: ({ books }) => gas(books, ({ waiting }) => waiting),
  },
  {
    name: 'gas_oldest_wait_seconds',
    help: 'For how long the oldest of them has waited, by network.',
    label: 'network',
    read: ({ books }) => gas(books, ({ oldest_wait_s }) => oldest_wait_s),
  },
  {
    name: 'payments',
    help: 'Payments in the ledger, by outcome.',
    label: 'kind',
    read: ({ books }) => totals(books, ({ count }) => count),
  },
  {
    name: 'payments_usd',
    help: 'Amounts in the ledger in US dollars, by outcome.',
    label: 'kind',
    read: ({ books }) => totals(books, ({ amount }) => Number(amount) / UNITS_PER_USD),
  },
  {
    name: 'memory_left',
    help: 'Share of the memory that may still be taken, of the machine or of the server’s cgroup, whichever is nearer to its end.',
    read: () => {
      const { left, limit } = memoryLeft();
      return left / limit;
    },
  },
  {
    name: 'data_free_bytes',
    help: 'Free bytes of the disk under FARTHING_DATA_DIR.',
    read: ({ runtime }) => {
      const { bavail, bsize } = statfsSync(runtime.data);
      return bavail * bsize;
    },
  },
];

/** Empty where this server settles nothing itself. */
function gas(books: GaugeSources['books'], figure: (gas: GasHealth) => number): Record<string, number> {
  const found = books.health().facilitator.gas;
  return found ? { [found.network]: figure(found) } : {};
}

function totals(
  { ledger }: GaugeSources['books'],
  figure: (total: JournalTotals[keyof JournalTotals]) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(ledger.totals()).map(([kind, total]) => [kind, figure(total)]));
}

/** Adds the gauges of each server to a registry; they are read at each scrape. */
export function addGauges(registry: Registry, sources: GaugeSources): void {
  for (const gauge of GAUGES) addGauge(registry, gauge, sources);
}

/** Adds a gauge, which is read at each scrape. */
export function addGauge<Sources>(
  registry: Registry,
  { name, help, label, read }: GaugeDescription<Sources>,
  sources: Sources,
): void {
  new Gauge({
    name: `farthing_${name}`,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      const value = read(sources);
      if (typeof value === 'number') this.set(value);
      else for (const [key, figure] of Object.entries(value)) this.set({ [label!]: key }, figure);
    },
  });
}
