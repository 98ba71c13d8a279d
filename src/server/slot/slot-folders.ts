import { rm } from 'node:fs/promises';
import type { Lease } from '../../cluster/lease.ts';
import type { Claim } from '../../cluster/slot-claims.ts';
import type { SlotLog } from '../../cluster/slot-log.ts';
import { keepIndexesAlone } from '../../content/followed-indexes.ts';
import type { BooksCopy } from '../standby/standby.ts';
import { type LoggedStore, openLoggedStore } from './logged-store.ts';
import type { SlotDisk } from './slot-disk.ts';

export interface SlotFoldersOptions {
  /** Absolute paths of the folders of each slot's state and Tenants, in order. */
  readonly folders: readonly { readonly state: string; readonly content: string }[];
  readonly lease: Lease;
  readonly log: (event: object) => void;
}

/** What the data folder has of slots that servers share. */
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
