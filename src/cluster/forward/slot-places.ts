import type { Services } from '@farthing/server/http/access/services';
import type { Peer } from '../peers/peer.ts';
import type { Safety } from './safe-answers.ts';

/** The services of a slot that is at this server. */
export type SlotServices = Services & Safety;

/** The services of each slot; what a process has once is the same in all. */
export interface ServicesBySlot {
  /** Services for requests without a slot. */
  readonly front: SlotServices;
  /** Every id leads to the slot of `front`, the default slot. */
  readonly isOne: boolean;
  /** Location of an id's slot: a Tenant's or a job's. */
  of(id: string): SlotPlace;
}

/** Location of a slot: at this server, at another one, or on its way between two. */
export type SlotPlace<Here = SlotServices> =
  | { readonly services: Here }
  /** `moved`, `moving`: resolves once the slot has moved on. */
  | { readonly peer: Peer; readonly moved: Promise<void> }
  | { readonly moving: Promise<void> };
