import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, FarthingError } from '@farthing/protocol/error';
import type { Preview, PreviewOf } from '@farthing/protocol/file/preview';
import type { ItemId, TenantId } from '@farthing/protocol/id';
import type { Item } from '@farthing/protocol/schema/items';
import type { IngestShard, IngestTenants, StoredFiles } from '../ports/ports.ts';
import { filesIn, isStorageFull } from './files.ts';

export interface PreviewDeps {
  readonly tenants: IngestTenants<Pick<IngestShard, 'item'>>;
  /** Absent: files are only in the Tenants' folders. */
  readonly files?: StoredFiles;
  readonly extractor: {
    preview(
      path: string,
      part: { tenant: string; mediaType: string; page: number; timeS?: number },
    ): Promise<Pick<Preview, 'bytes'>>;
  };
}

const FOLDER = 'previews';
/** Previews that a Tenant's cache keeps, about 50 kB each. The oldest goes first. */
const KEPT_MAX = 512;
/** Moments within this interval share a preview. */
const MOMENT_SECONDS = 0.25;

/**
 * Small pictures of Items: made on demand, cached in the Tenant's folder, removed with their Item. Concurrent requests for
 * the same preview share one.
 */
export class Previews {
  readonly #deps: PreviewDeps;
  readonly #files: StoredFiles;
  readonly #running = new Map<string, Promise<Uint8Array>>();

  constructor(deps: PreviewDeps) {
    this.#deps = deps;
    this.#files = deps.files ?? filesIn(deps.tenants);
  }

  /**
   * A WebP of the Item, of one of its pages, or of a moment of a film or animation; undefined without the Item or its file.
   * @throws field_invalid for a page that does not exist; preview_unavailable for a type without pictures; overloaded
   */
  async of(tenant: TenantId, id: ItemId, { page = 1, timeS }: PreviewOf): Promise<Uint8Array | undefined> {
    const item = await this.#item(tenant, id);
    if (!item) return undefined;
    check(item, page, timeS);
    const moment = timeS === undefined ? undefined : Math.floor(timeS / MOMENT_SECONDS) * MOMENT_SECONDS;
    const name = moment === undefined ? `${id}.${page}` : `${id}.t${moment}`;
    const path = join(this.#deps.tenants.folder(tenant), FOLDER, `${name}.webp`);
    const cached = await readIfThere(path);
    if (cached) return cached;
    const running = this.#running.get(path) ?? this.#make(tenant, item, { page, timeS: moment }, path);
    this.#running.set(path, running);
    try {
      return await running;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    } finally {
      this.#running.delete(path);
    }
  }

  async #make(
    tenant: TenantId,
    item: Item,
    part: { page: number; timeS?: number },
    path: string,
  ): Promise<Uint8Array> {
    const file = await this.#files.path(tenant, item.id);
    await stat(file);
    const { bytes } = await this.#deps.extractor.preview(file, {
      tenant,
      mediaType: item.media_type,
      ...part,
    });
    await this.#keep(tenant, item.id, path, bytes);
    return bytes;
  }

  /** The folder stays while the index is in use. A preview must not outlive an Item that is being removed. */
  async #keep(tenant: TenantId, id: ItemId, path: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#deps.tenants.use(tenant, {}, async (shard) => {
        const folder = join(this.#deps.tenants.folder(tenant), FOLDER);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const draft = `${path}.draft`;
        await writeFile(draft, bytes, { mode: 0o600 });
        await rename(draft, path);
        if (!shard.item(id)) await rm(path, { force: true });
        await dropOldest(folder);
      });
    } catch (error) {
      // The preview is made, but not stored.
      if (errorCode(error) !== 'not_found' && !isStorageFull(error)) throw error;
    }
  }

  async #item(tenant: TenantId, id: ItemId): Promise<Item | undefined> {
    const { tenants } = this.#deps;
    if (!tenants.exists(tenant)) return undefined;
    try {
      return await tenants.use(tenant, {}, (shard) => shard.item(id));
    } catch (error) {
      if (errorCode(error) === 'not_found') return undefined;
      throw error;
    }
  }
}

/** Removes the cached previews of an Item. */
export async function removePreviews(tenantFolder: string, id: ItemId): Promise<void> {
  const folder = join(tenantFolder, FOLDER);
  for (const name of await namesIn(folder)) {
    if (name.startsWith(`${id}.`)) await rm(join(folder, name), { force: true });
  }
}

function check({ media_type, pages = 1 }: Item, page: number, timeS: number | undefined): void {
  if (media_type.startsWith('text/'))
    throw new FarthingError('preview_unavailable', `A file of type ${media_type} has no picture.`);
  if (timeS !== undefined && !/^video\/|^image\/gif$/.test(media_type))
    throw new FarthingError(
      'preview_unavailable',
      `A file of type ${media_type} has no moments: leave time_s out.`,
    );
  if (page <= pages) return;
  throw new FarthingError('field_invalid', `page: send a number from 1 to ${pages}.`, {
    facts: { field: 'page', pages },
  });
}

async function dropOldest(folder: string): Promise<void> {
  const names = await namesIn(folder);
  if (names.length <= KEPT_MAX) return;
  const dated = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0,
    })),
  );
  dated.sort((a, b) => a.at - b.at);
  for (const { name } of dated.slice(0, names.length - KEPT_MAX))
    await rm(join(folder, name), { force: true });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
}
