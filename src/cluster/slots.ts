import { join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { leadsTo } from '@farthing/server/state/book-folders';
import { type Books, type BooksOptions, recoverBooks, wireBooks } from '@farthing/server/wiring/books';
import type { Placement } from '@farthing/server/wiring/placement';
import { type Runtime, tenantsFolder } from '@farthing/server/wiring/process';
import { AcrossSlots } from './across/across-slots.ts';
import { OrphanedExtensions } from './across/orphaned-extensions.ts';
import type { BooksHere } from './across/peer-handlers.ts';
import { SharedLock } from './across/shared-lock.ts';
import { RequestCount } from './forward/request-count.ts';
import type { SlotPlace } from './forward/slot-places.ts';
import type { SlotStore } from './log/recorded-store.ts';
import type { Sharing } from './sharing.ts';
import { within } from './stores/within.ts';

export interface SlotsOptions extends Pick<BooksOptions, 'monotonic'> {
  /** States of the slots in order, where this server has all of them. Absent: they come and go by `enter` and `leave`. */
  readonly stores?: readonly SlotStore[];
  /** A store that is never written to, for requests that lead to no slot. With `stores`, the first slot answers them. */
  readonly front?: SlotStore;
  /** The slots that other servers have. Absent: none. */
  readonly sharing?: Sharing;
}

/** The store and services of a slot that this server owns. */
export interface Slot extends Books {
  readonly store: SlotStore;
  /** Requests that it is answering. */
  readonly running: RequestCount;
}

/** The slots that are at this server. */
export class Slots implements Placement {
  readonly front: Slot;
  readonly #runtime: Runtime;
  readonly #options: SlotsOptions;
  readonly #lock = new SharedLock();
  readonly #across: AcrossSlots;
  /** By number, in order. */
  #here: ReadonlyMap<number, Slot>;
  /** Slots whose requests may not come yet: their payments are being recovered. */
  readonly #entering = new Map<number, Slot>();

  constructor(runtime: Runtime, options: SlotsOptions) {
    this.#runtime = runtime;
    this.#options = options;
    const { stores = [], front, sharing } = options;
    this.#across = new AcrossSlots({
      placeOf: (id) => {
        const slot = this.numberOf(id);
        const here = this.#here.get(slot) ?? this.#entering.get(slot);
        return here ? { services: { ...here.services, ...safetyOf(here) } } : sharing!.whereElse(slot);
      },
      lock: this.#lock,
      ...(sharing && { peers: sharing.purchases }),
    });
    this.#here = new Map(stores.map((store, number) => [number, this.#wire(number, store)]));
    this.front = front ? this.#wireFront(front) : this.#here.get(0)!;
  }

  /** Number of slots, with those that are elsewhere. */
  get count(): number {
    return this.#runtime.bookFolders.length;
  }

  get all(): readonly Slot[] {
    return [...this.#here.values()];
  }

  /** Number of an id's slot. */
  numberOf(id: string): number {
    return leadsTo(id, this.count);
  }

  /** Location of an id's slot: a Tenant's or a job's. */
  placeOf(id: string): SlotPlace<Slot> {
    const slot = this.numberOf(id);
    const here = this.#here.get(slot);
    return here ? { services: here } : this.#options.sharing!.whereElse(slot);
  }

  of(id: string): Slot {
    const slot = this.#here.get(this.numberOf(id));
    if (slot) return slot;
    throw new FarthingError('not_found', 'Another server has it. Ask there.');
  }

  /** The store in this process that an id leads to, for calls of other servers. */
  booksHere(id: string): BooksHere | undefined {
    return this.#across.booksHere(id);
  }

  /** Takes up a slot that this server has claimed. Its requests may come once this resolves. */
  async enter(number: number, store: SlotStore): Promise<void> {
    const { bookFolders, tenants } = this.#runtime;
    const folder = tenantsFolder(bookFolders[number]!);
    tenants.enter(folder);
    await tenants.resumeDisposals([folder]);
    const slot = this.#wire(number, store);
    this.#entering.set(number, slot);
    try {
      await recoverBooks([slot]);
      // The slot answers while this runs: it may take as long as the object store is away.
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
  async giveUp(number: number, msMax: number): Promise<void> {
    const slot = this.#here.get(number)!;
    this.#here = new Map([...this.#here].filter(([other]) => other !== number));
    slot.services.ingest.stopWaiting();
    await within(msMax, slot.running.none());
    await slot.endWork();
    await this.#runtime.tenants.leave(tenantsFolder(this.#runtime.bookFolders[number]!));
  }

  lagMs(): number {
    const lags = this.all.map(({ store }) => store.lagMs?.() ?? 0);
    return Math.max(this.#options.sharing?.silentMs() ?? 0, ...lags);
  }

  get modelsDiffer(): string | undefined {
    return this.#options.sharing?.modelsDiffer;
  }

  apart(work: () => Promise<void>): Promise<void> {
    return this.#lock.exclusive(work);
  }

  mustHaveAll(): void {
    if (this.all.length === this.count) return;
    throw new FarthingError(
      'not_ready',
      `This server has ${this.all.length} of ${this.count} slots: a backup would lack the others.`,
    );
  }

  async sweep(): Promise<void> {
    for (const { store } of this.all) await store.trim?.();
  }

  async start(warm: () => Promise<void>): Promise<void> {
    await this.#options.sharing?.start(warm);
  }

  async leave(): Promise<void> {
    await this.#options.sharing?.leave();
  }

  async close(): Promise<void> {
    if (this.#options.front) {
      await this.front.endWork();
      await this.front.close();
    }
    await this.#options.sharing?.close();
  }

  #wire(number: number, store: SlotStore): Slot {
    const leadsHere = (id: string) => this.numberOf(id) === number;
    return this.#wireIn(this.#runtime.bookFolders[number]!, store, leadsHere, number);
  }

  #wireFront(store: SlotStore): Slot {
    return this.#wireIn(join(this.#runtime.data, 'front'), store, () => {
      throw new Error('nothing leads to books that are never written');
    });
  }

  #wireIn(folder: string, store: SlotStore, leadsHere: (id: string) => boolean, number?: number): Slot {
    const { sharing, monotonic } = this.#options;
    const runtime = this.#runtime;
    const across = this.#across;
    const books = wireBooks({
      runtime,
      folder,
      store,
      ...(monotonic && { monotonic }),
      others: {
        leadsHere,
        extensionsOf: (id) => across.extensionsOf(id),
        returnTo: (owed) => across.returnTo(owed),
        orphansIn: (workspaces) =>
          new OrphanedExtensions({
            workspaces,
            leadsHere,
            knows: (payer, step) => across.knows(payer, step),
            log: runtime.event,
          }),
        ...(sharing &&
          number !== undefined && { removeCopies: (tenant) => sharing.removeCopies(number, tenant) }),
      },
    });
    return { ...books, store, running: new RequestCount() };
  }
}

/** Conditions for the answers of a slot. */
export function safetyOf({ store, running }: Slot) {
  return {
    running,
    ...(store.stable && { stable: () => store.stable!() }),
    ...(store.lagMs && { lagMs: () => store.lagMs!() }),
  };
}
