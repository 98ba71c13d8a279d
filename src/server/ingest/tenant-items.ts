import { type FileHandle, open } from 'node:fs/promises';
import type { SpaceSpec } from '@farthing/engine/space';
import { errorCode, FarthingError } from '@farthing/protocol/error';
import { type ItemId, type JobId, jobOfItem, type TenantId } from '@farthing/protocol/id';
import { isEnded, type Job } from '@farthing/protocol/job';
import type { ItemTextAnswer } from '@farthing/protocol/schema/item-text';
import type { Item } from '@farthing/protocol/schema/items';
import { captionsOf } from './items/captions.ts';
import { filesIn } from './items/files.ts';
import { type TextPlace, textOf } from './items/text.ts';
import { type WithVectors, withVectors } from './items/vectors.ts';
import { membersOf, removeItem, uploadedItem } from './members/members.ts';
import type { IngestShard, IngestTenants, StoredFiles, VectorSnapshot } from './ports/ports.ts';

export interface TenantItemsDeps {
  readonly tenants: IngestTenants<ListedShard>;
  /** Absent: files are only in the Tenants' folders. */
  readonly files?: StoredFiles;
  /** Name of the model that fills a space, for display. */
  readonly weightsOf: (space: SpaceSpec) => string | undefined;
  readonly ingest: { job(id: JobId): Job | undefined; cancel(id: JobId): Promise<Job> };
}

interface ListedShard extends IngestShard {
  items(options: { after?: ItemId; limit: number }): Item[];
  itemsFrom(place: number, limit: number): ItemsPage;
  readonly spaces: readonly SpaceSpec[];
  snapshot(): VectorSnapshot & ReturnType<IngestShard['snapshot']>;
}

/** Some Items, and the cursor of the next one. */
export interface ItemsPage {
  readonly items: Item[];
  readonly next: number;
}

/** A Tenant's Items and their files: read, listed, removed. Undefined: it does not exist. */
export class TenantItems {
  readonly #deps: TenantItemsDeps;
  readonly #files: StoredFiles;

  constructor(deps: TenantItemsDeps) {
    this.#deps = deps;
    this.#files = deps.files ?? filesIn(deps.tenants);
  }

  item(tenant: TenantId, id: ItemId): Promise<Item | undefined> {
    return this.#deps.tenants.useIfThere(tenant, (shard) => shard.item(id));
  }

  /** In order of insertion, after the Item with this id. With `parent`: the files in that Item, in the archive's order. */
  async list(
    tenant: TenantId,
    { parent, ...page }: { parent?: ItemId; after?: ItemId; limit: number },
  ): Promise<Item[]> {
    const list = (shard: ListedShard): Item[] => {
      if (parent === undefined) return shard.items(page);
      const item = shard.item(parent);
      return item ? membersOf(shard, item, page) : [];
    };
    return (await this.#deps.tenants.useIfThere(tenant, list)) ?? [];
  }

  /** In order of insertion, from a cursor on. Removing Items does not shift cursors. */
  async page(tenant: TenantId, place: number, limit: number): Promise<ItemsPage> {
    const page = await this.#deps.tenants.useIfThere(tenant, (shard) => shard.itemsFrom(place, limit));
    return page ?? { items: [], next: place };
  }

  /** An Item's text from a position on. @throws field_invalid for a position beyond it */
  text(tenant: TenantId, id: ItemId, place: TextPlace): Promise<ItemTextAnswer | undefined> {
    return this.#deps.tenants.useIfThere(tenant, async (shard) => {
      const snapshot = shard.snapshot();
      try {
        return await textOf(snapshot, id, place);
      } finally {
        snapshot.close();
      }
    });
  }

  /** An Item's passages, then its pictures, with vectors, from a segment on. Undefined after the last. */
  vectors(tenant: TenantId, id: ItemId, from: number): Promise<WithVectors | undefined> {
    return this.#deps.tenants.useIfThere(tenant, async (shard) => {
      const snapshot = shard.snapshot();
      try {
        return await withVectors(snapshot, shard.spaces, id, from);
      } finally {
        snapshot.close();
      }
    });
  }

  weightsOf(space: SpaceSpec): string | undefined {
    return this.#deps.weightsOf(space);
  }

  /** Speech and subtitles of an Item, as WebVTT. */
  captions(tenant: TenantId, id: ItemId): Promise<string | undefined> {
    return this.#deps.tenants.useIfThere(tenant, async (shard) => {
      const snapshot = shard.snapshot();
      try {
        return await captionsOf(snapshot, id);
      } finally {
        snapshot.close();
      }
    });
  }

  /** An Item and its stored file, which the caller closes. A failed Item has no file. */
  async open(tenant: TenantId, id: ItemId): Promise<{ item: Item; file: FileHandle } | undefined> {
    const item = await this.item(tenant, id);
    if (!item) return undefined;
    try {
      return { item, file: await open(await this.#files.path(tenant, id), 'r') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Removes an Item and the files inside it: cancels its job, unlinks its file, and takes its Segments out of every family at
   * once. The Item goes last, so that it can be removed again after a crash.
   * @returns false when there was none. @throws item_in_progress for a file in an archive whose job has not ended.
   */
  async remove(tenant: TenantId, id: ItemId): Promise<boolean> {
    const found = await this.#deps.tenants.useIfThere(tenant, (shard) => {
      const item = shard.item(id);
      return item && { uploaded: uploadedItem(shard, item) };
    });
    if (!found) return false;
    const { uploaded } = found;
    if (uploaded && uploaded.id !== id) this.#checkEnded(jobOfItem(uploaded.id));
    if (await this.#cancelled(jobOfItem(id))) return true;
    return removeItem({ tenants: this.#deps.tenants, files: this.#files }, tenant, id);
  }

  /** A running job would bring a removed file back, or miss it. */
  #checkEnded(jobId: JobId): void {
    const job = this.#deps.ingest.job(jobId);
    if (!job || isEnded(job.state)) return;
    throw new FarthingError(
      'item_in_progress',
      'The archive that the item came in is still being read. Wait for its job, or cancel it.',
      { facts: { job_id: jobId } },
    );
  }

  /** True when the job had not ended: cancelling it removes Item and file. */
  async #cancelled(jobId: JobId): Promise<boolean> {
    const { ingest } = this.#deps;
    const job = ingest.job(jobId);
    if (!job || isEnded(job.state)) return false;
    try {
      await ingest.cancel(jobId);
      return true;
    } catch (error) {
      // It ended a moment ago.
      if (errorCode(error) === 'job_ended') return false;
      throw error;
    }
  }
}
