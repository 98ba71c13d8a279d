import type { BooksCopy } from '../log/state-copy.ts';
import type { Membership } from '../members/membership.ts';
import { ClaimError } from '../members/slot-claims.ts';
import { PeerAwayError } from '../peers/peer-calls.ts';
import type { KvCondition } from '../stores/kv.ts';
import type { SlotCopies } from './slot-copies.ts';
import type { Standby } from './standby.ts';

/** This disk's content of slots' Tenants. */
export interface ContentDisk {
  /** Reduces a released slot's content to its indexes. */
  keepIndexesAlone(slot: number): Promise<void>;
  /** Removes this disk's content of a slot's Tenants. */
  removeContent(slot: number): Promise<void>;
}

export interface CopiesHereOptions {
  readonly membership: Pick<Membership, 'view' | 'placed' | 'next'>;
  readonly node: string;
  /** Absent: nothing is followed. */
  readonly standby: Standby | undefined;
  readonly copies: SlotCopies;
  readonly disk: ContentDisk;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  readonly log: (event: object) => void;
}

/** This server's role at the moment. */
export interface Situation {
  /** Slots may be placed here. */
  readonly isTaking: boolean;
  /** It hands all slots over, and ends. */
  readonly isLeaving: boolean;
  /** Slots are here. */
  readonly hasSlots: boolean;
}

/** Begins something about a slot. */
export type Step = () => Promise<void>;

/** After what failed. */
const RETRY_MS = 5000;

/** This disk's copies for slots that other servers own: indexes that follow theirs, or no content at all. */
export class CopiesHere {
  readonly #options: CopiesHereOptions;
  /** Slots whose on-disk copy dates from this process's own handover. */
  readonly #givenUp = new Set<number>();
  /** Earliest time of the next attempt, by slot. */
  readonly #retryAt = new Map<number, number>();

  constructor(options: CopiesHereOptions) {
    this.#options = options;
  }

  /** The next step for a slot that is not here. */
  step(slot: number, { isTaking, isLeaving, hasSlots }: Situation): Step | undefined {
    const { membership, node, standby, copies } = this.#options;
    const isElsewhere = ![undefined, node].includes(membership.view.owners.get(slot));
    const isFollowed = standby?.has(slot) ?? false;
    const isToFollow = standby && isElsewhere && !isLeaving && membership.next(slot) === node;
    // A server that waits for our former content comes first. A slot that no server claims may be claimed here again.
    const isToRemove = isLeaving
      ? !hasSlots && (isFollowed || membership.placed(slot) !== undefined)
      : isElsewhere && !isToFollow;
    if (isFollowed) return isToRemove ? () => this.#standDown(slot) : undefined;
    if (this.#options.now() < (this.#retryAt.get(slot) ?? 0)) return undefined;
    if (isToFollow) return () => this.#standBy(slot);
    // A former process of this node may have had it.
    return isToRemove && isTaking && !copies.isClean(slot) ? () => this.#remove(slot) : undefined;
  }

  /**
   * This server has claimed a slot. @returns the copy of its state, open, where it was followed
   * @throws ClaimError where the claim is another's by now
   */
  async take(slot: number, claimed: KvCondition): Promise<BooksCopy | undefined> {
    const { standby, copies } = this.#options;
    this.#givenUp.delete(slot);
    const copy = await standby?.release(slot);
    // A server that follows a slot has recorded that already.
    if (!copy && !(await copies.note(slot, [claimed])))
      throw new ClaimError('the slot belongs to another server by now');
    return copy;
  }

  /** To be called when this server has released a slot; its folder is as current as its store. */
  gaveUp(slot: number): void {
    this.#givenUp.add(slot);
  }

  /** Removes this disk's copy of a Tenant that has ended at another server. @throws PeerAwayError where that cannot be confirmed */
  async removeTenant(slot: number, tenant: string): Promise<void> {
    const { standby, copies } = this.#options;
    if (standby?.has(slot)) await standby.remove(slot, tenant);
    else if (!copies.isClean(slot)) throw new PeerAwayError('it may be on this disk');
  }

  /** Follows a slot of another server: with the indexes that this process had of it, or from nothing of a Tenant on. */
  async #standBy(slot: number): Promise<void> {
    const { disk, copies, standby, log } = this.#options;
    try {
      if (this.#givenUp.delete(slot)) await disk.keepIndexesAlone(slot);
      else await disk.removeContent(slot);
      await copies.note(slot);
      await standby!.follow(slot);
      log({ event: 'slot_followed', slot });
    } catch (error) {
      this.#retryLater(slot);
      log({ event: 'slot_not_followed', slot, error: String(error) });
    }
  }

  /** Another server is the next owner by now. */
  async #standDown(slot: number): Promise<void> {
    await (await this.#options.standby!.release(slot))?.close();
    await this.#remove(slot);
  }

  async #remove(slot: number): Promise<void> {
    const { copies, log } = this.#options;
    this.#givenUp.delete(slot);
    try {
      await copies.remove(slot);
      log({ event: 'content_removed', slot });
    } catch (error) {
      this.#retryLater(slot);
      log({ event: 'content_not_removed', slot, error: String(error) });
    }
  }

  #retryLater(slot: number): void {
    this.#retryAt.set(slot, this.#options.now() + RETRY_MS);
  }
}
