import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { storedId, type WorkspaceId } from '@farthing/protocol/id';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import type { Store, Table } from '../../state/store.ts';
import { houseTable } from '../house/house-table.ts';
import { DueTimes } from '../time/due-times.ts';
import type { RentedTime } from '../time/rented-time.ts';
import type { WorkspaceSettings } from '../time/settings.ts';
import {
  type DisposalReason,
  mayHoldData,
  NO_END,
  type WorkspaceEnd,
  type WorkspaceInventory,
  type WorkspaceRecord,
  type WorkspaceState,
  workspaceMayPass,
} from '../workspace.ts';
import type { PendingEffects } from './pending-effects.ts';
import { Reserves } from './reserves.ts';
import { tokenHasDigest, tokenMatches } from './token.ts';
import { TokenHashes } from './token-hashes.ts';

export interface RecordsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly time: RentedTime;
  readonly settings: WorkspaceSettings;
  readonly pendingEffects: PendingEffects;
  /** Called after each commit for what it has changed: a record, or who its token is. */
  readonly onChanged?: (id: WorkspaceId) => void;
}

/** Workspaces whose records stay in memory. */
const LATELY_MAX = 1024;

/** Each costs a row; nothing else bounds an agent that makes them in a loop. */
const HOUSE_WORKSPACES_MAX = 10_000;

/**
 * The workspaces' records and every transition between their states. Each public change is one durable transaction that
 * checks everything before its first write, so that a refused change writes nothing.
 */
export class WorkspaceRecords {
  readonly reserves: Reserves;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #time: RentedTime;
  readonly #settings: WorkspaceSettings;
  readonly #records: Table<WorkspaceRecord>;
  readonly #tokenHashes: TokenHashes;
  readonly #house: Table<null>;
  readonly #due: DueTimes<WorkspaceId>;
  readonly #pendingEffects: PendingEffects;
  readonly #onChanged: (id: WorkspaceId) => void;
  /** Those that their tokens have opened of late, each until anything of it changes. */
  readonly #lately = new Map<
    WorkspaceId,
    { readonly record: WorkspaceRecord; readonly digest: Uint8Array }
  >();
  /** What the transaction that runs has changed. */
  #changed = new Set<WorkspaceId>();

  constructor({ store, clock, time, settings, pendingEffects, onChanged = () => {} }: RecordsDeps) {
    this.#onChanged = onChanged;
    this.#store = store;
    this.#clock = clock;
    this.#time = time;
    this.#settings = settings;
    this.#records = store.table('workspaces');
    this.#tokenHashes = new TokenHashes(store);
    this.#house = houseTable(store);
    this.#due = new DueTimes(store, 'workspace_due', (text) => storedId('workspace', text));
    this.#pendingEffects = pendingEffects;
    this.reserves = new Reserves(store, time, clock);
  }

  get(id: WorkspaceId): WorkspaceRecord | undefined {
    return this.#records.get(id);
  }

  /** The hash of the token that opens a workspace; undefined for none, and for an unknown workspace. */
  tokenHash(id: WorkspaceId): string | undefined {
    return this.#records.get(id) && this.#tokenHashes.of(id);
  }

  /** As `get` outside a transaction. */
  latest(id: WorkspaceId): WorkspaceRecord | undefined {
    return this.#lately.get(id)?.record ?? this.#records.get(id);
  }

