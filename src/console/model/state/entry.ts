import type { IngestProgress, Item } from '@farthing/client';

export type FileState = 'waiting' | IngestProgress['stage'] | Item['state'] | 'duplicate' | 'refused';

/** A file in the workspace, or on its way there. */
export interface FileEntry {
  /** The item's id, or a number of this page's until there is one. */
  readonly key: string;
  readonly name: string;
  /** In the folder or archive that it came in. */
  readonly path?: string;
  readonly bytes: number;
  readonly state: FileState;
  /** 0..1 of the stage. */
  readonly progress: number;
  /** Once it is there. */
  readonly item?: Item;
  /** Why it was refused or failed. */
  readonly why?: string;
  /** The chosen file, while this page has it: it can be sent again. */
  readonly source?: File;
}
