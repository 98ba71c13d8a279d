import type { ContentDisk } from '../handover/copies-here.ts';
import type { LoggedStore } from '../log/logged-store.ts';
import type { SlotLog } from '../log/slot-log.ts';
import type { BooksCopy } from '../log/state-copy.ts';
import type { Claim } from '../members/slot-claims.ts';
import type { Pause } from '../stores/kv.ts';

/** This disk's data of the slots. */
export interface SlotDisk extends ContentDisk {
  /**
   * Opens the state of a slot that was claimed, as its log has it.
   * @param copy of it, open, where what is here was copied from the owner's until now; closed where this throws
   */
  openState(slot: number, slotLog: SlotLog, claim: Claim, copy: BooksCopy | undefined): Promise<LoggedStore>;
}

/** Clock and pauses of a server's waits. */
export interface SlotClock {
  /** Milliseconds that never go back. */
  readonly now: () => number;
  readonly pause: Pause;
}
