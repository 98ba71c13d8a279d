import { statfsSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import type { Encoder } from '../encode/encoder.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Reencoding } from '../ingest/reencoding/reencoding.ts';
import type { PaymentGate } from '../payment/gate/gate.ts';
import type { Tenants } from '../shard/tenants.ts';

/** Parts that are asked for their state at each scrape; all of it is at hand in memory or one look away. */
export interface GaugeSources {
  readonly data: string;
  readonly encoder: Pick<Encoder, 'queueDepths' | 'counters' | 'families'>;
  readonly tenants: Pick<Tenants, 'openCount'>;
  readonly gate: Pick<PaymentGate, 'health' | 'journal'>;
  readonly ingest: Pick<Ingest, 'depths'>;
  readonly reencoding: Pick<Reencoding, 'progress'>;
  /** Models that are loaded because an index needs them still. */
  readonly formerModels: () => number;
  readonly ready: () => boolean;
  /** Requests that have no answer yet. */
  readonly running: () => number;
}

/** Smallest units of the asset in a dollar. */
const UNITS_PER_USD = 1_000_000;

/** Adds the gauges to a registry. */
export function readGauges(registry: Registry, sources: GaugeSources): void {
  const { encoder, gate, ingest, tenants } = sources;
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    read: (gauge: Gauge<L>) => void,
  ) =>
    new Gauge({
      name: `farthing_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        read(this as Gauge<L>);
      },
    });
  gauge('ready', '1 when /readyz says yes.', [], (g) => g.set(Number(sources.ready())));
  gauge('requests_running', 'Requests that have no answer yet.', [], (g) => g.set(sources.running()));
  gauge('family_available', '1 for a family that can be searched.', ['family'], (g) => {
    for (const { family, available } of encoder.families) g.set({ family }, Number(available));
  });
  gauge('queue_depth', 'Calls that wait for an encoder.', ['queue'], (g) => {
    for (const [queue, depth] of Object.entries(encoder.queueDepths())) g.set({ queue }, depth);
  });
  gauge('encoder_count', 'What the encoders have done since the start, by what is counted.', ['of'], (g) => {
    for (const [of, count] of Object.entries(encoder.counters())) g.set({ of }, count);
  });
  gauge('tenants_open', 'Indexes that are open.', [], (g) => g.set(tenants.openCount));
  gauge('jobs', 'Ingest jobs that have not ended, by state.', ['state'], (g) => {
    for (const [state, count] of Object.entries(ingest.depths())) g.set({ state }, count);
  });
  gauge('former_models', 'Models that are loaded only because indexes were filled by them.', [], (g) =>
    g.set(sources.formerModels()),
  );
  gauge('reencoding', 'A change of model that is under way, by what is counted.', ['of'], (g) => {
    const none = { tenants_left: 0, segments_done: 0, segments_given_up: 0, tenants_failed: 0 };
    for (const [of, count] of Object.entries(sources.reencoding.progress() ?? none)) g.set({ of }, count);
  });
  gauge('payments_running', 'Paid requests that run.', [], (g) => g.set(gate.health().running));
  gauge('payments_pending', 'Payments whose outcome is not known.', [], (g) => g.set(gate.health().pending));
  gauge('facilitator_trouble', '1 while the facilitator’s last call failed.', [], (g) =>
    g.set(Number(gate.health().facilitator.trouble !== undefined)),
  );
  gauge('payments', 'Payments in the books, by what became of them.', ['kind'], (g) => {
    for (const [kind, { count }] of Object.entries(gate.journal.totals())) g.set({ kind }, count);
  });
  gauge('payments_usd', 'Amounts in the books, in US dollars, by what became of them.', ['kind'], (g) => {
    for (const [kind, { amount }] of Object.entries(gate.journal.totals()))
      g.set({ kind }, Number(amount) / UNITS_PER_USD);
  });
  gauge('data_free_bytes', 'Free bytes of the disk under FARTHING_DATA_DIR.', [], (g) => {
    const { bavail, bsize } = statfsSync(sources.data);
    g.set(bavail * bsize);
  });
}
