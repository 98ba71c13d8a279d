import { join } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import type { WorkspaceId } from '../../domain/id.ts';
import type { SlotPlace } from '../../http/access/services.ts';
import type { ReencodingProgress } from '../../ingest/reencoding/reencoding.ts';
import { LiveBackup } from '../../operator/backup/live-backup.ts';
import type { GateHealth } from '../../payment/gate/gate.ts';
import { Ledger } from '../../payment/records/ledger.ts';
import { slotOf } from '../../state/slots.ts';
import type { Store } from '../../state/store.ts';
import { type Slot, type SlotOptions, wireSlot } from '../../wiring/books.ts';
import { type Runtime, tenantsFolder } from '../../wiring/process.ts';
import type { WorkspacePage } from '../../workspace/views/views.ts';
import { AcrossSlots, type PaidPlace } from '../across/across-slots.ts';
import { Crossing } from '../across/crossing.ts';
import type { BooksHere } from '../across/peer-handlers.ts';
import type { PeerPurchases } from '../across/peer-purchases.ts';
import type { CopiesElsewhere } from '../handover/slot-copies.ts';
import type { StandbyFigures } from '../handover/standby.ts';
import type { SlotStore } from '../log/recorded-store.ts';
import { within } from '../stores/within.ts';

/** Sweeps between two writes of a slot's clock, so that many slots do not write all the time. */
const SWEEPS_PER_BEAT_MAX = 5;
/** An index without a request for this long is closed; opening it again takes milliseconds. */
const SHARD_IDLE_MS = 600_000;

export interface SlotsOptions extends Pick<SlotOptions, 'monotonic'> {
  /** States of the slots in order, where this server has all of them. Absent: they come and go by `enter` and `leave`. */
  readonly stores?: readonly SlotStore[];
  /** Books that nothing is ever written to, for requests that lead to no slot. With `stores`, the first slot answers them. */
  readonly front?: SlotStore;
  /** The slots that other servers have. Absent: none. */
  readonly elsewhere?: Elsewhere;
}

export interface Elsewhere {
  /** Where a slot is that is not here. */
  whereElse(slot: number): Exclude<SlotPlace, { services: unknown }>;
  /** Has the other servers remove what they have of a Tenant that has ended. */
  removeCopies(slot: number, tenant: string): Promise<CopiesElsewhere>;
  /** Removes what this disk has of a Tenant that has ended at another server. @throws PeerAwayError where that cannot be said */
  removeCopy(slot: number, tenant: string): Promise<void>;
  /** What is followed of other servers' slots. */
  standby(): StandbyFigures;
  /** Number of slots that no server has. */
  unowned(): number;
  /** Milliseconds since the lease was last renewed, where it may be over; otherwise 0. */
  silentMs(): number;
  readonly purchases: PeerPurchases;
}

/** The slots that are with this server, and what they come to as one. */
export class Slots {
  readonly front: Slot;
  readonly backup: LiveBackup;
  readonly #runtime: Runtime;
  readonly #options: SlotsOptions;
  readonly #crossing = new Crossing();
  readonly #across: AcrossSlots;
  /** By number, in order. */
  #here: ReadonlyMap<number, Slot>;
  /** Slots whose requests may not come yet: their payments are being recovered. */
  readonly #entering = new Map<number, Slot>();
  #sweeps = 0;

