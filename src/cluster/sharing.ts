import type { PeerPurchases } from './across/peer-purchases.ts';
import type { SlotPlace } from './forward/slot-places.ts';
import type { CopiesElsewhere } from './handover/slot-copies.ts';
import type { StandbyFigures } from './handover/standby.ts';

/** Membership among servers that share their slots. */
export interface Sharing {
  /** Location of a slot that is not here. */
  whereElse(slot: number): Exclude<SlotPlace, { services: unknown }>;
  /** Has the other servers remove their copies of a Tenant that has ended. */
  removeCopies(slot: number, tenant: string): Promise<CopiesElsewhere>;
  /** Removes this disk's copy of a Tenant that has ended at another server. @throws PeerAwayError where that cannot be confirmed */
  removeCopy(slot: number, tenant: string): Promise<void>;
  /** Figures of the followed slots of other servers. */
  standby(): StandbyFigures;
  /** Number of slots that no server has. */
  unowned(): number;
  /** How this server's models differ from the cluster's, where they do: it takes no slots. */
  readonly modelsDiffer: string | undefined;
  /** Milliseconds since the lease was last renewed, where it may be over; otherwise 0. */
  silentMs(): number;
  readonly purchases: PeerPurchases;
  /** As those of a `Placement`. */
  start(warm: () => Promise<void>): Promise<void>;
  leave(): Promise<void>;
  close(): Promise<void>;
}
