import { existsSync } from 'node:fs';
import { mkdir, open as openFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { IndexKeeper, RestoredIndex } from '@farthing/engine/shard/keeper';
import type { Shard } from '@farthing/engine/shard/shard';
import { INDEX } from '@farthing/engine/shard/tenants';
import type { SpaceSpec } from '@farthing/engine/space';
import { FarthingError } from '@farthing/protocol/error';
import { ALIASES_MAX, isCalled } from '@farthing/protocol/item';
import type { Item } from '@farthing/protocol/schema/items';
import { SealBrokenError } from '../stores/seal.ts';
import { type Batch, decodeBatch, encodeBatch } from './batch.ts';
import type { Content } from './content.ts';
import type { ContentHead, IndexSnapshot, IndexWrite } from './rows.ts';

type OpenIndex = (spaces: readonly SpaceSpec[]) => Promise<RestoredIndex>;

const SNAPSHOT_FOLDER = 'snapshot';
/** LMDB's lock file: of no use elsewhere. */
const LOCK_FILE = 'lock.mdb';
/** A snapshot is due when rebuilding the index from the writes after the last one costs more than this, and than half of that one. */
const COST_MIN = 4 * 2 ** 20;
const RETRY_MS = 60_000;
/** Writes that are fetched while others are made. */
const FETCHED_AHEAD = 16;

/** The Tenants' indexes in sealed objects and the slots' logs. */
export class ContentIndexKeeper implements IndexKeeper {
  readonly #content: Content;
  readonly #spaces: readonly SpaceSpec[];
  /** When a snapshot that failed may be tried again, by Tenant. */
  readonly #retryAt = new Map<string, number>();

  /** @param spaces of the models in use */
  constructor(content: Content, spaces: readonly SpaceSpec[]) {
    this.#content = content;
    this.#spaces = spaces;
  }

  has(tenant: string): boolean {
    return this.#head(tenant) !== undefined;
  }

  *tenants(): Iterable<string> {
    for (const { heads } of this.#content.allRows) for (const { key } of heads.range()) yield key;
  }

  async restore(tenant: string, folder: string, open: OpenIndex): Promise<void> {
    const head = this.#head(tenant);
    const place = await this.#content.placeOn(folder);
    const isHere = existsSync(join(folder, INDEX, 'data.mdb'));
    if (head && isHere && place?.id === head.id && isCovered(place.seq, head)) {
      if (place.seq < head.seq) await this.#complete(tenant, folder, { head, after: place.seq }, open);
      return;
    }
    await this.#content.forgetPlace(folder);
    await rm(join(folder, INDEX), { recursive: true, force: true });
    if (!head) {
      // Registered from its first use on, as a folder would be: leftovers of a job after a crash then have an owner.
      await this.#content.begin(tenant);
      return;
    }
    const began = performance.now();
    await withPlace(tenant, () => this.#makeAgain(tenant, folder, head, open));
    const milliseconds = Math.round(performance.now() - began);
    this.#content.log({ event: 'index_restored', tenant, writes: head.seq, ms: milliseconds });
  }

  kept(tenant: string, folder: string, shard: Shard): Shard {
    const content = this.#content;
    return {
      ...shard,
      append: async (item, segments, replaces = []) => {
        const batch = await encodeBatch({ item, segments, replaces, spaces: shard.spaces });
        const input = { item: item.id, kind: 'append', content: batch, replaces: true } as const;
        await content.write(tenant, folder, input, () => shard.append(item, segments, replaces));
      },
      putItem: async (item) => {
        const bytes = Buffer.from(JSON.stringify(item));
        // A failed Item loses its Segments.
        const replaces = item.state === 'failed';
        const input = { item: item.id, kind: 'put', content: bytes, replaces } as const;
        await content.write(tenant, folder, input, () => shard.putItem(item));
      },
      addAlias: async (id, name) => {
        const item = shard.item(id);
        if (!item || item.state === 'failed' || isCalled(item, name)) return shard.addAlias(id, name);
        if ((item.aliases?.length ?? 0) >= ALIASES_MAX) return false;
        const input = { item: id, kind: 'alias', content: Buffer.from(name), replaces: false } as const;
        return content.write(tenant, folder, input, () => shard.addAlias(id, name));
      },
      removeItem: async (id) => {
        if (!shard.item(id)) return shard.removeItem(id);
        const input = { item: id, kind: 'remove', content: Buffer.alloc(0), replaces: true } as const;
        return content.write(tenant, folder, input, () => shard.removeItem(id));
      },
    };
  }

  snapshotIsDue(tenant: string): boolean {
    const head = this.#head(tenant);
    if (!head || head.cost < Math.max(COST_MIN, (head.snapshot?.bytes ?? 0) / 2)) return false;
    return performance.now() >= (this.#retryAt.get(tenant) ?? 0);
  }

  async takeSnapshot(tenant: string, folder: string, shard: Shard): Promise<void> {
    const copy = join(folder, SNAPSHOT_FOLDER);
    this.#retryAt.set(tenant, performance.now() + RETRY_MS);
    try {
      await rm(copy, { recursive: true, force: true });
      await mkdir(copy, { mode: 0o700 });
      const seq = await this.#content.inTurn(tenant, async () => {
        await shard.copyTo(copy);
        return this.#head(tenant)!.seq;
      });
      const kept = await this.#keepCopy(tenant, copy, seq);
      const outdated = await this.#content.rows(tenant).setSnapshot(tenant, kept.snapshot).finally(kept.done);
      this.#retryAt.delete(tenant);
      await this.#content.removeBlobs(tenant, outdated);
      const rows = this.#content.rows(tenant);
      await this.#content.blobs.removeAbandoned(
        tenant,
        () => rows.blobsOf(tenant),
        () => rows.confirm(tenant),
      );
      this.#content.log({ event: 'index_kept', tenant, bytes: kept.snapshot.bytes });
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }

  /** Backs up an index that is closed and was never backed up, as it lies in its Tenant's folder. */
  async keepClosed(tenant: string, folder: string): Promise<void> {
    await this.#content.begin(tenant);
    const head = this.#head(tenant)!;
    const kept = await this.#keepCopy(tenant, join(folder, INDEX), head.seq);
    await this.#content.rows(tenant).setSnapshot(tenant, kept.snapshot).finally(kept.done);
    await this.#content.setPlace(folder, head);
  }

  destroy(tenant: string): Promise<void> {
    this.#retryAt.delete(tenant);
    return this.#content.destroy(tenant);
  }

  #head(tenant: string): ContentHead | undefined {
    return this.#content.rows(tenant).heads.get(tenant);
  }

  async #keepCopy(
    tenant: string,
    copy: string,
    seq: number,
  ): Promise<{ snapshot: IndexSnapshot; done: () => void }> {
    const key = await this.#content.key(tenant);
    const files: IndexSnapshot['files'][number][] = [];
    const written: (() => void)[] = [];
    const done = () => {
      for (const end of written) end();
    };
    try {
      for (const name of (await readdir(copy)).filter((one) => one !== LOCK_FILE)) {
        const file = await openFile(join(copy, name), 'r');
        try {
          const put = await this.#content.blobs.put(tenant, key, file);
          written.push(put.done);
          files.push({ name, blob: put.blob });
        } finally {
          await file.close();
        }
      }
    } catch (error) {
      done();
      throw error;
    }
    return { done, snapshot: { seq, files, bytes: files.reduce((sum, { blob }) => sum + blob.bytes, 0) } };
  }

  async #makeAgain(tenant: string, folder: string, head: ContentHead, open: OpenIndex): Promise<void> {
    const key = await this.#content.key(tenant);
    for (const { name, blob } of head.snapshot?.files ?? [])
      await this.#content.blobs.getFile(tenant, key, blob, join(folder, INDEX, name));
    await this.#complete(tenant, folder, { head, after: head.snapshot?.seq ?? 0 }, open);
  }

  /** Makes the writes that an index on this disk lacks, each by the models that it was written with. */
  async #complete(
    tenant: string,
    folder: string,
    { head, after }: { readonly head: ContentHead; readonly after: number },
    open: OpenIndex,
  ): Promise<void> {
    let opened: (RestoredIndex & { readonly spaces: readonly SpaceSpec[] }) | undefined;
    try {
      for await (const { make, spaces } of this.#writesAfter(tenant, after)) {
        const needed = spaces ?? opened?.spaces ?? this.#spaces;
        if (opened && !isSame(opened.spaces, needed)) {
          await opened.close();
          opened = undefined;
        }
        opened ??= { ...(await open(needed)), spaces: needed };
        await make(opened.shard);
      }
    } finally {
      await opened?.close();
    }
    // Later writes are applied again.
    await this.#content.setPlace(folder, head);
  }

  /** In order; some are fetched ahead. */
  async *#writesAfter(tenant: string, after: number): AsyncGenerator<Restored> {
    const writes = this.#content
      .rows(tenant)
      .writesOf(tenant, after)
      .flatMap(({ item, row }) => row.writes.map((write) => ({ item, write })));
    const fetching: Promise<Restored>[] = [];
    for (let next = 0; next < writes.length || fetching.length > 0; ) {
      while (next < writes.length && fetching.length < FETCHED_AHEAD) {
        const { item, write } = writes[next]!;
        const fetched = this.#restored(tenant, item, write);
        fetched.catch(() => undefined);
        fetching.push(fetched);
        next += 1;
      }
      yield await fetching.shift()!;
    }
  }

  async #restored(tenant: string, item: string, write: IndexWrite): Promise<Restored> {
    if (write.kind === 'remove') return { make: (shard) => shard.removeItem(item) };
    const content = await this.#content.contentOf(tenant, item, write);
    if (write.kind === 'put') {
      const record = JSON.parse(Buffer.from(content).toString()) as Item;
      return { make: (shard) => shard.putItem(record) };
    }
    if (write.kind === 'alias') {
      const name = Buffer.from(content).toString();
      return { make: (shard) => shard.addAlias(item, name) };
    }
    const batch: Batch = decodeBatch(content);
    return {
      spaces: batch.spaces,
      make: (shard) => shard.append(batch.item, batch.segments, batch.replaces),
    };
  }
}

interface Restored {
  /** Spaces that the index must have been opened with; absent: any. */
  readonly spaces?: readonly SpaceSpec[];
  readonly make: (shard: Shard) => Promise<unknown>;
}

/** Whether the writes after a position are all still there. */
function isCovered(seq: number, head: ContentHead): boolean {
  return seq >= (head.snapshot?.seq ?? 0) && seq <= head.seq;
}

function isSame(some: readonly SpaceSpec[], others: readonly SpaceSpec[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ name, dimensions, modelSha256 }) =>
      others.some(
        (other) =>
          other.name === name && other.dimensions === dimensions && other.modelSha256 === modelSha256,
      ),
    )
  );
}

/** Reports damage as an error that names the Tenant; nothing damaged is skipped. */
async function withPlace(tenant: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SealBrokenError)) throw error;
    throw new FarthingError('shard_corrupt', `The index of ${tenant} cannot be made again.`, {
      cause: error,
    });
  }
}
