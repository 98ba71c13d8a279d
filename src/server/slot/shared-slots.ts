import { rm } from 'node:fs/promises';
import { AnswerLostError, untilAnswered } from '../../cluster/kv.ts';
import { COPY_ROWS } from '../../cluster/node-rows.ts';
import { type Claim, OwnedError, releaseClaim, releaseStray, tryToClaim } from '../../cluster/slot-claims.ts';
import { SlotLog } from '../../cluster/slot-log.ts';
import { prefixOf } from '../../cluster/slot-logs.ts';
import { toTimestamp } from '../../domain/clock.ts';
import { FarthingError } from '../../domain/error.ts';
import type { SlotPlace } from '../../http/access/services.ts';
import { type EndableStore, endableStore } from '../../state/endable-store.ts';
import type { SlotStore } from '../../state/recorded-store.ts';
import type { Joined } from './join-cluster.ts';
import type { KeptContent } from './kept-content.ts';
import { type LoggedStore, openLoggedStore } from './logged-store.ts';
import { within } from './within.ts';

/** What a process does with the slots that it has. */
interface SlotsHere {
  /** Takes up a slot. Its requests may come once this resolves. */
  enter(slot: number, store: SlotStore): Promise<void>;
  /** Gives a slot up. Its state stays open. @param msMax for requests that run to end */
  leave(slot: number, msMax: number): Promise<void>;
}

export interface SharedSlotsOptions extends Omit<Joined, 'close'> {
  readonly slots: SlotsHere;
  readonly kept: KeptContent;
  /** Absolute paths of the folders of each slot's state and Tenants, in order. */
  readonly folders: readonly { readonly state: string; readonly content: string }[];
  readonly log: (event: object) => void;
  /** A slot is lost while it is in use: this process may answer nothing. */
  readonly onLost: (slot: number, error: unknown) => void;
}

/** A slot that is with this server. */
interface Held {
  readonly claim: Claim;
  readonly store: SlotStore & Pick<EndableStore, 'end'>;
}

/** Slots that come and go at the same time: each opens files and reads a log. */
const MOVING_MAX = 4;
/** Requests that run may end before their slot is given up. */
const LEAVE_MS_MAX = 5000;
/** With etcd away a server that ends waits so long for each answer. */
const TELL_MS_MAX = 5000;
/** A server that ends waits so long for others to take what it gave up. */
const PATIENCE_MS = 20_000;
/** After which another look has been taken. */
const NEXT_LOOK_MS = 250;
/** A server that cannot give a slot up in this time ends: its lease gives all of them free. */
const GIVE_UP_MS_MAX = 30_000;
/** After a slot could not be opened. */
const RETRY_MS = 5000;

