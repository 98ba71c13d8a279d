import type { Clock } from '../../domain/clock.ts';
import { FarthingError } from '../../domain/error.ts';
import { idFrom, storedId, type WorkspaceId } from '../../domain/id.ts';
import {
  type DisposalReason,
  type WorkspaceEnd,
  type WorkspaceInventory,
  type WorkspaceRecord,
  type WorkspaceState,
  workspaceMayPass,
} from '../../domain/workspace.ts';
import type { Store, Table } from '../../state/store.ts';
import { DueTimes } from '../time/due-times.ts';
import type { RentedTime } from '../time/rented-time.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type WorkspaceSettings } from '../time/settings.ts';
import type { PendingEffects } from './pending-effects.ts';
import { hashOfToken, newToken } from './token.ts';

interface TokenHash {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
}

export interface RecordsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly time: RentedTime;
  readonly settings: WorkspaceSettings;
  readonly pendingEffects: PendingEffects;
}

/** Its row holds the hash of a token that nobody has; the other key is never written. */
const DECOY = idFrom('workspace', 'f'.repeat(32));
const ABSENT = idFrom('workspace', 'e'.repeat(32));

/**
 * The records of the workspaces and every transition between their states. Each public change is one durable
 * transaction that checks everything before its first write: a refused one changes nothing.
 */
export class WorkspaceRecords {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #time: RentedTime;
  readonly #settings: WorkspaceSettings;
  readonly #records: Table<WorkspaceRecord>;
  /** Apart from the records, so that the hash of an unknown id costs what a known one's does. */
  readonly #tokens: Table<TokenHash>;
  readonly #due: DueTimes<WorkspaceId>;
  readonly #pendingEffects: PendingEffects;

  constructor({ store, clock, time, settings, pendingEffects }: RecordsDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#time = time;
    this.#settings = settings;
    this.#records = store.table('workspaces');
    this.#tokens = store.table('workspace_tokens');
    this.#due = new DueTimes(store, 'workspace_due', (text) => storedId('workspace', text));
    this.#pendingEffects = pendingEffects;
    if (!this.#tokens.get(DECOY)) void this.#tokens.put(DECOY, { hash: hashOfToken(newToken()) });
  }

  get(id: WorkspaceId): WorkspaceRecord | undefined {
    return this.#records.get(id);
  }

  /** The hash of the workspace's token; for an unknown id one that no token has, after one hit and one miss all the same. */
  tokenHash(id: WorkspaceId): string | undefined {
    const known = this.#tokens.get(id);
    const other = this.#tokens.get(known ? ABSENT : DECOY);
    return (known ?? other)?.hash;
  }

  /** In order of their ids, after `after`. */
  list(options: { after?: string; limit: number }): WorkspaceRecord[] {
    const start = options.after === undefined ? undefined : `${options.after}\0`;
    return Array.from(this.#records.range({ start, limit: options.limit }), ({ value }) => value);
  }

  /** Active and within its paid time. */
  isLive(record: WorkspaceRecord): boolean {
    return record.state === 'active' && this.#time.now() < record.endsAt;
  }

  /** Ids that something is to be done about now: to dispose, to go on disposing, or to forget. */
  due(limit: number): WorkspaceId[] {
    return this.#due.due(this.#time.now(), limit);
  }

  transaction<T>(work: () => T): Promise<T> {
    return this.#store.transaction(work);
  }

  /** Inside a transaction: replaces a record (`undefined`: there is none) and when it is due. */
  write(before: WorkspaceRecord | undefined, after: WorkspaceRecord | undefined): void {
    const id = (after ?? before)!.id;
    if (before && after && before.state !== after.state) assertMayPass(id, before.state, after.state);
    if (after?.state === 'pending') this.#pendingEffects.add(id);
    else if (before?.state === 'pending') this.#pendingEffects.remove(id);
    this.#due.move(id, before && this.#dueOf(before), after && this.#dueOf(after));
    if (after) void this.#records.put(id, after);
    else void this.#records.remove(id);
    this.#time.keep();
  }

  /** A creation whose payment is not settled yet. */
  async insert(
    record: Omit<WorkspaceRecord, 'state' | 'createdAt' | 'endsAt' | 'spend' | 'pendingSteps'>,
  ): Promise<void> {
    await this.#store.transaction(() => {
      const createdAt = this.#clock.now();
      const endsAt = this.#time.now();
      this.write(undefined, { ...record, state: 'pending', createdAt, endsAt, spend: 0n, pendingSteps: [] });
    });
  }

