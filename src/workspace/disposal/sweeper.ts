import type { WorkspaceId } from '../../domain/id.ts';
import type { WorkspaceRecord } from '../../domain/workspace.ts';
import type { Extensions } from '../records/extensions.ts';
import type { WorkspaceRecords } from '../records/records.ts';
import type { RentedTime } from '../time/rented-time.ts';
import type { WorkspaceSettings } from '../time/settings.ts';
import type { Disposals } from './disposal.ts';

export interface SweeperDeps {
  readonly records: WorkspaceRecords;
  readonly extensions: Extensions;
  readonly disposals: Disposals;
  readonly time: RentedTime;
  readonly settings: WorkspaceSettings;
  readonly log: (event: object) => void;
}

/** Most workspaces that one sweep looks at; the rest waits for the next. */
const SWEEP_MAX = 4096;

/** Does what is due: ends what has expired, goes on with what is ending, forgets what has been kept long enough. */
export class Sweeper {
  readonly #deps: SweeperDeps;
  /** Rented time before which a disposal that has failed is not tried again. */
  readonly #retryAt = new Map<WorkspaceId, number>();
  readonly #handling = new Set<WorkspaceId>();
  #stopped = false;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when what it took on is done. Sweeps may overlap: one that waits for a slow request does not hold up the
   * next. What cannot be handled is logged and tried again later.
   */
  async sweep(): Promise<void> {
    const { records, settings } = this.#deps;
    const due = records.due(SWEEP_MAX).values();
    const lane = async () => {
      for (const id of due) {
        if (this.#stopped) return;
        await this.#handle(id);
      }
    };
    await Promise.all(
      Array.from({ length: Math.max(0, settings.disposalsAtOnce - this.#handling.size) }, lane),
    );
  }

  /** Nothing more is begun; what runs is waited for elsewhere. */
  stop(): void {
    this.#stopped = true;
  }

  async #handle(id: WorkspaceId): Promise<void> {
    const { time, settings, log } = this.#deps;
    if (this.#handling.has(id) || time.now() < (this.#retryAt.get(id) ?? 0)) return;
    this.#handling.add(id);
    try {
      await this.#do(id);
      this.#retryAt.delete(id);
    } catch (error) {
      this.#retryAt.set(id, time.now() + settings.disposalRetrySeconds * 1000);
      log({ event: 'sweep_failed', workspace: id, error: String(error) });
    } finally {
      this.#handling.delete(id);
    }
  }

  async #do(id: WorkspaceId): Promise<void> {
    const { records, disposals } = this.#deps;
    const record = records.get(id);
    if (!record) return;
    switch (record.state) {
      case 'pending':
        await disposals.end(id, 'payment_failed');
        return;
      case 'active':
        await disposals.end(id, 'expired');
        return;
      case 'disposing':
        await disposals.run(record);
        return;
      case 'disposed':
        await this.#forget(record);
    }
  }

  async #forget(record: WorkspaceRecord): Promise<void> {
    const { records, extensions } = this.#deps;
    if (record.end?.tokenKept) return records.forgetToken(record.id);
    await records.transaction(() => {
      extensions.forget(record.id);
      records.erase(record.id);
    });
  }
}
