import { closeSync, fsync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const flush = promisify(fsync);

/**
 * Resolves once a file's bytes, or a folder's names, are on the disk. Opens and closes on this thread: both take microseconds, less than
 * a hand-over to another thread.
 */
export async function synced(path: string): Promise<void> {
  const opened = openSync(path, 'r');
  try {
    await flush(opened);
  } finally {
    closeSync(opened);
  }
}

interface Running {
  readonly done: Promise<void>;
  /** Begins once it is done, for all requests made during it. */
  next?: Promise<void>;
}

/** Syncs folders after names in them have changed. Calls during a sync of a folder share its next one. */
export class FolderSyncs {
  readonly #running = new Map<string, Running>();
  readonly #sync: (folder: string) => Promise<void>;

  constructor(sync: (folder: string) => Promise<void> = synced) {
    this.#sync = sync;
  }

  /** Resolves once all changes made before the call are on the disk. */
  sync(folder: string): Promise<void> {
    const running = this.#running.get(folder);
    if (!running) return this.#begin(folder);
    running.next ??= running.done.then(
      () => this.#begin(folder),
      () => this.#begin(folder),
    );
    return running.next;
  }

  #begin(folder: string): Promise<void> {
    const done = this.#sync(folder).finally(() => {
      if (this.#running.get(folder) === running) this.#running.delete(folder);
    });
    const running: Running = { done };
    this.#running.set(folder, running);
    return done;
  }
}
