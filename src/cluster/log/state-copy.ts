import { readFile, rm, writeFile } from 'node:fs/promises';
import { ConfigError } from '@farthing/server/settings/config';
import { bootNoteOf, type Position, positionOf } from '@farthing/server/state/log-position';
import { openStore, type RawStore } from '@farthing/server/state/store';
import type { LogCopy } from './log-reader.ts';
import { applyEntries } from './recorded-store.ts';

/** A slot's state on this disk, as a copy of its log. */
export interface BooksCopy extends LogCopy {
  readonly store: RawStore;
  close(): Promise<void>;
}

/** The log is what is durable. */
const NOT_DURABLE = { durable: false };

/** The state of a slot on this disk, as a copy of its log. */
export class StateCopy implements BooksCopy {
  readonly #folder: string;
  #store: RawStore;
  #position: Position | undefined;

  /** @param folder absolute path @throws ConfigError for a state that no log led */
  static async open(folder: string): Promise<StateCopy> {
    await dropFormerBoot(folder);
    const store = openStore(folder, NOT_DURABLE);
    const rows = store.names().filter((name) => store.table(name).count() > 0);
    if (positionOf(store) === undefined && rows.length > 0) {
      await store.close();
      throw new ConfigError(
        `FARTHING_CLUSTER: ${folder} was written without a cluster; set another FARTHING_DATA_DIR`,
      );
    }
    await writeFile(bootNoteOf(folder), await currentBoot());
    return new StateCopy(folder, store);
  }

  private constructor(folder: string, store: RawStore) {
    this.#folder = folder;
    this.#store = store;
    this.#position = positionOf(store);
  }

  get store(): RawStore {
    return this.#store;
  }

  get position(): Position | undefined {
    return this.#position;
  }

  async apply(entries: readonly Uint8Array[], position: Position | undefined): Promise<void> {
    if (entries.length === 0 && position !== undefined && position.number === this.#position?.number) return;
    await applyEntries(this.#store, entries, position);
    this.#position = positionOf(this.#store);
  }

  /** The copy must be out of use. */
  async clear(): Promise<void> {
    await this.#store.close();
    await rm(this.#folder, { recursive: true, force: true });
    this.#store = openStore(this.#folder, NOT_DURABLE);
    this.#position = undefined;
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

/** The machine's boot, which the kernel draws anew each time (Linux). */
function currentBoot(): Promise<string> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8');
}

/** A copy that an earlier boot left may be damaged anywhere: what had not been written is lost. Only a copy of a log has a note. */
async function dropFormerBoot(folder: string): Promise<void> {
  const noted = await readFile(bootNoteOf(folder), 'utf8').catch(() => undefined);
  if (noted !== undefined && noted !== (await currentBoot()))
    await rm(folder, { recursive: true, force: true });
}
