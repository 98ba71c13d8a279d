import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ItemId, idFrom } from '../../../src/protocol/id.ts';
import type { Item } from '../../../src/protocol/schema/items.ts';
import type { TenantFolders, TenantShard } from '../../../src/server/workspace/tenant/folders.ts';

/** Folders with a list of items instead of an index. `boundary` is called before and after what a crash may interrupt. */
export class FakeTenants implements TenantFolders {
  readonly #root: string;
  readonly #boundary: () => void;

  constructor(root: string, boundary: () => void = () => {}) {
    this.#root = root;
    this.#boundary = boundary;
  }

  folder(tenant: string): string {
    return join(this.#root, tenant);
  }

  has(tenant: string): boolean {
    return existsSync(this.folder(tenant));
  }

  ingest(tenant: string, sha256: string, state: Item['state'] = 'searchable'): void {
    mkdirSync(this.folder(tenant), { recursive: true });
    const items = [
      ...this.#items(tenant),
      fakeItem(idFrom('item', String(this.#items(tenant).length).padStart(32, '0')), sha256, state),
    ];
    writeFileSync(this.#list(tenant), JSON.stringify(items));
  }

  async useIfThere<T>(tenant: string, work: (shard: TenantShard) => Promise<T> | T): Promise<T | undefined> {
    if (!existsSync(this.#list(tenant))) return undefined;
    const items = this.#items(tenant);
    const { length } = items.filter(({ state }) => state === 'searchable');
    return work({
      snapshot: () => ({
        counts: () => ({ items: length, segments: 2 * length, bytes: 100 * length }),
        close: () => {},
      }),
      spaces: [],
      items: ({ after, limit }) =>
        items.filter(({ id }) => after === undefined || id > after).slice(0, limit),
    });
  }

  async dispose(tenant: string): Promise<void> {
    this.#boundary();
    rmSync(this.folder(tenant), { recursive: true, force: true });
    this.#boundary();
  }

  #list(tenant: string): string {
    return join(this.folder(tenant), 'items.json');
  }

  #items(tenant: string): Item[] {
    return existsSync(this.#list(tenant))
      ? (JSON.parse(readFileSync(this.#list(tenant), 'utf8')) as Item[])
      : [];
  }
}

function fakeItem(id: ItemId, sha256: string, state: Item['state']): Item {
  return {
    id,
    name: 'a.txt',
    media_type: 'text/plain',
    bytes: 100,
    sha256,
    state,
    families: ['raw'],
    segments: 2,
    created_at: '2026-11-21T09:00:00.000Z',
    expires_at: null,
  };
}
