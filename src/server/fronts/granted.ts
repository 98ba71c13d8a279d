import { type Shard, shardOf } from '@farthing/engine/shard/shard';
import { OpenSpaces } from '@farthing/engine/shard/spaces';
import { native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import { tokenMatches } from '../workspace/records/token.ts';
import type { Grant } from './messages.ts';
import { type SharedCounts, SLOTS } from './shared-counts.ts';

/** A workspace that this front may read, or might. */
export interface Granted {
  readonly grant: Grant;
  /** Requests and probes of this front that are inside its slot. While there are any, its index stays open. */
  readonly inside: number;
  readonly shard: Shard;
}

interface Held extends Granted {
  grant: Grant;
  inside: number;
  opened?: Shard | undefined;
}

/** The workspaces that a front may read by itself. */
export class GrantedWorkspaces {
  readonly #counts: SharedCounts;
  readonly #front: number;
  readonly #onLeft: (slot: number) => void;
  readonly #all = new Map<string, Held>();

  /** @param onLeft the owner waits for this front to leave a slot */
  constructor(counts: SharedCounts, front: number, onLeft: (slot: number) => void) {
    this.#counts = counts;
    this.#front = front;
    this.#onLeft = onLeft;
  }

  add(workspace: string, grant: Grant): void {
    const held = this.#all.get(workspace);
    if (held && held.grant.slot === grant.slot) {
      held.grant = grant;
      // Only where somebody is inside it is sure to be the same index.
      if (held.inside === 0) held.opened = undefined;
      return;
    }
    this.#all.set(workspace, heldOf(workspace, grant));
    if (this.#all.size <= SLOTS) return;
    for (const [other, { inside }] of this.#all) {
      if (inside > 0) continue;
      this.#all.delete(other);
      return;
    }
  }

  of(workspace: string): Granted | undefined {
    return this.#all.get(workspace);
  }

  /**
   * The holder of a token enters a workspace, which is within its time.
   * @returns a function that leaves, once; undefined where the owner is to answer
   */
  enter(workspace: string, token: string | undefined): (() => void) | undefined {
    const held = this.#all.get(workspace);
    if (!held || !tokenMatches(token, held.grant.tokenHash)) return undefined;
    if (this.#counts.rentedMs() >= held.grant.record.endsAt) return undefined;
    const leave = this.#in(held);
    if (!leave && held.inside === 0) this.#all.delete(workspace);
    return leave;
  }

  /** Runs work with an index that stays open. Undefined where this front may not read it any more. */
  async use<T>(workspace: string, work: (shard: Shard) => Promise<T> | T): Promise<T | undefined> {
    const held = this.#all.get(workspace);
    const leave = held && this.#in(held, held.inside > 0);
    if (!leave) return undefined;
    try {
      return await work(held.shard);
    } finally {
      leave();
    }
  }

  /** @param isInside one of this front is inside, so that the owner still waits whatever the generation is */
  #in(held: Held, isInside = false): (() => void) | undefined {
    const { slot, generation } = held.grant;
    const isGranted = this.#counts.enter(this.#front, slot, generation);
    if (!isGranted && !isInside) {
      this.#out(slot);
      return undefined;
    }
    held.inside += 1;
    let isOut = false;
    return () => {
      if (isOut) return;
      isOut = true;
      held.inside -= 1;
      this.#out(slot);
    };
  }

  #out(slot: number): void {
    if (this.#counts.leave(this.#front, slot)) this.#onLeft(slot);
  }
}

function heldOf(workspace: string, grant: Grant): Held {
  return {
    grant,
    inside: 0,
    get shard(): Shard {
      this.opened ??= open(workspace);
      return this.opened;
    },
  };
}

function open(workspace: string): Shard {
  const index = native.sharedIndex(workspace);
  if (!index) throw new FarthingError('internal', 'An index that a front may read is not shared.');
  return shardOf(index, new OpenSpaces(index));
}
