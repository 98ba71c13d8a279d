import { type FileHandle, open } from 'node:fs/promises';
import { errorCode, FarthingError } from '../domain/error.ts';
import { type ItemId, type JobId, jobOfItem, type TenantId } from '../domain/id.ts';
import type { Item } from '../domain/item.ts';
import { isEnded, type Job } from '../domain/job.ts';
import { fileOf, removeFile } from './items/files.ts';
import { removePreviews } from './items/previews.ts';
import { membersOf, removeMembers, sentItem } from './members/members.ts';
import type { IngestShard, IngestTenants } from './ports/ports.ts';

export interface TenantItemsDeps {
  readonly tenants: IngestTenants<IngestShard & ListedShard>;
  readonly ingest: { job(id: JobId): Job | undefined; cancel(id: JobId): Promise<Job> };
}

interface ListedShard {
  items(options: { after?: ItemId; limit: number }): Item[];
}

/** What a Tenant has stored: its Items, their files, and their end. Where there is nothing the answer is undefined. */
export class TenantItems {
  readonly #deps: TenantItemsDeps;

  constructor(deps: TenantItemsDeps) {
    this.#deps = deps;
  }

  item(tenant: TenantId, id: ItemId): Promise<Item | undefined> {
    return this.#deps.tenants.useIfThere(tenant, (shard) => shard.item(id));
  }

  /** In order of insertion, after the Item with this id; with `parent`, the files in that one, in the archive's order. */
  async list(
    tenant: TenantId,
    { parent, ...page }: { parent?: ItemId; after?: ItemId; limit: number },
  ): Promise<Item[]> {
    const list = (shard: IngestShard & ListedShard): Item[] => {
      if (parent === undefined) return shard.items(page);
      const item = shard.item(parent);
      return item ? membersOf(shard, item, page) : [];
    };
    return (await this.#deps.tenants.useIfThere(tenant, list)) ?? [];
  }

  /** An Item and its stored file, which the caller closes. A failed Item has no file any more. */
  async open(tenant: TenantId, id: ItemId): Promise<{ item: Item; file: FileHandle } | undefined> {
    const item = await this.item(tenant, id);
    if (!item) return undefined;
    try {
      return { item, file: await open(fileOf(this.#deps.tenants.folder(tenant), id), 'r') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Removes an Item: its job is cancelled, its file unlinked, its Segments gone from every family at once, and so are the files that came
   * in it. The Item goes last, so that after a crash in between it is still there to be removed again.
   * @returns false when there was none. @throws item_in_progress for a file in an archive whose job has not ended.
   */
  async remove(tenant: TenantId, id: ItemId): Promise<boolean> {
    const found = await this.#deps.tenants.useIfThere(tenant, (shard) => {
      const item = shard.item(id);
      return item && { item, sent: sentItem(shard, item) };
    });
    if (!found) return false;
    const { item, sent } = found;
    if (sent && sent.id !== id) this.#checkEnded(jobOfItem(sent.id));
    if (await this.#cancelled(jobOfItem(id))) return true;
    const folder = this.#deps.tenants.folder(tenant);
    await this.#deps.tenants.useIfThere(tenant, (shard) => removeMembers(shard, folder, item));
    await removeFile(fileOf(folder, id));
    await removePreviews(folder, id);
    return (await this.#deps.tenants.useIfThere(tenant, (shard) => shard.removeItem(id))) ?? false;
  }

  /** A job that goes on would bring back what is taken from it, or miss it. */
  #checkEnded(jobId: JobId): void {
    const job = this.#deps.ingest.job(jobId);
    if (!job || isEnded(job.state)) return;
    throw new FarthingError(
      'item_in_progress',
      'The archive that the item came in is still being read. Wait for its job, or cancel it.',
      { facts: { job_id: jobId } },
    );
  }

  /** True when the job was still to be done: its end takes Item and file along. */
  async #cancelled(jobId: JobId): Promise<boolean> {
    const { ingest } = this.#deps;
    const job = ingest.job(jobId);
    if (!job || isEnded(job.state)) return false;
    try {
      await ingest.cancel(jobId);
      return true;
    } catch (error) {
      // It ended by itself a moment before.
      if (errorCode(error) === 'job_ended') return false;
      throw error;
    }
  }
}
