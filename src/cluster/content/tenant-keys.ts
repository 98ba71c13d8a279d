import { randomBytes } from 'node:crypto';
import { ConfigError } from '@farthing/server/settings/config';
import { type ClusterKey, importKey, KEY_BYTES, type SealKey, seal, unseal } from '../stores/seal.ts';
import type { ContentRows } from './rows.ts';

const ID_BYTES = 8;
const KEYS_AT_ONCE = 500;

/** Each Tenant's own random key, stored sealed under the cluster key. The cluster key itself is in no store, log or object. */
export class TenantKeys {
  /** The one in use first. */
  readonly #clusterKeys: readonly [ClusterKey, ...ClusterKey[]];
  /** Each with what it was opened from: a Tenant that ends and comes back has another key. */
  readonly #open = new Map<string, OpenKey>();

  constructor(clusterKeys: readonly [ClusterKey, ...ClusterKey[]]) {
    this.#clusterKeys = clusterKeys;
  }

  /** The Tenant's key, which is made with its head where it has none: in the log before anything is sealed under it. */
  async ensure(rows: ContentRows, tenant: string): Promise<SealKey> {
    if (!rows.keys.get(tenant)) {
      const bytes = randomBytes(KEY_BYTES);
      const [{ id, key }] = this.#clusterKeys;
      const sealed = Buffer.from(await seal(key, nameOf(tenant), bytes)).toString('base64');
      await rows.store.transaction(() => {
        if (rows.keys.get(tenant)) return;
        void rows.keys.put(tenant, { clusterKey: id, sealed });
        void rows.heads.put(tenant, { id: randomBytes(ID_BYTES).toString('hex'), seq: 0, cost: 0 });
      });
    }
    return this.of(rows, tenant);
  }

  /** @throws Error for a Tenant without a key */
  of(rows: ContentRows, tenant: string): Promise<SealKey> {
    const sealed = rows.keys.get(tenant)?.sealed;
    const known = this.#open.get(tenant);
    if (known && known.sealed === sealed) return known.key;
    const opening: OpenKey = { sealed, key: this.#unsealed(rows, tenant).then(importKey) };
    this.#open.set(tenant, opening);
    opening.key.catch(() => {
      if (this.#open.get(tenant) === opening) this.#open.delete(tenant);
    });
    return opening.key;
  }

  forget(tenant: string): void {
    this.#open.delete(tenant);
  }

  forgetAll(isMeant: (tenant: string) => boolean): void {
    for (const tenant of this.#open.keys()) if (isMeant(tenant)) this.forget(tenant);
  }

  /**
   * Seals every key under the cluster key that is in use now, so that a former one can be destroyed. @returns how many were sealed anew
   * @throws ConfigError when a cluster key is missing
   */
  async rotate(rows: ContentRows): Promise<number> {
    const [{ id, key }] = this.#clusterKeys;
    const outdated = [...rows.keys.range()].filter(({ value }) => value.clusterKey !== id);
    for (let from = 0; from < outdated.length; from += KEYS_AT_ONCE) {
      const anew = await Promise.all(
        outdated.slice(from, from + KEYS_AT_ONCE).map(async ({ key: tenant }) => {
          const sealed = await seal(key, nameOf(tenant), await this.#unsealed(rows, tenant));
          return [tenant, Buffer.from(sealed).toString('base64')] as const;
        }),
      );
      await rows.store.transaction(() => {
        for (const [tenant, sealed] of anew) void rows.keys.put(tenant, { clusterKey: id, sealed });
      });
    }
    return outdated.length;
  }

  async #unsealed(rows: ContentRows, tenant: string): Promise<Uint8Array> {
    const row = rows.keys.get(tenant);
    if (!row) throw new Error(`${tenant} has no key`);
    const clusterKey = this.#clusterKeys.find(({ id }) => id === row.clusterKey);
    if (!clusterKey)
      throw new ConfigError(
        `FARTHING_CLUSTER_KEY: the key ${row.clusterKey} of former starts is missing; add it as another line`,
      );
    return unseal(clusterKey.key, nameOf(tenant), Buffer.from(row.sealed, 'base64'));
  }
}

interface OpenKey {
  readonly sealed: string | undefined;
  readonly key: Promise<SealKey>;
}

function nameOf(tenant: string): string {
  return `farthing/key/${tenant}`;
}
