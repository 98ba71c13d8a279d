import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contentOf } from '../../src/cluster/content/content.ts';
import { ContentIndexKeeper } from '../../src/cluster/content/index-keeper.ts';
import { ContentRows } from '../../src/cluster/content/rows.ts';
import type { Objects } from '../../src/cluster/stores/objects/objects.ts';
import { readClusterKeys } from '../../src/cluster/stores/seal.ts';
import { openTenants, type Tenants } from '../../src/shard/tenants.ts';
import { openStore } from '../../src/state/store.ts';
import { itemOf, passage } from '../../test/shard/fixtures.ts';
import { quantile } from '../rig/agent.ts';

const ROWS = 10_000;
const DIMENSIONS = 384;
const ROWS_PER_ITEM = 100;
const TENANT = 'ws_restored';
const ROUNDS = 7;
const SPACES = [{ name: 'text_semantic', dimensions: DIMENSIONS, modelSha256: 'ab'.repeat(32) }];
const WORDS = 'lighthouse keeper counts gulls at dawn and writes the tide into the log of the harbour'.split(
  ' ',
);

/**
 * Milliseconds from an empty disk to the first answer, at p50: made again from a snapshot in the store, and from the writes alone.
 * @param folder for the state and the indexes
 */
export async function restoreTimes(objects: Objects, folder: string): Promise<Record<string, number>> {
  mkdirSync(folder, { recursive: true });
  const store = openStore(join(folder, 'state'));
  const rows = new ContentRows(store);
  const content = contentOf([store], {
    clusterKeys: await readClusterKeys(randomBytes(32).toString('hex')),
    objects,
    log: () => undefined,
  });
  await content.open();
  const keeper = new ContentIndexKeeper(content, SPACES, async () => undefined);
  const disk = join(folder, 'disk');
  const open = (withSnapshots: boolean) =>
    openTenants({
      folder: disk,
      spaces: SPACES,
      openShardsMax: 4,
      keeper: withSnapshots ? keeper : new KeeperOfWrites(content, SPACES, async () => undefined),
    });
  const filling = open(false);
  for (let item = 0; item < ROWS / ROWS_PER_ITEM; item++)
    await filling.use(TENANT, { create: true }, (shard) =>
      shard.append(
        itemOf(`item${item}`, { segments: ROWS_PER_ITEM }),
        Array.from({ length: ROWS_PER_ITEM }, () =>
          passage(`item${item}`, text(), { vectors: { text_semantic: unit() } }),
        ),
      ),
    );
  await filling.close();
  const measured: Record<string, number> = {};
  const measure = async (what: string) => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rmSync(disk, { recursive: true });
      const tenants = open(false);
      const began = performance.now();
      await search(tenants);
      times.push(performance.now() - began);
      await tenants.close();
    }
    measured[what] = quantile(times, 0.5);
  };
  await measure(`from ${ROWS / ROWS_PER_ITEM} writes`);
  const snapshotting = open(true);
  await snapshotting.use(TENANT, {}, (shard) =>
    keeper.takeSnapshot(TENANT, snapshotting.folder(TENANT), shard),
  );
  await snapshotting.close();
  await measure(`from a snapshot of ${Math.round(rows.heads.get(TENANT)!.snapshot!.bytes / 2 ** 20)} MiB`);
  await store.close();
  return measured;
}

/** Takes no snapshot by itself. */
class KeeperOfWrites extends ContentIndexKeeper {
  override snapshotIsDue(): boolean {
    return false;
  }
}

function search(tenants: Tenants): Promise<void> {
  return tenants.use(TENANT, {}, (shard) => {
    const snapshot = shard.snapshot();
    const { segments } = snapshot.searchVector('text_semantic', unit(), 10);
    snapshot.close();
    if (segments.length !== 10) throw new Error('the index is not whole');
  });
}

function unit(): Float32Array {
  const row = Float32Array.from({ length: DIMENSIONS }, () => Math.random() - 0.5);
  const length = Math.hypot(...row);
  return row.map((value) => value / length);
}

function text(): string {
  return Array.from({ length: 120 }, () => WORDS[Math.floor(Math.random() * WORDS.length)]).join(' ');
}