  constructor(runtime: Runtime, options: SlotsOptions) {
    const { data, tenants, files, encoder, clock, event, kept } = runtime;
    this.#runtime = runtime;
    this.#options = options;
    const { stores = [], front, elsewhere } = options;
    this.#across = new AcrossSlots({
      placeOf: (id) => this.#placeOf(slotOf(id, this.count)),
      crossing: this.#crossing,
      ...(elsewhere && { peers: elsewhere.purchases }),
    });
    this.#here = new Map(stores.map((store, number) => [number, this.#wire(number, store)]));
    this.front = front ? this.#wireFront(front) : this.#here.get(0)!;
    this.backup = new LiveBackup({
      data,
      slots: () => {
        if (this.all.length < this.count)
          throw new FarthingError(
            'not_ready',
            `This server has ${this.all.length} of ${this.count} slots: a backup would lack the others.`,
          );
        return this.all;
      },
      whileApart: (work) => this.#crossing.apart(work),
      ...(kept && { makeAlone: (copy: Store) => kept.makeAlone(copy) }),
      tenants,
      files,
      spaces: encoder.spaces,
      clock,
      log: event,
    });
  }

  /** Number of slots, with those that are elsewhere. */
  get count(): number {
    return this.#runtime.slotFolders.length;
  }

  get all(): readonly Slot[] {
    return [...this.#here.values()];
  }

  get ledger(): Ledger {
    return new Ledger(this.all.map(({ services }) => services.gate.journal));
  }

  /** The slot that an id leads to: a Tenant's or a job's. Undefined where it is elsewhere. */
  find(id: string): Slot | undefined {
    return this.#here.get(slotOf(id, this.count));
  }

  /** As `find`. @throws not_found where it is elsewhere */
  of(id: string): Slot {
    const slot = this.find(id);
    if (slot) return slot;
    throw new FarthingError('not_found', 'Another server has it. Ask there.');
  }

  /** The books here that an id leads to, as other servers ask for them. */
  booksHere(id: string): BooksHere | undefined {
    return this.#across.booksHere(id);
  }

  /** Finishes what a crash left. Disposals come before anything uses their Tenants, and payments before the work that they pay for. */
  async recover(): Promise<void> {
    const { payments, tenants } = this.#runtime;
    await payments.connect();
    if (this.all.length > 0) await tenants.resumeDisposals();
    await this.#recover(this.all);
    await Promise.all(this.all.map((slot) => slot.resumeJobs()));
  }

  /** Takes up a slot that this server has claimed. Its requests may come once this resolves. */
  async enter(number: number, store: SlotStore): Promise<void> {
    const { slotFolders, tenants } = this.#runtime;
    const folder = tenantsFolder(slotFolders[number]!);
    tenants.enter(folder);
    await tenants.resumeDisposals([folder]);
    const slot = this.#wire(number, store);
    this.#entering.set(number, slot);
    try {
      await this.#recover([slot]);
      // The slot answers meanwhile: where the object store is away, this may take as long.
      void slot
        .resumeJobs()
        .catch((error: unknown) => this.#runtime.event({ event: 'jobs_not_resumed', error: String(error) }));
      this.#here = new Map([...this.#here, [number, slot] as const].sort(([a], [b]) => a - b));
    } catch (error) {
      await slot.endWork().catch(() => undefined);
      await tenants.leave(folder);
      throw error;
    } finally {
      this.#entering.delete(number);
    }
  }

  /** Gives a slot up: ends its work, and closes its indexes. Its state stays open. @param msMax for requests that run to end */
  async leave(number: number, msMax: number): Promise<void> {
    const slot = this.#here.get(number)!;
    this.#here = new Map([...this.#here].filter(([other]) => other !== number));
    slot.services.ingest.stopWaiting();
    await within(msMax, slot.services.running.none());
    await slot.endWork();
    await this.#runtime.previousModels.left(slot.store);
    await this.#runtime.tenants.leave(tenantsFolder(this.#runtime.slotFolders[number]!));
  }

  async #recover(slots: readonly Slot[]): Promise<void> {
    await Promise.all(slots.map((slot) => slot.recoverPayments()));
    await Promise.all(slots.map((slot) => slot.resume()));
  }

  #placeOf(slot: number): PaidPlace {
    const here = this.#here.get(slot) ?? this.#entering.get(slot);
    return here ?? this.#options.elsewhere!.whereElse(slot);
  }

  #wire(number: number, store: SlotStore): Slot {
    const { slotFolders } = this.#runtime;
    const { elsewhere } = this.#options;
    return wireSlot({
      ...this.#common(),
      folder: slotFolders[number]!,
      store,
      leadsHere: (id) => slotOf(id, slotFolders.length) === number,
      ...(elsewhere && { removeCopies: (tenant: string) => elsewhere.removeCopies(number, tenant) }),
    });
  }

  #wireFront(store: SlotStore): Slot {
    return wireSlot({
      ...this.#common(),
      folder: join(this.#runtime.data, 'front'),
      store,
      leadsHere: () => {
        throw new Error('nothing leads to books that are never written');
      },
    });
  }

  #common(): Pick<SlotOptions, 'runtime' | 'monotonic' | 'across'> {
    return { runtime: this.#runtime, monotonic: this.#options.monotonic, across: this.#across };
  }

  /** Called once a second. */
  async sweep(): Promise<void> {
    const { tenants, signer, log } = this.#runtime;
    this.#sweeps += 1;
    // Another server may have destroyed a key.
    void signer.refresh();
    const period = Math.max(1, Math.min(SWEEPS_PER_BEAT_MAX, this.all.length));
    const beats = (number: number) => (this.#sweeps + number) % period === 0;
    await Promise.all(this.all.map((slot, number) => slot.sweep(beats(number))));
    for (const { store } of this.all) await store.trim?.();
    await tenants
      .closeIdle(SHARD_IDLE_MS)
      .catch((error: unknown) => log.error({ event: 'close_failed', err: error }));
  }

  /** Ends all waits for jobs. */
  stopWaiting(): void {
    for (const { services } of this.all) services.ingest.stopWaiting();
  }

  async endWork(): Promise<void> {
    await Promise.all(this.all.map((slot) => slot.endWork()));
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((slot) => slot.close()));
    if (this.#options.front) {
      await this.front.endWork();
      await this.front.close();
    }
  }

  health(): GateHealth {
    const all = this.all.map(({ services }) => services.gate.health());
    return {
      facilitator: this.front.services.gate.health().facilitator,
      pending: sum(all.map(({ pending }) => pending)),
      running: sum(all.map(({ running }) => running)),
    };
  }

  /** For how many milliseconds a log has lacked what its slot wrote; 0 when all have everything. */
  lagMs(): number {
    return Math.max(
      this.#options.elsewhere?.silentMs() ?? 0,
      ...this.all.map(({ store }) => store.lagMs?.() ?? 0),
    );
  }

  /** Number of slots that no server has. */
  unowned(): number {
    return this.#options.elsewhere?.unowned() ?? 0;
  }

  /** What is followed of other servers' slots; undefined where none has any. */
  standby(): StandbyFigures | undefined {
    return this.#options.elsewhere?.standby();
  }

  /** As another server asks for it. @throws PeerAwayError where it cannot be said that nothing is left */
  async removeCopy(tenant: string): Promise<void> {
    await this.#options.elsewhere!.removeCopy(slotOf(tenant, this.count), tenant);
  }

  /** Ingest jobs that have not ended. */
  jobs(): { readonly queued: number; readonly running: number; readonly held: number } {
    const all = this.all.map(({ services }) => services.ingest.depths());
    return {
      queued: sum(all.map(({ queued }) => queued)),
      running: sum(all.map(({ running }) => running)),
      held: sum(all.map(({ held }) => held)),
    };
  }

  /** Undefined when no change of model is under way. */
  reencoding(): ReencodingProgress | undefined {
    const all = this.all.flatMap(({ reencoding }) => reencoding.progress() ?? []);
    if (all.length === 0) return undefined;
    return {
      tenants_left: sum(all.map(({ tenants_left }) => tenants_left)),
      segments_done: sum(all.map(({ segments_done }) => segments_done)),
      segments_given_up: sum(all.map(({ segments_given_up }) => segments_given_up)),
      tenants_failed: sum(all.map(({ tenants_failed }) => tenants_failed)),
    };
  }

  /** Workspaces of all slots in order of their ids, at most `limit` of each slot. */
  list({ after, limit }: { after?: string; limit: number }): WorkspacePage {
    const pages = this.all.map(({ services }) => services.workspaces.views.list({ after, limit }));
    // Beyond the first of the pages' ends, another workspace of its slot may come.
    const known = pages.flatMap(({ next }) => next ?? []).sort()[0];
    const workspaces = pages
      .flatMap((page) => page.workspaces)
      .filter(({ id }) => known === undefined || id <= known)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return { workspaces, next: known ?? null };
  }

  show(id: WorkspaceId) {
    return this.of(id).services.workspaces.views.show(id);
  }

  /** @throws not_found */
  disposeAsOperator(id: WorkspaceId) {
    return this.of(id).services.workspaces.disposeAsOperator(id);
  }
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}
