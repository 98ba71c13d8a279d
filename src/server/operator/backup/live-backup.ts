import { constants } from 'node:fs';
import { copyFile, cp, mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Shard } from '@farthing/engine/shard/shard';
import { openTenants, type Tenants } from '@farthing/engine/shard/tenants';
import type { SpaceSpec } from '@farthing/engine/space';
import type { Clock } from '@farthing/protocol/clock';
import { errorCode, FarthingError } from '@farthing/protocol/error';
import type { TenantId } from '@farthing/protocol/id';
import type { Item } from '@farthing/protocol/schema/items';
import { filesIn } from '../../ingest/items/files.ts';
import type { StoredFiles } from '../../ingest/ports/ports.ts';
import { forgetLog } from '../../state/log-position.ts';
import { openStore, type Store } from '../../state/store.ts';
import { CopiedRegistry } from '../../workspace/copied-registry.ts';
import { BackupsTaken } from './backups-taken.ts';
import { completeCopy, knownIn } from './copied-index.ts';
import { copyRest, inDraft } from './data-copy.ts';

/** State of one store, and its folder: the data folder, or one in it. */
export interface BooksState {
  /** Absolute path. */
  readonly folder: string;
  readonly store: Store;
}

export interface LiveBackupDeps {
  /** Absolute path of the data folder. */
  readonly data: string;
  /** This server's stores. @throws FarthingError if some are elsewhere */
  readonly books: () => readonly BooksState[];
  /** Runs work while no store changes another. */
  readonly whileApart?: (work: () => Promise<void>) => Promise<void>;
  /** Makes a copied state one that needs nothing but its folder. Absent: each is. */
  readonly makeAlone?: (copy: Store) => Promise<void>;
  readonly tenants: Pick<Tenants, 'useIfThere' | 'folder'>;
  /** Absent: they are only in the Tenants' folders. */
  readonly files?: Pick<StoredFiles, 'path'>;
  readonly spaces: readonly SpaceSpec[];
  readonly clock: Clock;
  readonly log: (event: object) => void;
}

/** Retries of a copy while too many indexes are in use. */
const BUSY_TRIES_MAX = 100;
const BUSY_PAUSE_MS = 200;

/**
 * Backs up a running server. First comes a consistent snapshot of each store: ledger, registry, jobs. Then each Tenant of
 * that registry is copied, each by a snapshot of its index. Items that the copied state doesn't know are removed from
 * the copy, and so are Tenants that ended during the backup. A start repairs the rest, as after a crash.
 *
 *     state ●───── tenant ●── tenant ●── tenant ● … ── ends ●
 *           └ nothing begun later is in the backup            └ nothing ended earlier is in it
 */
export class LiveBackup {
  readonly #deps: LiveBackupDeps;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: LiveBackupDeps) {
    this.#deps = deps;
  }

  /** Makes `target`, which must not exist. It appears when it is complete and on the disk. @throws FarthingError, Error */
  async take(target: string): Promise<void> {
    if (this.#running || this.#stop.signal.aborted)
      throw new FarthingError('overloaded', 'A backup is already running, or the server is stopping.');
    this.#running = this.#take(target).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Cancels a running backup and removes its draft. */
  async close(): Promise<void> {
    this.#stop.abort(new FarthingError('interrupted', 'The server is stopping; no backup was made.'));
    await this.#running?.catch(() => undefined);
  }

  async #take(target: string): Promise<void> {
    const { data, whileApart = (work) => work(), clock, log } = this.#deps;
    const books = this.#deps.books();
    await inDraft(data, target, async (draft) => {
      const copyOf = ({ folder }: BooksState) => join(draft, relative(data, folder));
      const takenAt = clock.now();
      // Written before anything is copied: every receipt from here on mentions it.
      for (const { store } of books) await new BackupsTaken(store).note(takenAt);
      await whileApart(async () => {
        for (const one of books) {
          await mkdir(copyOf(one), { recursive: true, mode: 0o700 });
          await one.store.copyTo(join(copyOf(one), 'state'));
        }
      });
      for (const one of books) await this.#copyTenants(one.store, copyOf(one), takenAt);
      await copyRest(
        data,
        draft,
        books.flatMap(({ folder }) => partsOf(relative(data, folder))),
      );
      this.#stop.signal.throwIfAborted();
    });
    log({ event: 'backup_taken', folder: target });
  }

  /** @param folder the store's folder in the draft */
  async #copyTenants(store: Store, folder: string, takenAt: number): Promise<void> {
    const copy = openStore(join(folder, 'state'));
    try {
      await this.#copyTenantsOf(copy, store, folder, takenAt);
      await this.#deps.makeAlone?.(copy);
      await forgetLog(copy, join(folder, 'state'));
    } finally {
      await copy.close();
    }
  }

  async #copyTenantsOf(copy: Store, store: Store, folder: string, takenAt: number): Promise<void> {
    const { spaces, clock } = this.#deps;
    const registry = new CopiedRegistry(copy, clock);
    const known = knownIn(copy, clock, takenAt);
    const copies = openTenants({ folder: join(folder, 'tenants'), spaces, openShardsMax: 1 });
    await copies.resumeDisposals();
    try {
      for await (const tenant of registry.tenants()) {
        await this.#copyTenant(tenant, copies, known);
        this.#stop.signal.throwIfAborted();
      }
      for (const tenant of await registry.endAsIn(store)) await copies.dispose(tenant);
    } finally {
      await copies.close();
    }
  }

  async #copyTenant(tenant: string, copies: Tenants, known: (item: Item) => boolean): Promise<void> {
    const { tenants, files = filesIn(tenants) } = this.#deps;
    const [from, to] = [tenants.folder(tenant), copies.folder(tenant)];
    const bring = async (item: Item, path: string) =>
      copied(await files.path(tenant as TenantId, item.id), path);
    const folder = join(to, 'shard');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (await this.#inTenant(tenant, (shard) => shard.copyTo(folder).then(() => true))) {
      await copies.use(tenant, {}, (shard) => completeCopy(shard, { folder: to, bring, known }));
    } else {
      await rm(to, { recursive: true });
    }
    await cp(join(from, 'history'), join(to, 'history'), { recursive: true }).catch(unlessMissing);
  }

  /** Undefined where the Tenant has no index: nothing was uploaded yet, or it has just ended. */
  async #inTenant<T>(tenant: string, work: (shard: Shard) => Promise<T>): Promise<T | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#deps.tenants.useIfThere(tenant, work);
      } catch (error) {
        if (errorCode(error) !== 'overloaded' || tries >= BUSY_TRIES_MAX) throw error;
        await pause(BUSY_PAUSE_MS, undefined, { signal: this.#stop.signal });
      }
    }
  }
}

/** The parts of a store that are copied one by one, relative to the data folder. */
function partsOf(folder: string): string[] {
  return [join(folder, 'state'), join(folder, 'tenants')];
}

/** False when there is no such file. */
async function copied(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    unlessMissing(error);
    return false;
  }
}

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
