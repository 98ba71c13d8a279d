import type { SpaceSpec } from '@farthing/engine/space';
import { toTimestamp } from '@farthing/protocol/clock';
import type { WorkspaceId } from '@farthing/protocol/id';
import { formatUsd } from '@farthing/protocol/money';
import type { HouseWorkspaceAnswer } from '@farthing/protocol/schema/house';
import type { UsageAnswer, WorkspaceAnswer } from '@farthing/protocol/schema/workspaces';
import type { Activity } from '../activity/activity.ts';
import type { WorkspaceRecords } from '../records/records.ts';
import { unauthorized } from '../records/token.ts';
import type { TenantFolders } from '../tenant/folders.ts';
import { contentsOf } from '../tenant/inventory.ts';
import type { RentedTime } from '../time/rented-time.ts';
import type { WorkspaceRecord } from '../workspace.ts';
import {
  expiryOf,
  houseWorkspace,
  isEndless,
  publicState,
  publicWorkspace,
  secondsLeft,
  spending,
  workspaceHeaders,
} from './public-record.ts';

export interface ViewsDeps {
  readonly records: WorkspaceRecords;
  readonly time: RentedTime;
  readonly activity: Activity;
  readonly tenants: TenantFolders;
  /** The server's limits, as every workspace's record shows them. */
  readonly limits: Readonly<Record<string, unknown>>;
  readonly links: (id: WorkspaceId) => Readonly<Record<string, string>>;
  /** For people: the model that fills a space. */
  readonly weightsOf?: (space: SpaceSpec) => string | undefined;
}

/** A rented workspace, or one of the house. */
export type OperatorView = WorkspaceAnswer | HouseWorkspaceAnswer;

/** `next` is the cursor of the next page; null on the last. */
export interface WorkspacePage {
  readonly workspaces: readonly OperatorView[];
  readonly next: string | null;
}

/** Workspaces as answers show them. A creation whose payment is open is never shown. */
export class WorkspaceViews {
  readonly #deps: ViewsDeps;

  constructor(deps: ViewsDeps) {
    this.#deps = deps;
  }

  ofRecord(record: WorkspaceRecord): WorkspaceAnswer {
    const { time, limits, links } = this.#deps;
    return publicWorkspace(record, time, { limits, links: links(record.id) });
  }

  ofHouse(record: WorkspaceRecord): HouseWorkspaceAnswer {
    const { time, limits, links } = this.#deps;
    return houseWorkspace(record, time, { limits, links: links(record.id) });
  }

  #ofAny(record: WorkspaceRecord): OperatorView {
    return record.house ? this.ofHouse(record) : this.ofRecord(record);
  }

  /** The record as its holder sees it; undefined for an unknown id. */
  show(id: WorkspaceId): WorkspaceAnswer | undefined {
    const record = this.#shown(id);
    return record && this.ofRecord(record);
  }

  /** The record as the operator sees it; undefined for an unknown id. */
  showAny(id: WorkspaceId): OperatorView | undefined {
    const record = this.#shown(id);
    return record && this.#ofAny(record);
  }

  /** Up to `limit` workspaces in order of their ids, as the operator sees them. */
  list(options: { after?: string; limit: number }): WorkspacePage {
    const records = this.#deps.records.list(options);
    const workspaces = records
      .filter(({ state }) => state !== 'pending')
      .map((record) => this.#ofAny(record));
    return { workspaces, next: records.length === options.limit ? records.at(-1)!.id : null };
  }

  /** Headers with the seconds and dollars left; none for an unknown workspace. */
  headers(id: WorkspaceId): Record<string, string> {
    const record = this.#shown(id);
    return record ? workspaceHeaders(record, this.#deps.time) : {};
  }

  /** RFC 3339: when the paid time ends, as it looks now; null for an unknown workspace, and for one without an end. */
  expiry(id: WorkspaceId): string | null {
    const record = this.#shown(id);
    return record ? this.expiryOf(record) : null;
  }

  /** Like `expiry`, for a record that was read for this request. */
  expiryOf(record: WorkspaceRecord): string | null {
    return isEndless(record) ? null : expiryOf(record, this.#deps.time);
  }

  /** @throws workspace_unauthorized for an unknown workspace. */
  async usage(id: WorkspaceId): Promise<UsageAnswer> {
    const { tenants, time, activity } = this.#deps;
    await activity.counted();
    const { counts, texts } = await contentsOf(tenants, id);
    const text_model = texts && this.#deps.weightsOf?.(texts);
    const record = this.#shown(id);
    if (!record) throw unauthorized();
    const { spend_usd, reserve } = spending(record, time);
    const { spendLimit } = record;
    const { latency, searches, ingests } = activity.counters(id);
    return {
      id,
      ...(record.house && { house: true }),
      state: publicState(record, time),
      created_at: toTimestamp(record.createdAt),
      expires_at: this.expiryOf(record),
      ttl_seconds_left: isEndless(record) ? null : secondsLeft(record, time),
      spend_usd,
      spend_limit_usd: spendLimit === null ? null : formatUsd(spendLimit),
      reserve,
      searches,
      ingests,
      ...counts,
      ...(text_model !== undefined && { text_model }),
      latency_ms: latency,
    };
  }

  #shown(id: WorkspaceId): WorkspaceRecord | undefined {
    const record = this.#deps.records.latest(id);
    return record?.state === 'pending' ? undefined : record;
  }
}
