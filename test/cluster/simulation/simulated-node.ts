import { removalHandlers } from '../../../src/cluster/handover/removed-copies.ts';
import { Standby } from '../../../src/cluster/handover/standby.ts';
import { catchUp } from '../../../src/cluster/log/log-reader.ts';
import { type LoggedStore, loggedStore } from '../../../src/cluster/log/logged-store.ts';
import { entriesOf, type SlotStore } from '../../../src/cluster/log/recorded-store.ts';
import type { SlotLog } from '../../../src/cluster/log/slot-log.ts';
import type { BooksCopy } from '../../../src/cluster/log/state-copy.ts';
import { agreeOnConfig } from '../../../src/cluster/members/cluster-config.ts';
import { Membership } from '../../../src/cluster/members/membership.ts';
import type { Claim } from '../../../src/cluster/members/slot-claims.ts';
import { SharedSlots } from '../../../src/cluster/ownership/shared-slots.ts';
import type { PeerCalls } from '../../../src/cluster/peers/peer-calls.ts';
import { GroupCommit } from '../../../src/cluster/stores/group-commit.ts';
import {
  type Kv,
  type KvCondition,
  type Leases,
  untilAnswered,
  type Watches,
} from '../../../src/cluster/stores/kv.ts';
import { Lease } from '../../../src/cluster/stores/lease.ts';
import { positionOf } from '../../../src/server/state/log-position.ts';
import { type Books, CLUSTER, ENDING, HEADS, RECEIPTS, type SignedCopies, WORDS } from './books.ts';
import { type Plant, planted } from './plants.ts';
import { SimulatedCopy, type SimulatedDisk } from './simulated-disk.ts';
import { SimulatedIndexes } from './simulated-indexes.ts';
import type { Dice, VirtualProcess } from './virtual-time.ts';

export interface NodeOptions {
  readonly id: string;
  readonly slots: number;
  readonly process: VirtualProcess;
  readonly dice: Dice;
  readonly disk: SimulatedDisk;
  readonly kv: Kv & Leases & Watches;
  readonly calls: PeerCalls;
  readonly books: Books;
  readonly plant: Plant | undefined;
  /** The process has ended: by an error that is a fault of the code, or as it was told. */
  readonly onEnd: (fault: unknown) => void;
}

/** Kinds of clients' work on a slot. */
export type ClientWork = 'read' | 'write' | 'rent' | 'end' | 'trim';

export const LEASE_SECONDS = 5;
const LOOK_MS = 400;
/** The last ones of a slot. */
const READ_WORDS = 10;
const PART_BYTES = 2 ** 16;

/** A slot's data on the disk cannot be opened. */
class BrokenFolderError extends Error {}

/** A slot that this server answers for. */
interface Held {
  readonly store: SlotStore;
  readonly fence: KvCondition;
}

/**
 * One run of a server. Slots come and go by the `SharedSlots` of servers, copies are followed by their `Standby`, and states are led by
 * their logs; disks, indexes and what clients want are simulated.
 */
export class SimulatedNode {
  readonly #options: NodeOptions;
  readonly #kv: Kv & Leases & Watches;
  readonly #held = new Map<number, Held>();
  readonly #fences = new Map<number, KvCondition>();
  #lease: Lease | undefined;
  #membership: Membership | undefined;
  #shared: SharedSlots | undefined;
  #isLeaving = false;
  #names = 0;

  constructor(options: NodeOptions) {
    const { kv, plant } = options;
    this.#options = options;
    this.#kv = plant === undefined ? kv : planted(kv, plant);
    this.#run().catch((error: unknown) => this.#end(error));
  }

