import type { WorkspaceId } from '@farthing/protocol/id';
import type { Extensions } from '../records/extensions.ts';
import type { WorkspaceRecords } from '../records/records.ts';
import type { RentedTime } from '../time/rented-time.ts';
import type { WorkspaceSettings } from '../time/settings.ts';
import type { WorkspaceRecord } from '../workspace.ts';
import type { Disposals } from './disposal.ts';

export interface SweeperDeps {
  readonly records: WorkspaceRecords;
  readonly extensions: Extensions;
  readonly disposals: Disposals;
  readonly time: RentedTime;
  readonly settings: WorkspaceSettings;
  readonly log: (event: object) => void;
}

/** Workspaces that one sweep handles; the rest wait for the next. */
const SWEEP_MAX = 4096;

/** Ends workspaces that have expired, resumes disposals, and deletes records whose retention has ended. */
export class Sweeper {
  readonly #deps: SweeperDeps;
  /** When a failed disposal may be tried again, in rented time. */
  readonly #retryAt = new Map<WorkspaceId, number>();
  readonly #handling = new Set<WorkspaceId>();
  #stopped = false;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when everything that it began is done. Sweeps may overlap, so that a slow request delays one workspace only.
   * Failures are logged and tried again later.
   */
  async sweep(): Promise<void> {
    const { records, settings } = this.#deps;
    const due = records.due(SWEEP_MAX).values();
    const handleNext = async () => {
      for (const id of due) {
        if (this.#stopped) return;
        await this.#handle(id);
      }
    };
    const free = Math.max(0, settings.disposalsAtOnce - this.#handling.size);
    await Promise.all(Array.from({ length: free }, handleNext));
  }

  /** Begins nothing more. `Disposals.whenIdle` waits for what runs. */
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
        return;
      default:
        throw new Error(`workspace ${id} is ${record.state satisfies never}`);
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
