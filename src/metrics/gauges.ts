import { statfsSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import type { Encoder } from '../encode/encoder.ts';
import type { ModelVersions } from '../encode/model-versions.ts';
import type { Services } from '../http/access/services.ts';
import type { ReencodingProgress } from '../ingest/reencoding/reencoding.ts';
import type { GateHealth } from '../payment/gate/gate.ts';
import type { JournalTotals } from '../payment/records/journal.ts';
import type { Ledger } from '../payment/records/ledger.ts';
import { familyReports } from '../search/families.ts';
import type { Tenants } from '../shard/tenants.ts';

/** What the gauges read at each scrape: values in memory, or one system call away. */
export interface GaugeSources {
  readonly runtime: {
    /** Absolute path of the data folder. */
    readonly data: string;
    readonly encoder: Pick<Encoder, 'queueDepths' | 'counters' | 'spaces' | 'missing' | 'fusion'>;
    readonly encoders: Pick<ModelVersions, 'previousCount'>;
    readonly tenants: Pick<Tenants, 'openCount'>;
  };
  readonly slots: {
    readonly ledger: Pick<Ledger, 'totals'>;
    health(): GateHealth;
    jobs(): Readonly<Record<string, number>>;
    lagMs(): number;
    /** Of this server. */
    readonly all: readonly unknown[];
    /** That no server has. */
    unowned(): number;
    /** What is followed of other servers' slots; undefined where none has any. */
    standby():
      | {
          readonly slots: number;
          readonly lagMs: number;
          readonly indexes: {
            readonly current: number;
            readonly behind: number;
            readonly left_out: number;
            readonly bytes: number;
          };
        }
      | undefined;
    reencoding(): ReencodingProgress | undefined;
  };
  readonly services: Pick<Services, 'readiness'>;
  /** Requests that have no answer yet. */
  readonly running: () => number;
}

interface GaugeDescription {
  readonly name: string;
  readonly help: string;
  /** Name of the label; without one, the gauge has a single value. */
  readonly label?: string;
  /** The value, or values by the label's. */
  readonly read: (sources: GaugeSources) => number | Readonly<Record<string, number>>;
}

/** Smallest units of the asset in a dollar. */
const UNITS_PER_USD = 1_000_000;

/** Shown while no model is being changed. */
const NO_REENCODING = { tenants_left: 0, segments_done: 0, segments_given_up: 0, tenants_failed: 0 };

/** Every gauge, without the prefix `farthing_` of its name. */
const GAUGES: readonly GaugeDescription[] = [
  {
    name: 'ready',
    help: '1 while /readyz answers 200.',
    read: ({ services }) => Number(services.readiness().ready),
  },
  { name: 'slots', help: 'Slots that this server answers for.', read: ({ slots }) => slots.all.length },
  {
    name: 'slots_unowned',
    help: 'Slots that no server answers for, as this server sees it.',
    read: ({ slots }) => slots.unowned(),
  },
  {
    name: 'standby_slots',
    help: 'Slots of other servers that this one follows.',
    read: ({ slots }) => slots.standby()?.slots ?? 0,
  },
  {
    name: 'standby_lag_seconds',
    help: 'For how long the copy of books that is furthest behind has lacked something, as far as is known.',
    read: ({ slots }) => (slots.standby()?.lagMs ?? 0) / 1000,
  },
  {
    name: 'standby_indexes',
    help: 'Indexes of the slots that are followed: current, behind, or left out for lack of space.',
    label: 'state',
    read: ({ slots }) => {
      const { current = 0, behind = 0, left_out = 0 } = slots.standby()?.indexes ?? {};
      return { current, behind, left_out };
    },
  },
  {
    name: 'standby_bytes',
    help: 'Bytes of these indexes on this disk (FARTHING_STANDBY_BYTES_MAX).',
    read: ({ slots }) => slots.standby()?.indexes.bytes ?? 0,
  },
  { name: 'requests_running', help: 'Requests that have no answer yet.', read: ({ running }) => running() },
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
    name: 'encoder_count',
    help: 'Work of the encoders since the start, by what is counted.',
    label: 'of',
    read: ({ runtime }) => ({ ...runtime.encoder.counters() }),
  },
  { name: 'tenants_open', help: 'Open indexes.', read: ({ runtime }) => runtime.tenants.openCount },
  {
    name: 'jobs',
    help: 'Ingest jobs that have not ended, by state.',
    label: 'state',
    read: ({ slots }) => slots.jobs(),
  },
  {
    name: 'log_lag_seconds',
    help: 'For how long the log of the books has lacked something that was written (FARTHING_CLUSTER); over 5, requests are refused.',
    read: ({ slots }) => slots.lagMs() / 1000,
  },
  {
    name: 'previous_models',
    help: 'Models that are loaded only because they filled indexes.',
    read: ({ runtime }) => runtime.encoders.previousCount,
  },
  {
    name: 'former_models',
    help: 'The same as farthing_previous_models, for this release.',
    read: ({ runtime }) => runtime.encoders.previousCount,
  },
  {
    name: 'reencoding',
    help: 'Progress of a change of model, by what is counted.',
    label: 'of',
    read: ({ slots }) => ({ ...(slots.reencoding() ?? NO_REENCODING) }),
  },
  {
    name: 'payments_running',
    help: 'Paid requests that run.',
    read: ({ slots }) => slots.health().running,
  },
  {
    name: 'payments_pending',
    help: 'Payments whose outcome is not known.',
    read: ({ slots }) => slots.health().pending,
  },
  {
    name: 'facilitator_trouble',
    help: '1 while the facilitator’s last call failed.',
    read: ({ slots }) => Number(slots.health().facilitator.trouble !== undefined),
  },
  {
    name: 'payments',
    help: 'Payments in the ledger, by outcome.',
    label: 'kind',
    read: ({ slots }) => totals(slots, ({ count }) => count),
  },
  {
    name: 'payments_usd',
    help: 'Amounts in the ledger in US dollars, by outcome.',
    label: 'kind',
    read: ({ slots }) => totals(slots, ({ amount }) => Number(amount) / UNITS_PER_USD),
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

function totals(
  { ledger }: GaugeSources['slots'],
  figure: (total: JournalTotals[keyof JournalTotals]) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(ledger.totals()).map(([kind, total]) => [kind, figure(total)]));
}

/** Adds the gauges to a registry; they are read at each scrape. */
export function addGauges(registry: Registry, sources: GaugeSources): void {
  for (const { name, help, label, read } of GAUGES) {
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
}
