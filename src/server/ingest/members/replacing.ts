import { FarthingError } from '@farthing/protocol/error';
import type { ItemId, TenantId } from '@farthing/protocol/id';
import type { Item } from '@farthing/protocol/schema/items';
import type { IngestSegment, IngestShard, IngestTenants, StagedUpload, StoredFiles } from '../ports/ports.ts';
import { membersOf, removeItem, uploadedItem } from './members.ts';

/** One of all Items with one key is searchable. A newer one replaces it in the commit that makes the newer one searchable. */

type Keyed = Pick<IngestShard, 'itemsByKey'>;

/** The latest Item with a key that has not failed: searchable, or to be. */
export function itemWithKey(shard: Keyed, key: string): Item | undefined {
  return shard.itemsByKey(key).findLast(({ state }) => state !== 'failed');
}

/** The first Item with these bytes whose upload has no key: Items with a key may be replaced at any time. */
export function itemWithBytes(
  shard: Pick<IngestShard, 'item' | 'itemsByDigest'>,
  sha256: string,
): Item | undefined {
  return shard.itemsByDigest(sha256).find((item) => uploadedItem(shard, item)?.key === undefined);
}

/** Whether an upload with a key says nothing new of its Item. */
export function isSame(item: Item, { sha256, name, metadata }: StagedUpload): boolean {
  return (
    item.sha256 === sha256 &&
    item.name === name &&
    JSON.stringify(item.metadata ?? {}) === JSON.stringify(metadata ?? {})
  );
}

/** @throws precondition_failed unless the Item with the key is the one that the upload expects */
export function checkExpected(item: Item | undefined, { key, onlyIf }: StagedUpload): void {
  if (!onlyIf || (item?.id ?? null) === onlyIf.item) return;
  const is = item ? `${item.id} has it` : 'no item has it';
  throw new FarthingError(
    'precondition_failed',
    `The key ${JSON.stringify(key)} is not as expected: ${is}.`,
    {
      facts: { item_id: item?.id ?? null },
    },
  );
}

export interface ReplacingDeps {
  readonly tenants: IngestTenants;
  readonly files: StoredFiles;
}

/** Commits Items with keys, one after the other for each key. */
export class Replacing {
  readonly #deps: ReplacingDeps;
  /** The latest commit of each Tenant and key. The next one waits for it. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(deps: ReplacingDeps) {
    this.#deps = deps;
  }

  /**
   * Makes an Item searchable, in place of the earlier ones with its key.
   * @throws item_replaced when a later upload with its key is searchable already
   */
  async commit(tenant: TenantId, item: Item, segments: readonly IngestSegment[]): Promise<void> {
    const { key } = item;
    if (key === undefined) return this.#deps.tenants.use(tenant, {}, (shard) => shard.append(item, segments));
    await this.#inTurn(`${tenant} ${key}`, async () => {
      await this.#deps.tenants.use(tenant, {}, (shard) => {
        const all = shard.itemsByKey(key);
        const at = all.findIndex(({ id }) => id === item.id);
        if (all.slice(at + 1).some(({ state }) => state === 'searchable'))
          throw new FarthingError(
            'item_replaced',
            'A later upload with the same key was searchable before this one.',
          );
        const earlier = all.slice(0, at).filter(({ state }) => state === 'searchable');
        return shard.append(
          item,
          segments,
          earlier.flatMap((each) => withMembers(shard, each)),
        );
      });
    });
    await this.clear(tenant, item);
  }

  /** Removes the Items that a searchable one has replaced, with their files. Idempotent: a crash in between is repaired by a second call. */
  async clear(tenant: TenantId, item: Item): Promise<void> {
    const { key } = item;
    if (key === undefined) return;
    const all = (await this.#deps.tenants.useIfThere(tenant, (shard) => shard.itemsByKey(key))) ?? [];
    // One that a later upload has removed has nothing to clear.
    const earlier = all.slice(
      0,
      Math.max(
        0,
        all.findIndex(({ id }) => id === item.id),
      ),
    );
    for (const { id, state } of earlier) if (state !== 'pending') await removeItem(this.#deps, tenant, id);
  }

  async #inTurn(key: string, work: () => Promise<void>): Promise<void> {
    const before = this.#running.get(key) ?? Promise.resolve();
    const done = before.catch(() => undefined).then(work);
    this.#running.set(key, done);
    try {
      await done;
    } finally {
      if (this.#running.get(key) === done) this.#running.delete(key);
    }
  }
}

/** Ids of an Item and of the files inside it, at every depth. */
function withMembers(shard: IngestShard, item: Item): ItemId[] {
  const members = membersOf(shard, item, { limit: item.members ?? 0 });
  return [item.id, ...members.flatMap((member) => withMembers(shard, member))];
}
