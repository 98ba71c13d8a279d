import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ClusterKey, seal, unseal } from '../cluster/seal.ts';
import { ConfigError } from '../settings/config.ts';
import { writeDurably } from '../state/durable-file.ts';
import type { Store, Table } from '../state/store.ts';
import type { SealedKey } from './rows.ts';

const NAME = 'receipt-keys.json';
const SEALED_AS = 'farthing/receipt-keys';

/** The file of the keys that sign receipts, in the books as well, sealed under the cluster key: public keys must outlive the disk. */
export class KeptKeyFile {
  readonly #clusterKeys: readonly [ClusterKey, ...ClusterKey[]];
  readonly #table: Table<SealedKey>;
  readonly #path: string;

  /** @param store of the first slot @param folder has the file */
  constructor(store: Store, clusterKeys: readonly [ClusterKey, ...ClusterKey[]], folder: string) {
    this.#clusterKeys = clusterKeys;
    this.#table = store.table('content_secrets');
    this.#path = join(folder, NAME);
  }

  /** Writes the file as the books have it, unless it has all their keys: a key may have been added while no server ran. */
  async restore(): Promise<void> {
    const row = this.#table.get(NAME);
    if (!row) return;
    const clusterKey = this.#clusterKeys.find(({ id }) => id === row.clusterKey);
    if (!clusterKey)
      throw new ConfigError(
        `FARTHING_CLUSTER_KEY: the key ${row.clusterKey} of former starts is missing; add it as another line`,
      );
    const kept = Buffer.from(await unseal(clusterKey.key, SEALED_AS, Buffer.from(row.sealed, 'base64')));
    const here = await readFile(this.#path, 'utf8').catch(() => undefined);
    const known = new Set(here === undefined ? [] : kidsOf(here));
    if (kidsOf(kept.toString()).every((kid) => known.has(kid))) return;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await writeDurably(this.#path, kept);
  }

  /** Writes the file into the books. */
  async keep(): Promise<void> {
    const [{ id, key }] = this.#clusterKeys;
    const sealed = await seal(key, SEALED_AS, await readFile(this.#path));
    await this.#table.put(NAME, { clusterKey: id, sealed: Buffer.from(sealed).toString('base64') });
  }
}

function kidsOf(json: string): string[] {
  return (JSON.parse(json) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
}