  /**
   * The creation is paid: its minutes begin now, and the token with this hash opens it. Repeated: as `replaceToken`.
   * @throws internal when there is no such creation.
   */
  async activate(id: WorkspaceId, tokenHash: string): Promise<WorkspaceRecord> {
    return this.#store.transaction(() => {
      const before = this.#records.get(id);
      if (!before) throw new FarthingError('internal', `no creation ${id} waits for its payment`);
      if (before.state !== 'pending') return this.#replaceToken(before, tokenHash);
      const after: WorkspaceRecord = {
        ...before,
        state: 'active',
        createdAt: this.#clock.now(),
        endsAt: this.#time.now() + before.ttlMinutes * MINUTE_MS,
        spend: before.price,
      };
      this.write(before, after);
      void this.#tokens.put(id, { hash: tokenHash });
      return after;
    });
  }

  /** Another token takes the former one's place, unless the workspace has ended. */
  async replaceToken(id: WorkspaceId, tokenHash: string): Promise<WorkspaceRecord> {
    return this.#store.transaction(() => {
      const record = this.#records.get(id);
      if (!record || record.state === 'pending')
        throw new FarthingError('internal', `workspace ${id} was never created`);
      return this.#replaceToken(record, tokenHash);
    });
  }

  #replaceToken(record: WorkspaceRecord, tokenHash: string): WorkspaceRecord {
    if (this.isLive(record)) void this.#tokens.put(record.id, { hash: tokenHash });
    return record;
  }

  /**
   * Begins a workspace's end: from here on no request is let in. For `expired` it happens only when the time is over
   * and no extension bought in time is being settled; for `payment_failed` only to a creation that waits for its payment.
   * @returns the record as it is then, whatever its state; undefined when there is none.
   */
  async beginEnd(id: WorkspaceId, reason: DisposalReason): Promise<WorkspaceRecord | undefined> {
    return this.#store.transaction(() => {
      const before = this.#records.get(id);
      if (!before || !this.#mayEnd(before, reason)) return before;
      const tokenKept = reason === 'deleted';
      const end: WorkspaceEnd = { reason, tokenKept, expiresAt: this.#time.toWall(before.endsAt) };
      const after: WorkspaceRecord = { ...before, state: 'disposing', end };
      this.write(before, after);
      if (!tokenKept) void this.#tokens.remove(id);
      return after;
    });
  }

  #mayEnd(record: WorkspaceRecord, reason: DisposalReason): boolean {
    if (reason === 'payment_failed') return record.state === 'pending';
    if (record.state !== 'active') return false;
    return reason !== 'expired' || this.#dueOf(record) <= this.#time.now();
  }

  /** What the workspace held, kept before anything is unlinked. The first count stands. */
  async keepInventory(id: WorkspaceId, inventory: WorkspaceInventory | null): Promise<WorkspaceRecord> {
    return this.#ending(id, (end) => ({ state: 'disposing', end: { inventory, ...end } }));
  }

  async finishEnd(
    id: WorkspaceId,
    receipt: Pick<WorkspaceEnd, 'disposedAt' | 'receipt' | 'claims'>,
  ): Promise<WorkspaceRecord> {
    const disposedRented = this.#time.now();
    return this.#ending(id, (end) => ({ state: 'disposed', end: { ...end, ...receipt, disposedRented } }));
  }

  async #ending(
    id: WorkspaceId,
    change: (end: WorkspaceEnd) => { state: WorkspaceState; end: WorkspaceEnd },
  ): Promise<WorkspaceRecord> {
    return this.#store.transaction(() => {
      const before = this.#records.get(id);
      if (before?.state !== 'disposing' || !before.end)
        throw new FarthingError('internal', `workspace ${id} is not being disposed`);
      const after: WorkspaceRecord = { ...before, ...change(before.end) };
      this.write(before, after);
      return after;
    });
  }

  /**
   * In a copy of the registry: takes over the end that a workspace has come to since the copy was taken, receipt and all;
   * amounts stay as the copy's books have them.
   */
  async adoptEnd(id: WorkspaceId, { state, end }: WorkspaceRecord): Promise<void> {
    await this.#store.transaction(() => {
      const before = this.#records.get(id);
      if (!before || before.state === 'pending' || before.state === 'disposed' || !end) return;
      const disposing: WorkspaceRecord = { ...before, state: 'disposing', end };
      this.write(before, disposing);
      if (state === 'disposed') {
        // Retention is counted by the copy's own clock.
        const disposedRented = this.#time.now();
        this.write(disposing, { ...disposing, state, end: { ...end, disposedRented } });
      }
      if (!end.tokenKept) void this.#tokens.remove(id);
    });
  }

  /** An ended workspace whose token was kept for repeated DELETEs: that is over. */
  async forgetToken(id: WorkspaceId): Promise<void> {
    await this.#store.transaction(() => {
      const before = this.#records.get(id);
      if (!before?.end) return;
      this.write(before, { ...before, end: { ...before.end, tokenKept: false } });
      void this.#tokens.remove(id);
    });
  }

  /** Inside a transaction: nothing is known of the workspace any more. */
  erase(id: WorkspaceId): void {
    const before = this.#records.get(id);
    if (!before) return;
    this.write(before, undefined);
    void this.#tokens.remove(id);
  }

  /** True when the repeated DELETEs of a disposed workspace are no longer answered. */
  repeatsAreOver({ end }: WorkspaceRecord): boolean {
    return (
      end?.disposedRented === undefined ||
      this.#time.now() >= end.disposedRented + this.#settings.repeatedDeleteHours * HOUR_MS
    );
  }

  #dueOf(record: WorkspaceRecord): number {
    const { extensionHoldMinutes, repeatedDeleteHours, recordRetentionDays } = this.#settings;
    switch (record.state) {
      case 'pending':
        return record.endsAt + recordRetentionDays * DAY_MS;
      case 'active':
        return record.pendingSteps.reduce(
          (due, { since }) => Math.max(due, since + extensionHoldMinutes * MINUTE_MS),
          record.endsAt,
        );
      case 'disposing':
        return 0;
      case 'disposed': {
        const { disposedRented = 0, tokenKept = false } = record.end ?? {};
        return disposedRented + (tokenKept ? repeatedDeleteHours * HOUR_MS : recordRetentionDays * DAY_MS);
      }
    }
  }
}

function assertMayPass(id: WorkspaceId, from: WorkspaceState, to: WorkspaceState): void {
  if (!workspaceMayPass(from, to))
    throw new FarthingError('internal', `workspace ${id} cannot pass from ${from} to ${to}`);
}
