import { HOUR_MS } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import type { PayerId } from '@farthing/protocol/id';
import type { Store } from '../../state/store.ts';
import type { TenantFolders } from '../tenant/folders.ts';
import { RunningRequests } from '../tenant/running-requests.ts';
import type { RentedTime } from '../time/rented-time.ts';
import { WORKSPACE_SETTINGS } from '../time/settings.ts';
import { type PayerRow, PayerRows } from './payer-rows.ts';

export interface PayerIndexDeps {
  readonly store: Store;
  readonly time: RentedTime;
  readonly tenants: Pick<TenantFolders, 'dispose'>;
  /** Cancels the payer's jobs and waits for them. */
  readonly stopTenant: (payer: PayerId) => Promise<void>;
  /** Hours that an index lives after its last paid ingest. */
  readonly lifetimeHours: number;
  /** Rented time at which an index that began then ends at the latest; undefined: it may be extended for ever. */
  readonly endsBy?: (begunAt: number) => number | undefined;
  /** Seconds that a disposal waits for requests that began before it. */
  readonly drainSecondsMax?: number;
  readonly log: (event: object) => void;
}

const SWEEP_MAX = 4096;
const DISPOSALS_AT_ONCE = 16;

/**
 * The life of the payers' indexes: a set time after the last paid ingest, or when its model's time is over, all of the payer's data is destroyed as a
 * workspace's is, but without a receipt. The payer may then start a new index.
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
   * A request begins in the payer's index. An expired index is destroyed first, so that the request finds none.
   * @returns a function that the request calls at its end.
   */
  async enter(payer: PayerId): Promise<() => void> {
    while (this.#isOver(payer)) await this.#dispose(payer);
    return this.#requests.enter(payer);
  }

  /**
   * Called before anything is written for a payer: the index gets an end even if no ingest is ever paid.
   * @throws overloaded while the index is being disposed of, which would destroy what is written now
   */
  async ensure(payer: PayerId): Promise<void> {
    const row =
      this.#rows.get(payer) ?? (await this.#rows.set(payer, (current) => current ?? this.#newRow()));
    if (row?.disposing)
      throw new FarthingError('overloaded', 'Your index has just reached its end. Send the file again.', {
        retryAfterS: 1,
      });
  }

  /**
   * A paid ingest: the index's whole lifetime begins again now. An index that has ended by then is not begun anew by what comes too
   * late for it.
   */
  async touch(payer: PayerId): Promise<void> {
    await this.#rows.set(payer, (row) => (row && !row.disposing ? this.#newRow(row) : row));
  }

  /** RFC 3339: when the payer's index ends, as it looks now; null when there is none. */
  expiry(payer: PayerId): string | null {
    const row = this.#rows.get(payer);
    return row ? this.#deps.time.toTimestamp(row.endsAt) : null;
  }

  /** RFC 3339: the end that an ingest paid now would give an index. */
  expiryAfterIngest(payer: PayerId): string {
    return this.#deps.time.toTimestamp(this.#newRow(this.#rows.get(payer)).endsAt);
  }

  /** To be called regularly, and at start: disposes of indexes that have expired, and completes interrupted disposals. */
  async sweep(): Promise<void> {
    const due = this.#rows.due(SWEEP_MAX).values();
    const disposeNext = async () => {
      for (const payer of due) {
        await this.#dispose(payer).catch((error: unknown) => {
          this.#deps.log({ event: 'payer_index_not_disposed', tenant: payer, error: String(error) });
        });
      }
    };
    await Promise.all(Array.from({ length: DISPOSALS_AT_ONCE }, disposeNext));
  }

  /** Waits for running disposals. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  /** @param former the previous row of the same index */
  #newRow(former?: PayerRow): PayerRow {
    const { time, lifetimeHours, endsBy } = this.#deps;
    const begunAt = former ? (former.begunAt ?? 0) : time.now();
    const latest = endsBy?.(begunAt) ?? Number.POSITIVE_INFINITY;
    const extended = Math.min(time.now() + lifetimeHours * HOUR_MS, latest);
    // An upload never shortens it.
    return { endsAt: Math.max(extended, former?.endsAt ?? 0), begunAt, disposing: false };
  }

  #isOver(payer: PayerId): boolean {
    const row = this.#rows.get(payer);
    return row !== undefined && (row.disposing || this.#deps.time.now() >= row.endsAt);
  }

  #dispose(payer: PayerId): Promise<void> {
    const running = this.#running.get(payer);
    if (running) return running;
    const disposal = this.#disposeOnce(payer).finally(() => this.#running.delete(payer));
    this.#running.set(payer, disposal);
    return disposal;
  }

  /** Requests that began in time end first. If one of them paid for an ingest, the index stays. */
  async #disposeOnce(payer: PayerId): Promise<void> {
    const { tenants, stopTenant, drainSecondsMax = WORKSPACE_SETTINGS.drainSecondsMax, log } = this.#deps;
    const ended = await this.#requests.ended(payer, drainSecondsMax);
    const row = await this.#rows.set(
      payer,
      (current) => current && { ...current, disposing: this.#isOver(payer) },
    );
    if (!row?.disposing) return;
    if (!ended) log({ event: 'disposal_without_waiting', tenant: payer, waited_s: drainSecondsMax });
    await stopTenant(payer);
    await tenants.dispose(payer);
    // A request that outlived the disposal may still write something: that gets an end as well.
    await this.#rows.set(payer, () => (this.#requests.has(payer) ? this.#newRow() : undefined));
    log({ event: 'payer_index_disposed', tenant: payer });
  }
}
