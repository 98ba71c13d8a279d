import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { FarthingError } from '@farthing/protocol/error';
import type { ItemId, TenantId } from '@farthing/protocol/id';
import { SealBrokenError } from '../stores/seal.ts';
import type { Content } from './content.ts';
import { keyOf } from './rows.ts';

/** The files on this disk, as ingest declares them. */
interface FilesHere {
  place(tenant: TenantId, item: ItemId): string;
  keep(tenant: TenantId, item: ItemId, from: string, after: Promise<unknown>): Promise<void>;
  remove(tenant: TenantId, item: ItemId): Promise<void>;
}

export interface KeptFilesDeps {
  readonly content: Content;
  readonly here: FilesHere;
  /** Keeps a Tenant from being destroyed while the work runs. */
  readonly use: (tenant: TenantId, work: () => Promise<void>) => Promise<void>;
}

/** Stored files that survive the loss of this disk, and are fetched back on demand. */
export class KeptFiles {
  readonly #deps: KeptFilesDeps;
  readonly #fetching = new Map<string, Promise<void>>();

  constructor(deps: KeptFilesDeps) {
    this.#deps = deps;
  }

  place(tenant: TenantId, item: ItemId): string {
    return this.#deps.here.place(tenant, item);
  }

  async keep(tenant: TenantId, item: ItemId, from: string, after: Promise<unknown>): Promise<void> {
    const { content, here } = this.#deps;
    // Awaited once the file is open.
    after.catch(() => undefined);
    const file = await open(from, 'r');
    try {
      // It is sent while it is written to this disk.
      const both = [content.sendFile(tenant, item, file, after), here.keep(tenant, item, from, after)];
      const failed = (await Promise.allSettled(both)).find((end) => end.status === 'rejected');
      if (failed) throw failed.reason;
    } finally {
      await file.close();
    }
  }

  async keepPlaced(tenant: TenantId, item: ItemId): Promise<void> {
    const file = await open(this.place(tenant, item), 'r');
    try {
      await this.#deps.content.sendFile(tenant, item, file, Promise.resolve());
    } finally {
      await file.close();
    }
  }

  async path(tenant: TenantId, item: ItemId): Promise<string> {
    const path = this.place(tenant, item);
    if (existsSync(path)) return path;
    const fetching = this.#fetching.get(path) ?? this.#fetch(tenant, item, path);
    this.#fetching.set(path, fetching);
    try {
      await fetching;
    } finally {
      if (this.#fetching.get(path) === fetching) this.#fetching.delete(path);
    }
    return path;
  }

  async remove(tenant: TenantId, item: ItemId): Promise<void> {
    await this.#deps.here.remove(tenant, item);
    await this.#deps.content.removeFile(tenant, item);
  }

  async #fetch(tenant: TenantId, item: ItemId, path: string): Promise<void> {
    const { content, use } = this.#deps;
    const blobOf = () => content.rows(tenant).files.get(keyOf(tenant, item));
    if (!blobOf()) return;
    await use(tenant, async () => {
      const blob = blobOf();
      if (!blob) return;
      try {
        await content.blobs.getFile(tenant, await content.key(tenant), blob, path);
      } catch (error) {
        if (!(error instanceof SealBrokenError)) throw error;
        const detail = `The stored file of ${item} is damaged.`;
        throw new FarthingError('shard_corrupt', detail, { cause: error });
      }
      // Removed in the meantime.
      if (!blobOf()) await this.#deps.here.remove(tenant, item);
    });
  }
}
