import { randomBytes } from 'node:crypto';
import { access, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { syncFolder } from '@farthing/engine/shard/disposal';
import { type Objects, objectsUnavailable, probe } from './objects.ts';

const DRAFT = '.draft';

/** Objects as files of a folder: of another disk, or of a file server. */
export class FolderObjects implements Objects {
  readonly #folder: string;
  readonly #prefix: string;

  /**
   * @param folder absolute path of an existing folder: one that is not mounted must not be made
   * @param prefix what all paths in it begin with; empty, or with a slash at its end
   */
  constructor(folder: string, prefix = '') {
    this.#folder = folder;
    this.#prefix = prefix;
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return available(async () => {
      const path = this.#pathOf(name);
      const made = await this.#makeFolder(dirname(path));
      const draft = `${path}${DRAFT}`;
      const file = await open(draft, 'w', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
      for (const folder of [dirname(path), ...made]) await syncFolder(folder);
    });
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return available(() => readFile(this.#pathOf(name)).catch((error) => this.#unlessAbsent(error)));
  }

  list(prefix: string): Promise<string[]> {
    return available(async () => {
      const folder = dirname(`${this.#pathOf(prefix)}.`);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) =>
        this.#unlessAbsent(error),
      );
      return (entries ?? [])
        .filter((entry) => entry.isFile() && !entry.name.endsWith(DRAFT))
        .map((entry) => relative(this.#pathOf(''), join(entry.parentPath, entry.name)))
        .filter((name) => name.startsWith(prefix));
    });
  }

  remove(name: string): Promise<void> {
    return available(async () => {
      const path = this.#pathOf(name);
      await rm(path, { force: true });
      await syncFolder(dirname(path)).catch((error) => this.#unlessAbsent(error));
    });
  }

  check(): Promise<void> {
    return probe(this, randomBytes(16).toString('hex'));
  }

  /** In a folder that is not mounted everything would seem to be removed. */
  async #unlessAbsent(error: NodeJS.ErrnoException): Promise<undefined> {
    if (error.code !== 'ENOENT') throw error;
    await access(this.#folder);
  }

  #pathOf(name: string): string {
    return join(this.#folder, this.#prefix + name);
  }

  /** @returns the parents of what was made, to be synced */
  async #makeFolder(folder: string): Promise<string[]> {
    if (folder !== this.#folder) await syncFolder(this.#folder);
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    const parents: string[] = [];
    if (first === undefined) return parents;
    for (let made = folder; made.length >= first.length; made = dirname(made)) parents.push(dirname(made));
    return parents;
  }
}

async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw objectsUnavailable(error);
  }
}
