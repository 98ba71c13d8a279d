import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FollowedIndexes } from '../../../src/cluster/content/followed-indexes.ts';
import type { Change } from '../../../src/cluster/log/changes.ts';
import type { Objects } from '../../../src/cluster/stores/objects/objects.ts';
import { openTenants, type Tenants } from '../../../src/engine/shard/tenants.ts';
import { itemOf, passage, SPACES, towards } from '../../engine/shard/fixtures.ts';
import '../../rig/teardown-order.ts';
import { eventually } from '../../rig/eventually.ts';
import { KeptTenants } from './kept-tenants.ts';

/** Indexes that are followed in books that another server writes: here its very books, which are read alone. */

const LONG = 'A passage that is too long for the log itself. '.repeat(100);
const GIBIBYTE = 2 ** 30;

async function following(
  t: Test,
  { bytesMax = GIBIBYTE, freeBytesMin = 0, objects = (all: Objects) => all } = {},
) {
  const kept = new KeptTenants(t);
  const { tenants, clusterKeys } = await kept.open();
  const disk = join(kept.disk, '../standby');
  mkdirSync(disk);
  const followed = new FollowedIndexes({
    slots: 1,
    clusterKeys,
    objects: objects(kept.objects),
    spaces: SPACES,
    folders: [disk],
    open: (folder, wanted) => tenants.openApart(folder, wanted),
    bytesMax,
    freeBytesMin,
    retryMs: 20,
    log: (event) => kept.events.push(event as Record<string, unknown>),
  });
  t.teardown(async () => {
    await followed.close();
    await tenants.close();
  });
  const level = () => eventually(() => followed.isLevel(0));
  const told = (...changes: [table: string, key: string][]) => {
    followed.changed(
      0,
      changes.map(([table, key]): Change => ({ table, key, value: Buffer.alloc(0) })),
    );
  };
  return { kept, tenants, followed, disk, level, told };
}

/** Takes the slot over on this disk. @returns texts of a Tenant, and whether its index had to be rebuilt */
async function takenOver(kept: KeptTenants, disk: string, tenant: string) {
  const { keeper } = await kept.open();
  kept.events.length = 0;
  const tenants = openTenants({ folder: disk, spaces: SPACES, openShardsMax: 4, keeper });
  try {
    return { found: await texts(tenants, tenant), isMade: kept.has('index_restored') };
  } finally {
    await tenants.close();
  }
}

function texts(tenants: Tenants, tenant: string): Promise<(string | undefined)[]> {
  return tenants.use(tenant, {}, (shard) => {
    const snapshot = shard.snapshot();
    try {
      const { segments } = snapshot.searchVector('text_semantic', towards(0), 100);
      return snapshot.records(segments).map((record) => (record as { text?: string } | undefined)?.text);
    } finally {
      snapshot.close();
    }
  });
}

const write = (tenants: Tenants, tenant: string, item: string, text = `passage ${item}`) =>
  tenants.use(tenant, { create: true }, (shard) => shard.append(itemOf(item), [passage(item, text)]));

t.test('indexes are made, and follow each write; a takeover finds them whole', async (t) => {
  const { kept, tenants, followed, disk, level, told } = await following(t);
  await write(tenants, 'ws_a', 'a', LONG);
  await write(tenants, 'ws_b', 'b');
  await followed.add(0, kept.rows.store);
  await level();
  t.match(followed.figures, { current: 2, behind: 0, left_out: 0 });
  t.ok(followed.figures.bytes > 0);
  await write(tenants, 'ws_a', 'c');
  await write(tenants, 'ws_c', 'd');
  told(['content', 'ws_a'], ['content_items', 'ws_a/c'], ['content', 'ws_c']);
  await level();
  await tenants.use('ws_a', {}, (shard) => shard.removeItem('a'));
  told(['content', 'ws_a']);
  await level();
  // One that it was not told of in time.
  await write(tenants, 'ws_b', 'e');
  await followed.leave(0);
  t.match(followed.figures, { current: 0, behind: 0, left_out: 0, bytes: 0 });
  t.same(await takenOver(kept, disk, 'ws_a'), { found: ['passage c'], isMade: false });
  const late = await takenOver(kept, disk, 'ws_b');
  t.same([late.found.sort(), late.isMade], [['passage b', 'passage e'], false], 'and completed');
});