  get has(): ReadonlySet<number> {
    return new Set(this.#held.keys());
  }

  /** A client's work. Results of unsuccessful writes are not reported. */
  serve(work: ClientWork, slot: number): void {
    const held = this.#held.get(slot);
    if (held) this.#serve(work, slot, held).catch(() => undefined);
  }

  /** Another server asks. */
  async answer(name: string, body: unknown): Promise<unknown> {
    const handlers = removalHandlers(async (tenant) => {
      if (this.#options.plant === 'says of a copy that is there that it is removed') return;
      await this.#shared!.removeCopy(leadsTo(tenant), tenant);
    });
    return handlers[name]!(body);
  }

  /** It gives everything to the others and ends. */
  leave(): void {
    if (this.#isLeaving || !this.#shared) return;
    this.#isLeaving = true;
    const left = async () => {
      await this.#shared!.leave();
      await this.#shared!.close();
      await this.#membership!.close();
      await this.#lease!.end();
      this.#end(undefined);
    };
    left().catch((error: unknown) => this.#end(error));
  }

  async #run(): Promise<void> {
    const { id, slots, process, calls } = this.#options;
    const kv = this.#kv;
    const { pause, moment: now, every } = process;
    const answered = <T>(ask: () => Promise<T>) => untilAnswered(ask, () => undefined, pause);
    await answered(() => agreeOnConfig({ kv, cluster: CLUSTER, node: id, slots }));
    const onLost = () => this.#end(undefined);
    const lease = await answered(() =>
      Lease.take({ leases: kv, seconds: LEASE_SECONDS, onLost, now, every }),
    );
    const log = (event: object) => this.#report(event);
    const row = { url: `http://${id}`, version: '1', weight: 1, since: '', ready: false };
    const common = { kv, cluster: CLUSTER, node: id, lease, log };
    const joining = { ...common, watches: kv, row, lookMs: LOOK_MS, pause };
    const membership = await answered(() => Membership.join(joining));
    this.#lease = lease;
    this.#membership = membership;
    this.#shared = new SharedSlots({
      ...common,
      calls,
      membership,
      count: slots,
      commits: new GroupCommit({ kv, pause }),
      standby: this.#openStandby(),
      disk: {
        openState: (...words) => this.#openState(...words),
        keepIndexesAlone: async () => undefined,
        removeContent: async (slot) => this.#removeContent(slot),
      },
      kept: { enter: async (slot, store) => this.#removeUnknown(slot, store), leave: async () => undefined },
      slots: {
        enter: async (slot, store) => this.#enter(slot, store),
        leave: async (slot) => void this.#held.delete(slot),
      },
      onLost,
      clock: { now: () => now().monotonic, pause },
    });
    await this.#shared.start(async () => undefined);
  }

  #report(event: object): void {
    const { event: name, error } = event as { event: string; error?: string };
    if (error === String(new BrokenFolderError())) return;
    if (['slot_not_taken', 'slot_not_followed'].includes(name)) this.#end(new Error(`${name}: ${error}`));
  }

  #openStandby(): Standby {
    const { process, dice, disk } = this.#options;
    const { pause } = process;
    const indexes = new SimulatedIndexes({
      process,
      dice,
      content: disk.folders.map(({ content }) => content),
      keep: (slot, tenant) => this.#keep(slot, tenant),
      remove: (slot, tenant) => void disk.folders[slot]!.content.delete(tenant),
    });
    return new Standby({
      kv: this.#kv,
      cluster: CLUSTER,
      openCopy: async (slot) => this.#copy(slot),
      indexes,
      log: () => undefined,
      pause,
    });
  }

