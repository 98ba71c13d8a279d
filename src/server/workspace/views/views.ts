import type { WorkspaceId } from '@farthing/protocol/id';
import type { UsageAnswer, WorkspaceAnswer } from '@farthing/protocol/schema/workspaces';
import type { Activity } from '../activity/activity.ts';
import type { WorkspaceRecords } from '../records/records.ts';
import { unauthorized } from '../records/token.ts';
import type { TenantFolders } from '../tenant/folders.ts';
import { contentsOf } from '../tenant/inventory.ts';
import type { RentedTime } from '../time/rented-time.ts';
import type { WorkspaceRecord } from '../workspace.ts';
import { expiryOf, publicState, publicWorkspace, secondsLeft, workspaceHeaders } from './public-record.ts';

export interface ViewsDeps {
  readonly records: WorkspaceRecords;
  readonly time: RentedTime;
  readonly activity: Activity;
  readonly tenants: TenantFolders;
  /** The server's limits, as every workspace's record shows them. */
  readonly limits: Readonly<Record<string, unknown>>;
  readonly links: (id: WorkspaceId) => Readonly<Record<string, string>>;
}

/** `next` is the cursor of the next page; null on the last. */
export interface WorkspacePage {
  readonly workspaces: readonly WorkspaceAnswer[];
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

  /** The record as its holder sees it; undefined for an unknown id. */
  show(id: WorkspaceId): WorkspaceAnswer | undefined {
    const record = this.#shown(id);
    return record && this.ofRecord(record);
  }

  /** Up to `limit` workspaces in order of their ids, as the operator sees them. */
  list(options: { after?: string; limit: number }): WorkspacePage {
    const records = this.#deps.records.list(options);
    const workspaces = records
      .filter(({ state }) => state !== 'pending')
      .map((record) => this.ofRecord(record));
    return { workspaces, next: records.length === options.limit ? records.at(-1)!.id : null };
  }

  /** Headers with the seconds and dollars left; none for an unknown workspace. */
  headers(id: WorkspaceId): Record<string, string> {
    const record = this.#shown(id);
    return record ? workspaceHeaders(record, this.#deps.time) : {};
  }

  /** RFC 3339: when the paid time ends, as it looks now; null for an unknown workspace. */
  expiry(id: WorkspaceId): string | null {
    const record = this.#shown(id);
    return record ? this.expiryOf(record) : null;
  }

  /** Like `expiry`, for a record that was read for this request. */
  expiryOf(record: WorkspaceRecord): string {
    return expiryOf(record, this.#deps.time);
  }

  /** @throws workspace_unauthorized for an unknown workspace. */
  async usage(id: WorkspaceId): Promise<UsageAnswer> {
    const { tenants, time, activity } = this.#deps;
    const contents = await contentsOf(tenants, id);
    const record = this.#shown(id);
    if (!record) throw unauthorized();
    const { created_at, expires_at, spend_usd, spend_limit_usd, reserve } = this.ofRecord(record);
    const { latency, searches, ingests } = activity.counters(id);
    return {
      id,
      state: publicState(record, time),
      created_at,
      expires_at,
      ttl_seconds_left: secondsLeft(record, time),
      spend_usd,
      spend_limit_usd,
      reserve,
      searches,
      ingests,
      ...contents,
      latency_ms: latency,
    };
  }

  #shown(id: WorkspaceId): WorkspaceRecord | undefined {
    const record = this.#deps.records.get(id);
    return record?.state === 'pending' ? undefined : record;
  }
}