  /**
   * The record, in any state, if its stored hash is this token's. An unknown id takes as long as a known one that this token does not
   * open.
   */
  ofToken(id: WorkspaceId, token: string | undefined): WorkspaceRecord | undefined {
    const lately = this.ofTokenLately(id, token);
    if (lately) return lately;
    const hash = this.#tokenHashes.get(id);
    const record = tokenMatches(token, hash) ? this.#records.get(id) : undefined;
    if (record && hash !== undefined) {
      this.#lately.set(id, { record, digest: Buffer.from(hash, 'hex') });
      forgetOldest(this.#lately, LATELY_MAX);
    }
    return record;
  }

  /** The same, where the token has opened it of late and nothing has changed since. */
  ofTokenLately(id: WorkspaceId, token: string | undefined): WorkspaceRecord | undefined {
    const lately = this.#lately.get(id);
    return tokenHasDigest(token, lately?.digest) ? lately?.record : undefined;
  }

  /** In order of their ids, after `after`. */
  list(options: { after?: string; limit: number }): WorkspaceRecord[] {
    const start = options.after === undefined ? undefined : `${options.after}\0`;
    return Array.from(this.#records.range({ start, limit: options.limit }), ({ value }) => value);
  }

  /** Workspaces of the house that hold data, in order of their ids, after `after`. */
  *house(after?: WorkspaceId): Generator<WorkspaceRecord> {
    for (const { key } of this.#house.range({ start: after === undefined ? undefined : `${after}\0` })) {
      const record = this.#records.get(key);
      if (record) yield record;
    }
  }

  /** Active and within its paid time. */
  isLive(record: WorkspaceRecord): boolean {
    return record.state === 'active' && this.#time.now() < record.endsAt;
  }

  /** Whether the workspace has begun and is not disposed of yet. */
  isOpen(id: WorkspaceId): boolean {
    const record = this.#records.get(id);
    return record !== undefined && mayHoldData(record.state);
  }

  /** Whether its token may still ask for its end, or for the answer to that again. */
  mayDelete(record: WorkspaceRecord): boolean {
    return this.isLive(record) || (record.end?.reason === 'deleted' && this.mayHaveReceipt(record));
  }

  /** Whether it has ended and its token may still get the receipt. */
  mayHaveReceipt(record: WorkspaceRecord): boolean {
    if (this.#mayEnd(record, 'expired')) return true;
    if (!record.end?.tokenKept) return false;
    return record.state === 'disposing' || !this.#repeatsAreOver(record.end);
  }

  #repeatsAreOver({ disposedRented }: WorkspaceEnd): boolean {
    const { repeatedDeleteHours } = this.#settings;
    return disposedRented === undefined || this.#time.now() >= disposedRented + repeatedDeleteHours * HOUR_MS;
  }

  /** Workspaces that are due now: to be disposed, or to be forgotten. */
  due(limit: number): WorkspaceId[] {
    return this.#due.due(this.#time.now(), limit);
  }

  async transaction<T>(work: () => T): Promise<T> {
    const changed = new Set<WorkspaceId>();
    try {
      return await this.#store.transaction(() => {
        this.#changed = changed;
        return work();
      });
    } finally {
      for (const id of changed) {
        this.#lately.delete(id);
        this.#onChanged(id);
      }
    }
  }

  /** Inside a transaction: replaces a record (`undefined`: none) and its due time. */
  write(before: WorkspaceRecord | undefined, after: WorkspaceRecord | undefined): void {
    const id = (after ?? before)!.id;
    this.#changed.add(id);
    if (before && after && before.state !== after.state) assertMayPass(id, before.state, after.state);
    if (after?.state === 'pending') this.#pendingEffects.addCreation(id);
    else if (before?.state === 'pending') this.#pendingEffects.remove(id);
    this.#due.move(id, before && this.#dueOf(before), after && this.#dueOf(after));
    if (after?.house && mayHoldData(after.state)) void this.#house.put(id, null);
    else if (before?.house) void this.#house.remove(id);
    if (after) void this.#records.put(id, after);
    else void this.#records.remove(id);
    this.#time.keep();
  }

  /** A creation whose payment is still open. */
  async insert(
    record: Omit<WorkspaceRecord, 'state' | 'createdAt' | 'endsAt' | 'spend' | 'pendingSteps'>,
  ): Promise<void> {
    await this.transaction(() => {
      const createdAt = this.#clock.now();
      const endsAt = this.#time.now();
      this.write(undefined, { ...record, state: 'pending', createdAt, endsAt, spend: 0n, pendingSteps: [] });
    });
  }

  /** A workspace of the house: nobody pays, and it begins at once. One with this id stays what it is. @throws tenant_full */
  async insertHouse(
    record: Pick<WorkspaceRecord, 'id' | 'language'> & Required<Pick<WorkspaceRecord, 'house'>>,
  ): Promise<WorkspaceRecord> {
    return this.transaction(() => {
      const before = this.#records.get(record.id);
      if (before) return before;
      if (this.#house.count() >= HOUSE_WORKSPACES_MAX)
        throw new FarthingError(
          'tenant_full',
          `The house has ${HOUSE_WORKSPACES_MAX} workspaces: dispose of some.`,
        );
      const after: WorkspaceRecord = {
        ...record,
        state: 'active',
        createdAt: this.#clock.now(),
        endsAt: NO_END,
        ttlMinutesAsked: null,
        ttlMinutes: 0,
        price: 0n,
        spend: 0n,
        spendLimit: null,
        pendingSteps: [],
      };
      this.write(undefined, after);
      return after;
    });
  }

  /**
   * The creation is paid: its minutes begin now, and the token with this hash opens it. Repeated, it is `replaceToken`.
   * @throws internal when there is no such creation.
   */
  async activate(id: WorkspaceId, tokenHash: string): Promise<WorkspaceRecord> {
    return this.transaction(() => {
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
      this.#tokenHashes.put(id, tokenHash);
      return after;
    });
  }

  /** Replaces the token, unless the workspace has ended. @throws internal when it was never created */
  async replaceToken(id: WorkspaceId, tokenHash: string): Promise<WorkspaceRecord> {
    return this.transaction(() => {
      const record = this.#records.get(id);
      if (!record || record.state === 'pending')
        throw new FarthingError('internal', `workspace ${id} was never created`);
      return this.#replaceToken(record, tokenHash);
    });
  }

  #replaceToken(record: WorkspaceRecord, tokenHash: string): WorkspaceRecord {
    this.#changed.add(record.id);
    if (this.isLive(record)) this.#tokenHashes.put(record.id, tokenHash);
    return record;
  }