  #copy(slot: number): SimulatedCopy {
    const { disk, books, plant } = this.#options;
    return new SimulatedCopy(slot, { store: disk.folders[slot]!.state, books, plant });
  }

  /** As `openLoggedStore`. */
  async #openState(
    slot: number,
    slotLog: SlotLog,
    claim: Claim,
    followed: BooksCopy | undefined,
  ): Promise<LoggedStore> {
    const { disk, books, plant, process } = this.#options;
    const folder = disk.folders[slot]!;
    if (folder.isBroken) throw new BrokenFolderError();
    const { fence, former } = claim;
    const isCopy = followed !== undefined;
    if (!isCopy && former !== undefined && folder.served !== former) folder.content.clear();
    folder.served = fence.revision;
    const copy = this.#copy(slot);
    if (plant === 'serves a copy without the rest of the log' && isCopy) await readOnly(copy, slotLog);
    else await catchUp(copy, slotLog);
    books.goesOn(slot, { fence, position: slotLog.position, isCopy }, copy.store.rows);
    this.#fences.set(slot, fence);
    const { store: state } = copy;
    const trim = async () => {
      const position = positionOf(state)!;
      const parts = [...entriesOf(state, PART_BYTES)];
      await slotLog.stable();
      // Fenced, or without an answer: the log is as it was.
      await slotLog.trim(position, parts).catch(() => undefined);
    };
    const lease = plant === 'answers without a lease' ? undefined : this.#lease;
    const onClosed = async () => undefined;
    const log = (event: object) => this.#report(event);
    const { pause } = process;
    const store = loggedStore({ state, slotLog, lease, takeSnapshot: trim, log, onClosed, pause });
    let trimming: Promise<void> | undefined;
    return {
      ...store,
      // Whether it is worth it or not.
      trim: async () => {
        trimming ??= trim().finally(() => {
          trimming = undefined;
        });
        await trimming;
      },
    };
  }

  #removeContent(slot: number): void {
    if (this.#options.plant !== 'keeps a copy that it said was removed')
      this.#options.disk.folders[slot]!.content.clear();
  }

  /** As `removeUnknown`. */
  #removeUnknown(slot: number, store: SlotStore): void {
    const { content } = this.#options.disk.folders[slot]!;
    const heads = store.table(HEADS);
    for (const tenant of [...content]) if (!heads.get(tenant)) content.delete(tenant);
  }

  /** Something of a Tenant is on this disk from now on. */
  #keep(slot: number, tenant: string): void {
    const { id, disk, books } = this.#options;
    disk.folders[slot]!.content.add(tenant);
    books.keeps(id, tenant);
  }

  #enter(slot: number, store: SlotStore): void {
    const held = { store, fence: this.#fences.get(slot)! };
    this.#held.set(slot, held);
    // A former owner may have begun to end some.
    for (const { key } of [...store.table(ENDING).range()])
      this.#dispose(slot, held, key).catch(() => undefined);
  }

  async #serve(work: ClientWork, slot: number, held: Held): Promise<void> {
    const { store } = held;
    if (work === 'read') await this.#read(slot, held);
    if (work === 'write') await this.#write(slot, held);
    if (work === 'trim') await store.trim!();
    if (work === 'rent') await store.table(HEADS).put(this.#name(`t${slot}-`, held), {});
    const [tenant] = this.#living(store);
    if (work === 'end' && tenant !== undefined) await this.#dispose(slot, held, tenant);
  }

  /** Ids of Tenants that do not end. */
  #living(store: SlotStore): string[] {
    const ending = store.table(ENDING);
    return Array.from(store.table(HEADS).range(), ({ key }) => key).filter((tenant) => !ending.get(tenant));
  }

  #name(prefix: string, { fence }: Held): string {
    this.#names += 1;
    return `${prefix}${this.#options.id}-${fence.revision}-${this.#names}`;
  }

  async #read(slot: number, { store, fence }: Held): Promise<void> {
    const { books, disk, dice } = this.#options;
    const words = [...disk.folders[slot]!.state.raw(WORDS).keys()].slice(-READ_WORDS);
    const living = this.#living(store);
    // Its index and files come when they are asked for.
    if (living.length > 0) this.#keep(slot, dice.oneOf(living));
    await store.stable!();
    books.told(slot, fence, words);
  }

  async #write(slot: number, held: Held): Promise<void> {
    const { plant, books } = this.#options;
    const { store, fence } = held;
    const word = this.#name('', held);
    const written = store.table(WORDS).put(word, {});
    if (plant === 'answers before the log has it') books.told(slot, fence, [word]);
    await written;
    await store.stable!();
    books.acknowledge(slot, word);
    books.told(slot, fence, [word]);
  }

  /** As `Disposals`: the key of its content goes, then the other servers' copies, then it is signed. */
  async #dispose(slot: number, { store, fence }: Held, tenant: string): Promise<void> {
    const { disk, books } = this.#options;
    const [ending, heads, receipts] = [store.table(ENDING), store.table(HEADS), store.table(RECEIPTS)];
    await ending.put(tenant, {});
    disk.folders[slot]!.content.delete(tenant);
    await heads.remove(tenant);
    const copies: SignedCopies = await this.#shared!.removeCopies(slot, tenant);
    await store.transaction(() => {
      void ending.remove(tenant);
      void receipts.put(tenant, copies);
    });
    await store.stable!();
    books.told(slot, fence, []);
    books.ended(tenant, copies);
  }

  #end(fault: unknown): void {
    const { process, onEnd } = this.#options;
    if (process.hasEnded) return;
    process.hasEnded = true;
    onEnd(fault);
  }
}

function leadsTo(tenant: string): number {
  return Number(/^t(\d+)-/.exec(tenant)![1]);
}

/** A planted fault: the copy is kept, and what it lacks is read and not applied. */
async function readOnly(copy: SimulatedCopy, log: SlotLog): Promise<void> {
  const { kept, entries } = await log.open(copy.position);
  if (!kept) return catchUp(copy, log);
  for await (const _ of entries);
}
