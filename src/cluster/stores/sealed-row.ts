import { ConfigError } from '@farthing/server/settings/config';
import type { Kv } from './kv.ts';
import { type ClusterKey, seal, unseal } from './seal.ts';

export interface SealedRowOptions {
  readonly kv: Kv;
  readonly key: string;
  /** Name under which the text is sealed: it opens under the same name alone. */
  readonly sealedAs: string;
  /** The one in use first. */
  readonly clusterKeys: readonly [ClusterKey, ...ClusterKey[]];
}

/** A text of the cluster, as of one of its changes. */
export interface SharedText {
  readonly text: string;
  /** Revision of its last change. */
  readonly revision: number;
}

interface Stored {
  /** Id of the cluster key. */
  readonly clusterKey: string;
  /** Base64. */
  readonly sealed: string;
}

/** A small text that all servers of a cluster share: a row of etcd, sealed under the cluster key. */
export class SealedRow {
  readonly #options: SealedRowOptions;

  constructor(options: SealedRowOptions) {
    this.#options = options;
  }

  /** Undefined where there is none. @throws AnswerLostError; ConfigError when its cluster key is missing; SealBrokenError */
  async read(): Promise<SharedText | undefined> {
    return (await this.#read())?.shared;
  }

  /**
   * Changes the text, with no change of another server lost, and seals it under the cluster key in use.
   * @param change asked again when another was faster
   * @param reseals also where the text stays as it is
   * @throws as `read`; after an AnswerLostError the text may be changed, or not
   */
  async change(change: (text: string | undefined) => string, reseals = true): Promise<SharedText> {
    for (;;) {
      const changed = await this.#tryToChange(change, reseals);
      if (changed) return changed;
    }
  }

  /** @returns undefined when another was faster */
  async #tryToChange(
    change: (text: string | undefined) => string,
    reseals: boolean,
  ): Promise<SharedText | undefined> {
    const { kv, key, sealedAs, clusterKeys } = this.#options;
    const former = await this.#read();
    const text = change(former?.shared.text);
    const [inUse] = clusterKeys;
    // Servers whose keys in use differ, while those are changed, do not seal it in turns.
    if (former && former.shared.text === text && (!reseals || former.clusterKey === inUse.id))
      return former.shared;
    const sealed = Buffer.from(await seal(inUse.key, sealedAs, Buffer.from(text))).toString('base64');
    const stored: Stored = { clusterKey: inUse.id, sealed };
    const { done, revision } = await kv.commit({
      when: [{ key, revision: former?.shared.revision ?? 0 }],
      puts: [{ key, value: Buffer.from(JSON.stringify(stored)) }],
    });
    return done ? { text, revision } : undefined;
  }

  async #read(): Promise<{ readonly shared: SharedText; readonly clusterKey: string } | undefined> {
    const { kv, key, sealedAs, clusterKeys } = this.#options;
    const [row] = await kv.range(key, `${key}\0`);
    if (!row) return undefined;
    const { clusterKey, sealed } = JSON.parse(Buffer.from(row.value).toString()) as Stored;
    const known = clusterKeys.find(({ id }) => id === clusterKey);
    if (!known)
      throw new ConfigError(
        `FARTHING_CLUSTER_KEY: the key ${clusterKey} of other starts is missing; add it as another line`,
      );
    const text = Buffer.from(await unseal(known.key, sealedAs, Buffer.from(sealed, 'base64'))).toString();
    return { shared: { text, revision: row.revision }, clusterKey };
  }
}

/** Row in which the servers of a cluster share the keys that sign receipts. */
export function receiptKeysRow(
  kv: Kv,
  cluster: string,
  clusterKeys: SealedRowOptions['clusterKeys'],
): SealedRow {
  const key = `/farthing/${cluster}/receipt-keys`;
  return new SealedRow({ kv, key, sealedAs: 'farthing/receipt-keys', clusterKeys });
}