/** Takes up the slots that are placed with this server and free, and gives up those that are placed with another. */
export class SharedSlots {
  readonly #options: SharedSlotsOptions;
  readonly #held = new Map<number, Held>();
  readonly #moving = new Map<number, Promise<void>>();
  /** When a slot that could not be opened may be tried again, by the monotonic clock. */
  readonly #retryAt = new Map<number, number>();
  /** Slots of other servers of which this disk has nothing of a Tenant. */
  readonly #clean = new Set<number>();
  /** Slots that were given up, and that no other server has taken as far as is known. */
  readonly #given = new Set<number>();
  #isLeaving = false;
  #hurriesAt = Number.POSITIVE_INFINITY;
  #isEnding = false;
  #changed = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(options: SharedSlotsOptions) {
    this.#options = options;
  }

  /** To be called once requests may come. */
  async start(): Promise<void> {
    await this.#options.membership.setReady(true);
    this.#running = this.#run();
  }

  /** Where a slot is that is not here. */
  whereElse(slot: number): Exclude<SlotPlace, { services: unknown }> {
    const { membership, node } = this.#options;
    const { owners, nodes } = membership.view;
    const owner = owners.get(slot);
    const row = owner === undefined || owner === node ? undefined : nodes.get(owner);
    if (row) return { peer: { id: owner!, url: row.url } };
    return { moving: this.#changed.promise };
  }

  /** Ids of other nodes whose disks may have content of a slot's Tenants. */
  copiesElsewhere(slot: number): readonly string[] {
    const { membership, node } = this.#options;
    return (membership.view.copies.get(slot) ?? []).filter((id) => id !== node);
  }

  /** Number of slots that no server has, as it was at the last look. */
  unowned(): number {
    const { membership, folders } = this.#options;
    return folders.length - membership.view.owners.size;
  }

  /** Gives all slots to the others, who are told first; with none there, they are free. Requests may still come. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.#hurriesAt = performance.now() + PATIENCE_MS;
    // With etcd away nobody can be told, and nobody takes anything.
    let isTold = false;
    const told = this.#options.membership.setReady(false).then(() => {
      isTold = true;
    });
    await within(TELL_MS_MAX, told);
    if (!isTold) this.#hurriesAt = 0;
    for (;;) {
      this.#adjust();
      if (this.#held.size === 0 && this.#moving.size === 0) return;
      await Promise.race([this.#options.membership.looked, ...this.#moving.values()]);
    }
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      this.#adjust();
      const { promise } = this.#changed;
      void this.#options.membership.looked.then(() => this.#wake());
      await promise;
    }
  }

  /** Something may have changed: a look, or a slot here. */
  #wake(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }

  #adjust(): void {
    const { membership, folders, node } = this.#options;
    const { owners } = membership.view;
    for (const slot of folders.keys()) {
      if (this.#moving.size >= MOVING_MAX && performance.now() <= this.#hurriesAt) return;
      if (this.#moving.has(slot)) continue;
      const placed = membership.placed(slot);
      const isHere = this.#held.has(slot);
      const owner = owners.get(slot);
      if (isHere && this.#isToLeave(placed)) this.#move(slot, this.#leave(slot));
      else if (!isHere && placed === node && (owner === undefined || owner === node) && this.#mayTry(slot))
        this.#move(slot, this.#enter(slot));
      // An attempt was made whose answer was lost, and the slot is placed elsewhere by now: nobody else can claim it.
      else if (!isHere && owner === node && this.#mayTry(slot)) this.#move(slot, this.#releaseStray(slot));
      // A former process of this node may have had it.
      else if (
        !isHere &&
        owner !== undefined &&
        owner !== node &&
        !this.#clean.has(slot) &&
        this.#mayTry(slot)
      )
        this.#move(slot, this.#removeContent(slot));
    }
  }

  /** No faster than others take them up: a slot that nobody has keeps its clients waiting. @param placed where a held slot belongs */
  #isToLeave(placed: string | undefined): boolean {
    const { membership, node } = this.#options;
    if (placed === node || (placed === undefined && !this.#isLeaving)) return false;
    const { owners } = membership.view;
    for (const slot of this.#given)
      if (![undefined, node].includes(owners.get(slot))) this.#given.delete(slot);
    if (placed === undefined || performance.now() > this.#hurriesAt) return true;
    return this.#moving.size + this.#given.size < MOVING_MAX;
  }

  #mayTry(slot: number): boolean {
    return performance.now() >= (this.#retryAt.get(slot) ?? 0);
  }

  #move(slot: number, moved: Promise<void>): void {
    const done = moved.finally(() => {
      this.#moving.delete(slot);
      this.#wake();
    });
    this.#moving.set(slot, done);
  }

  async #enter(slot: number): Promise<void> {
    const { kv, cluster, node, lease, log } = this.#options;
    const began = performance.now();
    const claiming = { kv, prefix: prefixOf(cluster), node, lease: async () => lease };
    try {
      const claim = (await tryToClaim(claiming, [slot]))?.get(slot);
      // Another was first, as the next look shows.
      if (!claim) return this.#retryLater(slot, NEXT_LOOK_MS);
      this.#clean.delete(slot);
      this.#given.delete(slot);
      await this.#open(slot, claim);
      log({ event: 'slot_taken', slot, ms: Math.round(performance.now() - began) });
    } catch (error) {
      // Without the lease another server may shorten the log while it is read.
      const isLate = error instanceof OwnedError || error instanceof AnswerLostError || !lease.holds;
      this.#retryLater(slot, isLate ? NEXT_LOOK_MS : RETRY_MS);
      if (isLate) return;
      log({ event: 'slot_not_taken', slot, error: String(error) });
    }
  }

  #retryLater(slot: number, milliseconds: number): void {
    this.#retryAt.set(slot, performance.now() + milliseconds);
  }

  async #releaseStray(slot: number): Promise<void> {
    const { kv, cluster, node, log } = this.#options;
    this.#retryLater(slot, NEXT_LOOK_MS);
    try {
      await releaseStray({ kv, prefix: prefixOf(cluster), node }, slot);
    } catch (error) {
      if (!(error instanceof AnswerLostError))
        log({ event: 'slot_not_given_back', slot, error: String(error) });
    }
  }

  async #open(slot: number, claim: Claim): Promise<void> {
    const { kept, slots, kv } = this.#options;
    let store: Held['store'] | undefined;
    try {
      await this.#noteCopy(slot, claim);
      store = endable(await this.#openStore(slot, claim));
      await kept.enter(slot, store);
      await slots.enter(slot, store);
      this.#held.set(slot, { claim, store });
    } catch (error) {
      await kept.leave(slot);
      store?.end();
      await store?.close();
      await untilAnswered(() => releaseClaim(kv, claim), ignoreLost);
      throw error;
    }
  }

  /** In etcd before anything of a Tenant is on this disk: receipts name the servers that may have copies. */
  async #noteCopy(slot: number, { fence }: Claim): Promise<void> {
    const { kv, cluster, node } = this.#options;
    const value = COPY_ROWS.format({ since: toTimestamp(Date.now()) });
    const puts = [{ key: COPY_ROWS.key(cluster, `${slot}/${node}`), value }];
    await untilAnswered(() => kv.commit({ when: [fence], puts }), ignoreLost);
  }

  #openStore(slot: number, claim: Claim): Promise<LoggedStore> {
    const { kv, cluster, lease, commits, folders, log, onLost } = this.#options;
    const { state, content } = folders[slot]!;
    const slotLog = new SlotLog({
      kv,
      prefix: prefixOf(cluster),
      slot,
      fence: claim.fence,
      commits,
      onLost: (error) => onLost(slot, error),
      log,
    });
    const onClosed = async () => undefined;
    return openLoggedStore({ folder: state, contentFolder: content, slotLog, claim, lease, log, onClosed });
  }

  async #leave(slot: number): Promise<void> {
    const { kv, log, onLost } = this.#options;
    const began = performance.now();
    const { claim } = this.#held.get(slot)!;
    let isGivenUp = false;
    const givenUp = this.#giveUp(slot).then(() => {
      isGivenUp = true;
    });
    try {
      await within(GIVE_UP_MS_MAX, givenUp);
      if (!isGivenUp) throw new Error(`slot ${slot} was not given up in ${GIVE_UP_MS_MAX} ms`);
    } catch (error) {
      this.#held.delete(slot);
      onLost(slot, error);
      return;
    }
    this.#held.delete(slot);
    this.#given.add(slot);
    // Where it is not answered, the claim ends with the lease, or is found as a stray one.
    const released = untilAnswered(() => releaseClaim(kv, claim), ignoreLost);
    await within(TELL_MS_MAX, released);
    log({ event: 'slot_left', slot, ms: Math.round(performance.now() - began) });
    await this.#removeContent(slot);
  }

  /** Ends a slot's work here. Until its claim is released nobody else begins. */
  async #giveUp(slot: number): Promise<void> {
    const { kept, slots } = this.#options;
    const { store } = this.#held.get(slot)!;
    await slots.leave(slot, LEAVE_MS_MAX);
    await kept.leave(slot);
    store.end();
    await store.close();
  }

  /** What another server destroys must not stay on this disk, and what it changes must not be found here later. */
  async #removeContent(slot: number): Promise<void> {
    const { kv, cluster, node, folders, log } = this.#options;
    const key = COPY_ROWS.key(cluster, `${slot}/${node}`);
    try {
      const [noted] = await kv.range(key, `${key}\0`);
      await rm(folders[slot]!.content, { recursive: true, force: true });
      // One that arrives late must not take away what was noted since.
      const when = noted ? [{ key, revision: noted.revision }] : [];
      await kv.commit({ when, deletes: [{ from: key, to: `${key}\0` }] });
      this.#clean.add(slot);
      log({ event: 'content_removed', slot });
    } catch (error) {
      this.#retryLater(slot, RETRY_MS);
      log({ event: 'content_not_removed', slot, error: String(error) });
    }
  }
}

function ignoreLost(error: unknown): void {
  if (!(error instanceof AnswerLostError)) throw error;
}

/** The same, until its slot is given up: what still runs then is not told. */
function endable(store: LoggedStore): Held['store'] {
  const ended = () =>
    new FarthingError('interrupted', 'Another server has this now. Send the same request again.', {
      retryAfterS: 1,
    });
  const inner = endableStore(store, ended);
  return {
    ...inner,
    stable: async () => {
      if (inner.hasEnded) throw ended();
      await store.stable();
    },
    lagMs: () => (inner.hasEnded ? Number.POSITIVE_INFINITY : store.lagMs()),
    trim: async () => {
      if (!inner.hasEnded) await store.trim();
    },
  };
}
