import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Content, contentOf } from '../../../src/cluster/content/content.ts';
import { ContentIndexKeeper } from '../../../src/cluster/content/index-keeper.ts';
import { ContentRows } from '../../../src/cluster/content/rows.ts';
import { FolderObjects } from '../../../src/cluster/stores/objects/folder-objects.ts';
import type { Objects } from '../../../src/cluster/stores/objects/objects.ts';
import { readClusterKeys } from '../../../src/cluster/stores/seal.ts';
import { openTenants, type Tenants } from '../../../src/engine/shard/tenants.ts';
import type { SpaceSpec } from '../../../src/engine/space.ts';
import { openStore } from '../../../src/server/state/store.ts';
import { SPACES } from '../../engine/shard/fixtures.ts';

/** Tenants over a store and a folder of objects, and a disk that can be lost. */
export class KeptTenants {
  readonly rows: ContentRows;
  readonly objects: Objects;
  readonly objectsFolder: string;
  readonly disk: string;
  readonly events: Record<string, unknown>[] = [];
  readonly #clusterKey = randomBytes(32).toString('hex');

  /** Closes with the test. */
  constructor(t: Test) {
    const folder = t.testdir({});
    const store = openStore(join(folder, 'state'));
    t.teardown(() => store.close());
    this.rows = new ContentRows(store);
    this.objectsFolder = join(folder, 'objects');
    this.disk = join(folder, 'disk');
    mkdirSync(this.objectsFolder);
    this.objects = new FolderObjects(this.objectsFolder);
  }

  /** As a start does. */
  async open(spaces: readonly SpaceSpec[] = SPACES): Promise<{
    tenants: Tenants;
    content: Content;
    keeper: ContentIndexKeeper;
    clusterKeys: Awaited<ReturnType<typeof readClusterKeys>>;
  }> {
    const clusterKeys = await readClusterKeys(this.#clusterKey);
    const content = contentOf([this.rows.store], {
      clusterKeys,
      objects: this.objects,
      log: (event) => this.events.push(event as Record<string, unknown>),
    });
    await content.open();
    const keeper = new ContentIndexKeeper(content, spaces);
    return {
      content,
      keeper,
      clusterKeys,
      tenants: openTenants({
        folder: this.disk,
        spaces,
        openShardsMax: 16,
        keeper,
        log: (event) => this.events.push(event as Record<string, unknown>),
      }),
    };
  }

  loseDisk(): void {
    rmSync(this.disk, { recursive: true, force: true });
  }

  /** Paths of all objects. */
  get objectFiles(): string[] {
    return readdirSync(this.objectsFolder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(this.objectsFolder, name))
      .filter((path) => statSync(path).isFile());
  }

  has(event: string): boolean {
    return this.events.some((one) => one.event === event);
  }
}
