import type { KeptContent } from '../content/kept-content.ts';
import type { SlotPlace } from '../forward/slot-places.ts';
import { CopiesHere, type Step } from '../handover/copies-here.ts';
import { type CopiesElsewhere, ignoreLost, SlotCopies } from '../handover/slot-copies.ts';
import type { Standby } from '../handover/standby.ts';
import { type HeldStore, heldStore } from '../log/held-store.ts';
import type { LoggedStore } from '../log/logged-store.ts';
import type { SlotStore } from '../log/recorded-store.ts';
import { SlotLog } from '../log/slot-log.ts';
import { prefixOf } from '../log/slot-logs.ts';
import type { BooksCopy } from '../log/state-copy.ts';
import { type Claim, ClaimError, releaseClaim, releaseStray, tryToClaim } from '../members/slot-claims.ts';
import { AnswerLostError, realPause, untilAnswered } from '../stores/kv.ts';
import { within } from '../stores/within.ts';
import { FailedSlots } from './failed-slots.ts';
import type { Joined } from './join-cluster.ts';
import type { SlotClock, SlotDisk } from './slot-disk.ts';
import { SlotMoves } from './slot-moves.ts';

/** Operations on this process's slots. */
interface SlotsHere {
  /** Opens a slot. It accepts requests once this resolves. */
  enter(slot: number, store: SlotStore): Promise<void>;
  /** Releases a slot. Its state stays open. @param msMax for running requests to end */
  leave(slot: number, msMax: number): Promise<void>;
}

export interface SharedSlotsOptions
  extends Pick<Joined, 'kv' | 'cluster' | 'node' | 'lease' | 'commits' | 'membership' | 'calls'> {
  /** How this server's models differ from the cluster's, where they do: it takes no slots. */
  readonly modelsDiffer?: string | undefined;
  /** Number of slots. */
  readonly count: number;
  readonly disk: SlotDisk;
  readonly slots: SlotsHere;
  readonly kept: Pick<KeptContent, 'enter' | 'leave'>;
  /** Follows slots of other servers. Absent: nothing does. */
  readonly standby?: Standby | undefined;
  readonly log: (event: object) => void;
  /** A slot is lost while it is in use: this process may answer nothing. */
  readonly onLost: (slot: number, error: unknown) => void;
  readonly clock?: SlotClock;
}

/** A slot that is with this server. */
interface Held {
  readonly claim: Claim;
  readonly store: HeldStore;
}

/** Slots that come and go at the same time: each opens files and reads a log. */
const MOVING_MAX = 4;
/** Handovers in flight. Fewer at once keeps each slot's downtime short. */
const HANDED_MAX = 1;
/** Time for running requests to end before their slot is released. */
const LEAVE_MS_MAX = 5000;
/** Time limit for each answer of etcd while a server shuts down. */
const TELL_MS_MAX = 5000;
/** Time for other servers to claim released slots while a server shuts down. */
const PATIENCE_MS = 20_000;
/** After which another look has been taken. */
const NEXT_LOOK_MS = 250;
/** A server that cannot give a slot up in this time ends: its lease gives all of them free. */
const GIVE_UP_MS_MAX = 30_000;
/** A server that comes waits so long until it has followed what it is to have. */
const FOLLOW_MS_MAX = 10_000;
/** After a slot could not be opened. */
const RETRY_MS = 5000;

