import { rm } from 'node:fs/promises';
import { keepIndexesAlone } from '../content/followed-indexes.ts';
import { type LoggedStore, openLoggedStore } from '../log/logged-store.ts';
import type { SlotLog } from '../log/slot-log.ts';
import type { BooksCopy } from '../log/state-copy.ts';
import type { Claim } from '../members/slot-claims.ts';
import type { Lease } from '../stores/lease.ts';
import type { SlotDisk } from './slot-disk.ts';

export interface SlotFoldersOptions {
  /** Absolute paths of the folders of each slot's state and Tenants, in order. */
  readonly folders: readonly { readonly state: string; readonly content: string }[];
  readonly lease: Lease;
  readonly log: (event: object) => void;
}

/** The data folder's part of slots that servers share. */
export class SlotFolders implements SlotDisk {
  readonly #options: SlotFoldersOptions;

  constructor(options: SlotFoldersOptions) {
    this.#options = options;
  }

  openState(slot: number, slotLog: SlotLog, claim: Claim, copy: BooksCopy | undefined): Promise<LoggedStore> {
    const { folders, lease, log } = this.#options;
    const { state, content } = folders[slot]!;
    const contentFolder = copy ? undefined : content;
    const onClosed = async () => undefined;
    return openLoggedStore({ folder: state, copy, contentFolder, slotLog, claim, lease, log, onClosed });
  }

  keepIndexesAlone(slot: number): Promise<void> {
    return keepIndexesAlone(this.#options.folders[slot]!.content);
  }

  async removeContent(slot: number): Promise<void> {
    await rm(this.#options.folders[slot]!.content, { recursive: true, force: true });
  }
}
