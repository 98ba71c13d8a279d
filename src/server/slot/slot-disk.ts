import type { Pause } from '../../cluster/kv.ts';
import type { Claim } from '../../cluster/slot-claims.ts';
import type { SlotLog } from '../../cluster/slot-log.ts';
import type { ContentDisk } from '../standby/copies-here.ts';
import type { BooksCopy } from '../standby/standby.ts';
import type { LoggedStore } from './logged-store.ts';

/** What this disk has of the slots. */
export interface SlotDisk extends ContentDisk {
  /**
   * Opens the state of a slot that was claimed, as its log has it.
   * @param copy of it, open, where what is here was copied from the owner's until now; closed where this throws
   */
  openState(slot: number, slotLog: SlotLog, claim: Claim, copy: BooksCopy | undefined): Promise<LoggedStore>;
}

/** By which a server waits. */
export interface SlotClock {
  /** Milliseconds that never go back. */
  readonly now: () => number;
  readonly pause: Pause;
}