  /**
   * Begins a workspace's end, if the reason holds; from then on it admits no request. `expired` holds once its time is
   * over and no extension bought in time is still being settled, `payment_failed` for a creation that was never paid, and
   * the other reasons for an active workspace. The rest of its reserves is refunded.
   * @returns the record afterwards, in any state; undefined when there is none.
   */
  async beginEnd(id: WorkspaceId, reason: DisposalReason): Promise<WorkspaceRecord | undefined> {
    return this.transaction(() => {
      const before = this.#records.get(id);
      if (!before || !this.#mayEnd(before, reason)) return before;
      // Its holder may have missed the end: the token gets the receipt, and nothing else.
      const tokenKept = reason === 'deleted' || reason === 'expired';
      const released = this.reserves.release(before.house ? { ...before, endsAt: this.#time.now() } : before);
      const end: WorkspaceEnd = { reason, tokenKept, expiresAt: this.#time.toWall(released.endsAt) };
      const after: WorkspaceRecord = { ...released, state: 'disposing', end };
      this.write(before, after);
      if (!tokenKept) this.#tokenHashes.remove(id);
      return after;
    });
  }

  #mayEnd(record: WorkspaceRecord, reason: DisposalReason): boolean {
    switch (reason) {
      case 'payment_failed':
        return record.state === 'pending';
      case 'expired':
        return record.state === 'active' && this.#dueOf(record) <= this.#time.now();
      case 'deleted':
      case 'operator':
        return record.state === 'active';
    }
  }

  /** Refunds the rest of an active workspace's reserves. @returns its record before and afterwards; undefined for any other */
  async endReserves(id: WorkspaceId): Promise<Record<'before' | 'after', WorkspaceRecord> | undefined> {
    return this.transaction(() => {
      const before = this.#records.get(id);
      if (before?.state !== 'active') return undefined;
      const after = this.reserves.release(before);
      if (after !== before) this.write(before, after);
      return { before, after };
    });
  }

  /** Keeps what the workspace held, before anything is unlinked. The first count stands. */
  async keepInventory(id: WorkspaceId, inventory: WorkspaceInventory | null): Promise<WorkspaceRecord> {
    return this.#ending(id, (end) => ({ state: 'disposing', end: { inventory, ...end } }));
  }

  async finishEnd(
    id: WorkspaceId,
    receipt: Pick<WorkspaceEnd, 'disposedAt' | 'receipt' | 'claims'>,
  ): Promise<WorkspaceRecord> {
    const disposedRented = this.#time.now();
    return this.#ending(id, (end) => ({
      state: 'disposed',
      payer: undefined,
      end: { ...end, ...receipt, disposedRented },
    }));
  }

  async #ending(
    id: WorkspaceId,
    change: (end: WorkspaceEnd) => Pick<WorkspaceRecord, 'state' | 'end'> & { payer?: undefined },
  ): Promise<WorkspaceRecord> {
    return this.transaction(() => {
      const before = this.#records.get(id);
      if (before?.state !== 'disposing' || !before.end)
        throw new FarthingError('internal', `workspace ${id} is not being disposed`);
      const after: WorkspaceRecord = { ...before, ...change(before.end) };
      this.write(before, after);
      return after;
    });
  }

  /** In a copied registry: adopts an end that came after the copy was made, with its receipt. Amounts stay the copy's. */
  async adoptEnd(id: WorkspaceId, { state, end }: WorkspaceRecord): Promise<void> {
    await this.transaction(() => {
      const before = this.#records.get(id);
      if (!before || before.state === 'pending' || before.state === 'disposed' || !end) return;
      // The copy's clock does not advance, so minutes that were used after the copy are refunded, unless all were used.
      const { reserves: _, ...used } = before;
      const ended = end.reason === 'expired' ? used : this.reserves.release(before);
      const disposing: WorkspaceRecord = { ...ended, state: 'disposing', end };
      this.write(before, disposing);
      if (state === 'disposed') {
        // The copy's clock counts the retention.
        const disposedRented = this.#time.now();
        this.write(disposing, { ...disposing, state, end: { ...end, disposedRented } });
      }
      if (!end.tokenKept) this.#tokenHashes.remove(id);
    });
  }

  /** Ends the time in which its token gets the receipt. */
  async forgetToken(id: WorkspaceId): Promise<void> {
    await this.transaction(() => {
      const before = this.#records.get(id);
      if (!before?.end) return;
      this.write(before, { ...before, end: { ...before.end, tokenKept: false } });
      this.#tokenHashes.remove(id);
    });
  }

  /** Inside a transaction: removes all that is known of the workspace. */
  erase(id: WorkspaceId): void {
    const before = this.#records.get(id);
    if (!before) return;
    this.write(before, undefined);
    this.#tokenHashes.remove(id);
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