t.test('an index of a Tenant that ends goes, by the books or when its server asks', async (t) => {
  const { kept, tenants, followed, disk, level, told } = await following(t);
  for (const tenant of ['ws_a', 'ws_b', 'ws_c']) await write(tenants, tenant, 'x', LONG);
  await followed.add(0, kept.rows.store);
  await level();
  await tenants.dispose('ws_a');
  told(['content', 'ws_a']);
  await level();
  t.same(readdirSync(disk).sort(), ['ws_b', 'ws_c']);
  await followed.remove(0, 'ws_b');
  t.notOk(existsSync(join(disk, 'ws_b')), 'before the books say so');
  told(['content', 'ws_b']);
  await level();
  t.same(readdirSync(disk), ['ws_c'], 'and it does not come back while they do not');
  await followed.remove(0, 'ws_unknown');
  t.same(followed.figures.behind, 0);
});

t.test('what does not fit is left out, and what is used takes the place of what is not', async (t) => {
  // Size of an index with a short passage, as measured by this test's first part.
  let bytes = 0;
  await t.test('one alone', async (t) => {
    const { kept, tenants, followed, level } = await following(t);
    await write(tenants, 'ws_a', 'a');
    await followed.add(0, kept.rows.store);
    await level();
    bytes = followed.figures.bytes;
  });
  await t.test('room for two', async (t) => {
    const { kept, tenants, followed, disk, level, told } = await following(t, { bytesMax: 2.5 * bytes });
    for (const tenant of ['ws_a', 'ws_b', 'ws_c', 'ws_d']) await write(tenants, tenant, 'x');
    await followed.add(0, kept.rows.store);
    await level();
    t.match(followed.figures, { current: 2, left_out: 2 });
    for (const tenant of ['ws_a', 'ws_b', 'ws_c', 'ws_d']) {
      told(['workspace_activity', tenant]);
      await level();
      t.ok(existsSync(join(disk, tenant)), tenant);
      t.ok(followed.figures.bytes <= 2.5 * bytes);
    }
    t.same(readdirSync(disk).sort(), ['ws_c', 'ws_d'], 'those used last');
  });
  await t.test('a disk that is nearly full', async (t) => {
    const { kept, tenants, followed, level } = await following(t, { freeBytesMin: Number.MAX_SAFE_INTEGER });
    await write(tenants, 'ws_a', 'a');
    await followed.add(0, kept.rows.store);
    await level();
    t.match(followed.figures, { current: 0, left_out: 1 });
  });
});

t.test('a takeover waits for no object, and finds nothing half made', async (t) => {
  const asked = Promise.withResolvers<void>();
  const { kept, tenants, followed, disk } = await following(t, {
    objects: (all) =>
      Object.assign(Object.create(all), {
        get: () => {
          asked.resolve();
          return new Promise(() => undefined);
        },
      }),
  });
  await write(tenants, 'ws_a', 'a', LONG);
  await followed.add(0, kept.rows.store);
  await asked.promise;
  t.notOk(followed.isLevel(0));
  await followed.leave(0);
  t.same(await takenOver(kept, disk, 'ws_a'), { found: [LONG], isMade: true });
});

t.test('an object that is gone costs its index alone, until the books name another', async (t) => {
  const { kept, tenants, followed, level, told } = await following(t);
  await write(tenants, 'ws_a', 'a', LONG);
  await write(tenants, 'ws_b', 'b');
  for (const path of kept.objectFiles) rmSync(path);
  await followed.add(0, kept.rows.store);
  await level();
  t.match(followed.figures, { current: 1, left_out: 1 });
  const failures = () => kept.events.filter(({ event }) => event === 'index_not_followed');
  t.match(failures(), [{ level: 'warn', tenant: 'ws_a', error: /t\/ws_a\/\w+\.0 is missing/ }]);
  told(['content', 'ws_a']);
  await level();
  t.equal(failures().length, 1, 'told once');
  await write(tenants, 'ws_a', 'a', `${LONG} again`);
  told(['content', 'ws_a']);
  await level();
  t.match(followed.figures, { current: 2, left_out: 0 });
});