/** Claims the free slots that are placed with this server, and releases those that are placed with another. */
export class SharedSlots {
  readonly #options: SharedSlotsOptions;
  readonly #clock: SlotClock;
  readonly #held = new Map<number, Held>();
  readonly #moving = new Map<number, Promise<void>>();
  /** When a slot that could not be opened may be tried again, by the monotonic clock. */
  readonly #retryAt = new Map<number, number>();
  readonly #failed: FailedSlots;
  readonly #copies: SlotCopies;
  readonly #here: CopiesHere;
  /** Released slots that no other server is known to have claimed: until when they are waited for. */
  readonly #handedOver = new Map<number, number>();
  /** Slots may be placed here. */
  #isTaking = false;
  #isLeaving = false;
  #hurriesAt = Number.POSITIVE_INFINITY;
  #isEnding = false;
  readonly #moves: SlotMoves;
  #changed = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(options: SharedSlotsOptions) {
    const { disk, clock = { now: () => performance.now(), pause: realPause } } = options;
    this.#options = options;
    this.#clock = clock;
    this.#failed = new FailedSlots(clock.now);
    const removeContent = (slot: number) => disk.removeContent(slot);
    this.#copies = new SlotCopies({ ...options, removeContent, pause: clock.pause });
    this.#here = new CopiesHere({
      ...options,
      standby: options.standby,
      copies: this.#copies,
      now: clock.now,
    });
    this.#moves = new SlotMoves((slot) => {
      const { owners, nodes } = options.membership.view;
      const owner = owners.get(slot) ?? '';
      return `${this.#held.has(slot)} ${owner} ${nodes.get(owner)?.url}`;
    });
  }

  /** To be called once requests may come. @param warm does what a start leaves for later */
  async start(warm: () => Promise<void>): Promise<void> {
    this.#running = this.#run();
    await this.#haveFollowed(warm);
    if (this.#options.modelsDiffer !== undefined) return;
    await this.#options.membership.setReady(true);
    this.#isTaking = true;
    this.#wake();
  }

  /** Peers keep their slots until our copies are ready. */
  async #haveFollowed(warm: () => Promise<void>): Promise<void> {
    const { membership, standby, node } = this.#options;
    const until = this.#clock.now() + FOLLOW_MS_MAX;
    const isAwaited = (slot: number) => membership.willBePlaced(slot) === node && !standby!.isLevel(slot);
    // Undefined before it has begun.
    let isWarm: boolean | undefined;
    while (!this.#isLeaving && this.#clock.now() < until) {
      const { owners } = membership.view;
      const slots = this.#slots();
      if (slots.some((slot) => [undefined, node].includes(owners.get(slot)))) return;
      if (isWarm && !(standby && slots.some(isAwaited))) return;
      if (isWarm === undefined) {
        isWarm = false;
        void warm().then(() => {
          isWarm = true;
          this.#wake();
        });
      }
      await Promise.race([membership.looked, this.#changed.promise]);
    }
  }

  /** Location of a slot that is not here. */
  whereElse(slot: number): Exclude<SlotPlace, { services: unknown }> {
    const { membership, node } = this.#options;
    const { owners, nodes } = membership.view;
    const owner = owners.get(slot);
    const row = owner === undefined || owner === node ? undefined : nodes.get(owner);
    const moved = this.#moves.moved(slot);
    return row ? { peer: { id: owner!, url: row.url }, moved } : { moving: moved };
  }

  /** As those of `SlotCopies`. */
  removeCopies(slot: number, tenant: string): Promise<CopiesElsewhere> {
    return this.#copies.removeElsewhere(slot, tenant);
  }

  /** As `CopiesHere.removeTenant`. */
  removeCopy(slot: number, tenant: string): Promise<void> {
    return this.#here.removeTenant(slot, tenant);
  }

  /** Number of slots that no server has, as it was at the last look. */
  unowned(): number {
    const { membership, count } = this.#options;
    return count - membership.view.owners.size;
  }

  /** Hands all slots over to the other servers, which are notified first; without any, the slots become free. Requests may still come. */
  async leave(): Promise<void> {
    const { standby } = this.#options;
    this.#isLeaving = true;
    this.#hurriesAt = this.#clock.now() + PATIENCE_MS;
    // With etcd away no server can be notified, and none takes a slot.
    let isAnnounced = false;
    const announced = this.#options.membership.setReady(false).then(() => {
      isAnnounced = true;
    });
    await within(TELL_MS_MAX, announced, this.#clock.pause);
    if (!isAnnounced) this.#hurriesAt = 0;
    for (;;) {
      this.#adjust();
      if (this.#held.size === 0 && this.#moving.size === 0 && (standby?.size ?? 0) === 0) return;
      await Promise.race([this.#options.membership.looked, ...this.#moving.values()]);
    }
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    this.#wake();
    await this.#running;
    await Promise.all(this.#moving.values());
    await this.#options.standby?.close();
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
    this.#moves.look();
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }

  #adjust(): void {
    const { membership, log } = this.#options;
    void membership
      .setUnable(this.#failed.away())
      .catch((error: unknown) => log({ event: 'slots_not_given_away', error: String(error) }));
    const slots = this.#slots();
    this.#begin(slots, (slot) => this.#ownerStep(slot));
    // Work that clients wait for comes first.
    if (slots.some((slot) => this.#isToMove(slot))) return;
    const [isTaking, isLeaving, hasSlots] = [this.#isTaking, this.#isLeaving, this.#held.size > 0];
    this.#begin(slots, (slot) =>
      this.#held.has(slot) ? undefined : this.#here.step(slot, { isTaking, isLeaving, hasSlots }),
    );
  }

  #slots(): number[] {
    return Array.from({ length: this.#options.count }, (_, slot) => slot);
  }

  #begin(slots: readonly number[], stepOf: (slot: number) => Step | undefined): void {
    for (const slot of slots) {
      if (this.#moving.size >= MOVING_MAX && this.#clock.now() <= this.#hurriesAt) return;
      const step = this.#moving.has(slot) ? undefined : stepOf(slot);
      if (step) this.#move(slot, step());
    }
  }

  /** Whether a slot is to come here, or to leave. */
  #isToMove(slot: number): boolean {
    const { membership, node } = this.#options;
    const isPlacedHere = membership.placed(slot) === node;
    if (this.#held.has(slot)) return !isPlacedHere;
    return this.#isTaking && !this.#isLeaving && isPlacedHere && this.#mayTry(slot);
  }

  /** The next step towards a slot's intended owner. */
  #ownerStep(slot: number): Step | undefined {
    const { membership, node } = this.#options;
    const placed = membership.placed(slot);
    if (this.#held.has(slot)) return this.#isToLeave(placed) ? () => this.#leave(slot) : undefined;
    if (!this.#isTaking || !this.#mayTry(slot)) return undefined;
    const owner = membership.view.owners.get(slot);
    const isFree = owner === undefined || owner === node;
    if (placed === node && isFree && !this.#isLeaving) return () => this.#enter(slot);
    // Our claim may have succeeded; release it, or no server can claim the slot.
    return owner === node ? () => this.#releaseStray(slot) : undefined;
  }

  /**
   * Hands over no faster than other servers claim: a slot without an owner keeps its clients waiting.
   * @param placed where a held slot belongs
   */
  #isToLeave(placed: string | undefined): boolean {
    const { membership, node } = this.#options;
    if (placed === node || (placed === undefined && !this.#isLeaving)) return false;
    const { owners } = membership.view;
    const now = this.#clock.now();
    for (const [slot, until] of this.#handedOver)
      if (now > until || ![undefined, node].includes(owners.get(slot))) this.#handedOver.delete(slot);
    if (placed === undefined || now > this.#hurriesAt) return true;
    return this.#moving.size + this.#handedOver.size < HANDED_MAX;
  }

  #mayTry(slot: number): boolean {
    return this.#clock.now() >= (this.#retryAt.get(slot) ?? 0);
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
    const began = this.#clock.now();
    const claiming = { kv, prefix: prefixOf(cluster), node, lease: async () => lease };
    try {
      const claim = (await tryToClaim(claiming, [slot]))?.get(slot);
      // Another was first, as the next look shows.
      if (!claim) return this.#retryLater(slot, NEXT_LOOK_MS);
      this.#handedOver.delete(slot);
      const followed = await this.#open(slot, claim);
      this.#failed.opened(slot);
      log({ event: 'slot_taken', slot, followed, ms: Math.round(this.#clock.now() - began) });
    } catch (error) {
      // Without the lease another server may shorten the log while it is read.
      const isLate = error instanceof ClaimError || error instanceof AnswerLostError || !lease.holds;
      this.#retryLater(slot, isLate ? NEXT_LOOK_MS : RETRY_MS);
      if (isLate) return;
      this.#failed.failed(slot);
      log({ event: 'slot_not_taken', slot, error: String(error) });
    }
  }

  #retryLater(slot: number, milliseconds: number): void {
    this.#retryAt.set(slot, this.#clock.now() + milliseconds);
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

  /** @returns whether what is on this disk was copied from the owner's until now */
  async #open(slot: number, claim: Claim): Promise<boolean> {
    const { kept, slots, kv } = this.#options;
    let store: HeldStore | undefined;
    try {
      const copy = await this.#here.take(slot, claim.fence);
      store = heldStore(await this.#openStore(slot, claim, copy));
      await kept.enter(slot, store);
      await slots.enter(slot, store);
      this.#held.set(slot, { claim, store });
      return copy !== undefined;
    } catch (error) {
      await kept.leave(slot);
      store?.end();
      await store?.close();
      await untilAnswered(() => releaseClaim(kv, claim), ignoreLost, this.#clock.pause);
      throw error;
    }
  }

  #openStore(slot: number, claim: Claim, copy: BooksCopy | undefined): Promise<LoggedStore> {
    const { kv, cluster, commits, disk, log, onLost } = this.#options;
    const slotLog = new SlotLog({
      kv,
      prefix: prefixOf(cluster),
      slot,
      fence: claim.fence,
      commits,
      onLost: (error) => onLost(slot, error),
      log,
      pause: this.#clock.pause,
    });
    return disk.openState(slot, slotLog, claim, copy);
  }

  async #leave(slot: number): Promise<void> {
    const { kv, log, onLost } = this.#options;
    const began = this.#clock.now();
    const { claim } = this.#held.get(slot)!;
    let isGivenUp = false;
    const givenUp = this.#giveUp(slot).then(() => {
      isGivenUp = true;
    });
    try {
      await within(GIVE_UP_MS_MAX, givenUp, this.#clock.pause);
      if (!isGivenUp) throw new Error(`slot ${slot} was not given up in ${GIVE_UP_MS_MAX} ms`);
    } catch (error) {
      this.#held.delete(slot);
      onLost(slot, error);
      return;
    }
    this.#held.delete(slot);
    // A slot that no server can open must not keep the others here.
    this.#handedOver.set(slot, this.#clock.now() + RETRY_MS);
    this.#here.gaveUp(slot);
    // If the release is not answered, the claim ends with the lease, or is found as a stray one.
    const released = untilAnswered(() => releaseClaim(kv, claim), ignoreLost, this.#clock.pause);
    await within(TELL_MS_MAX, released, this.#clock.pause);
    log({ event: 'slot_left', slot, ms: Math.round(this.#clock.now() - began) });
  }

  /** Ends a slot's work here. No other server begins until its claim is released. */
  async #giveUp(slot: number): Promise<void> {
    const { kept, slots } = this.#options;
    const { store } = this.#held.get(slot)!;
    await slots.leave(slot, LEAVE_MS_MAX);
    await kept.leave(slot);
    store.end();
    await store.close();
  }
}
