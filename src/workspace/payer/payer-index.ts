import { FarthingError } from '../../domain/error.ts';
import type { PayerId } from '../../domain/id.ts';
import type { Store } from '../../state/store.ts';
import type { TenantFolders } from '../tenant/folders.ts';
import { RunningRequests } from '../tenant/running-requests.ts';
import type { RentedTime } from '../time/rented-time.ts';
import { HOUR_MS, WORKSPACE_SETTINGS } from '../time/settings.ts';
import { type PayerRow, PayerRows } from './payer-rows.ts';

export interface PayerIndexDeps {
  readonly store: Store;
  readonly time: RentedTime;
  readonly tenants: Pick<TenantFolders, 'dispose'>;
  /** Cancels the Tenant's jobs and waits for them. */
  readonly stopTenant: (tenant: PayerId) => Promise<void>;
  /** Hours that an index lives after its last paid ingest. */
  readonly lifetimeHours: number;
  /** Seconds that a disposal waits for requests that began before it. */
  readonly drainSecondsMax?: number;
  readonly log: (event: object) => void;
}

const SWEEP_MAX = 4096;
const DISPOSALS_AT_ONCE = 16;

/**
 * How long the payers' own indexes live: a set time after the last paid ingest, then all of the payer's data is
 * destroyed as a workspace's is, without a receipt. Afterwards the payer may begin anew.
 */
export class PayerIndex {
  readonly #deps: PayerIndexDeps;
  readonly #rows: PayerRows;
  readonly #requests = new RunningRequests();
  readonly #running = new Map<PayerId, Promise<void>>();

  constructor(deps: PayerIndexDeps) {
    this.#deps = deps;
    this.#rows = new PayerRows(deps.store, deps.time);
  }

  /**
   * A request begins in the payer's index. One whose time is over is destroyed first, so that the request finds none.
   * @returns what the request calls when it ends.
   */
  async enter(tenant: PayerId): Promise<() => void> {
    while (this.#isOver(tenant)) await this.#dispose(tenant);
    return this.#requests.enter(tenant);
  }

  /**
   * Before anything is written for a payer: sees to it that it will be disposed of, even if no ingest comes to be paid.
   * @throws overloaded while the index is being disposed of: what is written now would go with it
   */
  async ensure(tenant: PayerId): Promise<void> {
    const row = this.#rows.get(tenant) ?? (await this.#rows.set(tenant, (now) => now ?? this.#fresh()));
    if (row?.disposing)
      throw new FarthingError('overloaded', 'Your index has just reached its end. Send the file again.', {
        retryAfterS: 1,
      });
  }

  /** A paid ingest: the index lives so many hours from now. */
  async touch(tenant: PayerId): Promise<void> {
    await this.#rows.set(tenant, (row) => (row?.disposing ? row : this.#fresh()));
  }

  /** RFC 3339 of the end of the payer's index as it looks now; null when there is none. */
  expiry(tenant: PayerId): string | null {
    const row = this.#rows.get(tenant);
    return row ? this.#deps.time.toTimestamp(row.endsAt) : null;
  }

  /** RFC 3339 of the end of an index that is touched now: what an ingest that is being paid can promise. */
  expiryAfterIngest(): string {
    return this.#deps.time.toTimestamp(this.#fresh().endsAt);
  }

  /** To be called regularly, and at start: disposes of what has expired or was left half disposed. */
  async sweep(): Promise<void> {
    const due = this.#rows.due(SWEEP_MAX).values();
    const lane = async () => {
      for (const tenant of due) {
        await this.#dispose(tenant).catch((error: unknown) => {
          this.#deps.log({ event: 'payer_index_not_disposed', tenant, error: String(error) });
        });
      }
    };
    await Promise.all(Array.from({ length: DISPOSALS_AT_ONCE }, lane));
  }

  /** Waits for running disposals. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  #fresh(): PayerRow {
    return { endsAt: this.#deps.time.now() + this.#deps.lifetimeHours * HOUR_MS, disposing: false };
  }

  #isOver(tenant: PayerId): boolean {
    const row = this.#rows.get(tenant);
    return row !== undefined && (row.disposing || this.#deps.time.now() >= row.endsAt);
  }

  #dispose(tenant: PayerId): Promise<void> {
    const running = this.#running.get(tenant);
    if (running) return running;
    const disposal = this.#disposeOnce(tenant).finally(() => this.#running.delete(tenant));
    this.#running.set(tenant, disposal);
    return disposal;
  }

  /** Requests that began in time end first: one of them may pay for more of the index's life, which then goes on. */
  async #disposeOnce(tenant: PayerId): Promise<void> {
    const { tenants, stopTenant, drainSecondsMax = WORKSPACE_SETTINGS.drainSecondsMax, log } = this.#deps;
    const ended = await this.#requests.ended(tenant, drainSecondsMax);
    const begun = await this.#rows.set(tenant, (row) => row && { ...row, disposing: this.#isOver(tenant) });
    if (!begun?.disposing) return;
    if (!ended) log({ event: 'disposal_without_waiting', tenant, waited_s: drainSecondsMax });
    await stopTenant(tenant);
    await tenants.dispose(tenant);
    // What a request that outlived the disposal may leave has an end as well.
    await this.#rows.set(tenant, () => (this.#requests.has(tenant) ? this.#fresh() : undefined));
    log({ event: 'payer_index_disposed', tenant });
  }
}
