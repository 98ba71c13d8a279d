import type { Encoder } from '@farthing/engine/encode/encoder';
import { familyReports } from '@farthing/engine/search/families';
import type { Tenants } from '@farthing/engine/shard/tenants';
import type { GateHealth } from '@farthing/payment/gate/gate';
import type { Ledger } from '@farthing/payment/records/ledger';
import { formatUsd } from '@farthing/protocol/money';
import type { Snapshot } from '@farthing/protocol/schema/operator';
import type { Extractor } from '@farthing/readers/extractor';
import type { WorkspaceViews } from '../../workspace/views/views.ts';

export interface SnapshotDeps {
  readonly encoder: Encoder;
  readonly extractor: Extractor;
  readonly tenants: Tenants;
  /** The stores of this server. */
  readonly books: {
    readonly ledger: Ledger;
    health(): GateHealth;
    list: WorkspaceViews['list'];
  };
}

/** The figures of the server's parts; the operator's page adds the rest. */
export type RunningSnapshot = Omit<Snapshot, 'disk'>;

const DAYS_SHOWN = 30;
const PAGE = 500;
/** Most workspaces that are counted; with more, the figure is a lower bound and says so. */
const COUNTED_MAX = 5_000;

/** The server's state now, for its operator: figures only, no content and no ids. */
export function snapshotOf({ encoder, extractor, tenants, books }: SnapshotDeps): RunningSnapshot {
  const { ledger } = books;
  const totals = ledger.totals();
  return {
    families: familyReports(encoder),
    queues: { encoding: encoder.queueDepths(), reading: extractor.depths() },
    payment: books.health(),
    revenue: Object.fromEntries(
      Object.entries(totals).map(([kind, { count, amount }]) => [
        kind,
        { count, usd: formatUsd(BigInt(amount)) },
      ]),
    ),
    revenue_by_day: ledger
      .days(DAYS_SHOWN)
      .map(({ day, settled: { count, amount } }) => ({ day, count, usd: formatUsd(BigInt(amount)) })),
    tenants: { open_indexes: tenants.openCount, ...countWorkspaces(books) },
    confinement: extractor.confinement() ?? 'not started yet',
    memory_bytes: process.memoryUsage().rss,
    uptime_s: Math.round(process.uptime()),
  };
}

function countWorkspaces(books: SnapshotDeps['books']): { active_workspaces: number; counted_all: boolean } {
  let active = 0;
  let after: string | undefined;
  for (let counted = 0; counted < COUNTED_MAX; counted += PAGE) {
    const page = books.list({ after, limit: PAGE });
    active += page.workspaces.filter(({ state }) => state === 'active').length;
    if (page.next === null) return { active_workspaces: active, counted_all: true };
    after = page.next;
  }
  return { active_workspaces: active, counted_all: false };
}
