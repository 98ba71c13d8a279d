import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Shard } from '../../../src/engine/shard/shard.ts';
import type { Tenants } from '../../../src/engine/shard/tenants.ts';
import { itemOf, passage, towards } from '../../engine/shard/fixtures.ts';
import '../../rig/teardown-order.ts';
import { eventually } from '../../rig/eventually.ts';
import { KeptTenants } from './kept-tenants.ts';

const TENANT = 'ws_a';
const LONG = 'A passage that is too long for the log itself. '.repeat(100);

/** Results of a search and a list of the index. */
function shown(tenants: Tenants) {
  return tenants.use(TENANT, {}, (shard) => {
    const snapshot = shard.snapshot();
    try {
      const { segments } = snapshot.searchVector('text_semantic', towards(0), 100);
      return {
        items: shard
          .items({ limit: 100 })
          .map(({ id, state, aliases = [] }) => [id, state, ...aliases].join(' ')),
        byNames: snapshot.searchWords('early late', 100).segments.length,
        found: snapshot.records(segments).map((record) => record?.text),
        words: snapshot.searchWords('passage', 100).segments.length,
      };
    } finally {
      snapshot.close();
    }
  });
}

async function fill(shard: Shard): Promise<void> {
  await shard.putItem(itemOf('a', { state: 'pending' }));
  await shard.addAlias('a', 'passage-early.txt');
  await shard.append(itemOf('a'), [
    passage('a', 'a short passage', { vectors: { text_semantic: towards(0.1) } }),
  ]);
  await shard.append(itemOf('b'), [passage('b', LONG, { vectors: { text_semantic: towards(0.2) } })]);
  await shard.addAlias('a', 'passage-late.txt');
  await shard.append(itemOf('c'), [passage('c', 'a removed passage')]);
  await shard.removeItem('c');
  await shard.putItem(itemOf('d', { state: 'pending' }));
  await shard.append(itemOf('e'), [passage('e', 'of a file that fails later')]);
  await shard.putItem(itemOf('e', { state: 'failed' }));
}

t.test('an index whose disk is lost is made again from its writes, as it was', async (t) => {
  const kept = new KeptTenants(t);
  const first = (await kept.open()).tenants;
  await first.use(TENANT, { create: true }, fill);
  const before = await shown(first);
  t.same(before.items.sort(), [
    'a searchable passage-early.txt passage-late.txt',
    'b searchable',
    'd pending',
    'e failed',
  ]);
  await first.close();
  kept.loseDisk();
  const { tenants: second } = await kept.open();
  t.ok(second.exists(TENANT));
  t.same(await second.list(), [TENANT]);
  const after = await shown(second);
  t.same({ ...after, items: after.items.sort() }, before);
  await second.close();
  const third = (await kept.open()).tenants;
  kept.events.length = 0;
  t.same((await shown(third)).found, before.found);
  t.notOk(kept.has('index_restored'), 'what is on the disk and complete is not made again');
  await third.close();
});

t.test('a disk that is behind is completed, and one of unknown state is made again', async (t) => {
  const kept = new KeptTenants(t);
  const first = (await kept.open()).tenants;
  await first.use(TENANT, { create: true }, (shard) =>
    shard.append(itemOf('a'), [passage('a', 'first passage')]),
  );
  await first.close();
  const earlier = join(kept.disk, '../earlier');
  cpSync(kept.disk, earlier, { recursive: true });
  const second = (await kept.open()).tenants;
  await second.use(TENANT, {}, (shard) => shard.append(itemOf('b'), [passage('b', 'second passage')]));
  const before = await shown(second);
  await second.close();
  kept.loseDisk();
  cpSync(earlier, kept.disk, { recursive: true });
  kept.events.length = 0;
  const third = (await kept.open()).tenants;
  t.same(await shown(third), before);
  t.notOk(kept.has('index_restored'));
  await third.close();
  for (const place of ['torn', JSON.stringify({ id: 'another', seq: 2 }), '{"id":"", "seq": 99}']) {
    writeFileSync(join(kept.disk, TENANT, 'kept.json'), place);
    kept.events.length = 0;
    const next = (await kept.open()).tenants;
    t.same(await shown(next), before);
    t.ok(kept.has('index_restored'));
    await next.close();
  }
});

t.test(
  'once its writes cost more than a copy, the whole index is kept, and what it replaces is removed',
  async (t) => {
    const kept = new KeptTenants(t);
    const first = (await kept.open()).tenants;
    const text = 'A passage of many words. '.repeat(4000);
    for (let number = 0; number < 60; number++)
      await first.use(TENANT, { create: true }, (shard) =>
        shard.append(itemOf(`i${number}`), [passage(`i${number}`, `${text} ${number}`)]),
      );
    await eventually(() => kept.has('index_kept'));
    await first.use(TENANT, {}, (shard) => shard.removeItem('i7'));
    await first.use(TENANT, {}, (shard) =>
      shard.append(itemOf('later'), [passage('later', 'a later passage')]),
    );
    const before = await shown(first);
    await first.close();
    t.ok(kept.rows.heads.get(TENANT)!.snapshot);
    t.ok(kept.objectFiles.length < 60, `${kept.objectFiles.length} objects`);
    kept.loseDisk();
    const second = (await kept.open()).tenants;
    const after = await shown(second);
    t.same(after.items.sort(), before.items.sort());
    t.equal(after.words, before.words);
    t.notOk(after.items.some((item) => item.startsWith('i7 ')));
    await second.close();
  },
);

t.test('a disposal leaves no object, row or key; who comes back has another key', async (t) => {
  const kept = new KeptTenants(t);
  const { tenants } = await kept.open();
  await tenants.use(TENANT, { create: true }, fill);
  await tenants.use('ws_other', { create: true }, fill);
  const others = kept.objectFiles.filter((path) => path.includes('ws_other'));
  const { sealed } = kept.rows.keys.get(TENANT)!;
  await tenants.dispose(TENANT, { mayReturn: true });
  t.same(kept.objectFiles, others);
  t.same([kept.rows.heads.count(), kept.rows.keys.count()], [1, 1]);
  t.notOk([...kept.rows.items.range()].some(({ key }) => key.startsWith(`${TENANT}/`)));
  await tenants.use(TENANT, { create: true }, fill);
  t.not(kept.rows.keys.get(TENANT)!.sealed, sealed);
  await tenants.close();
});

t.test('what a write that was cut short left in the store is removed with the next snapshot', async (t) => {
  const kept = new KeptTenants(t);
  const { tenants, content } = await kept.open();
  await tenants.use(TENANT, { create: true }, fill);
  const key = await content.key(TENANT);
  const { blob, done } = await content.blobs.put(TENANT, key, Buffer.from(LONG));
  const count = (confirm = () => kept.rows.confirm(TENANT)) =>
    content.blobs.removeAbandoned(TENANT, () => kept.rows.blobsOf(TENANT), confirm);
  t.equal(await count(), 0, 'it may still be on its way');
  done();
  const fenced = () => Promise.reject(new Error('belongs to another process now'));
  await t.rejects(count(fenced), /another process/);
  await t.rejects(content.blobs.removeAll(TENANT, fenced), /another process/);
  t.ok(await content.blobs.get(TENANT, key, blob), 'a server that was replaced removes nothing of the other');
  t.equal(await count(), 1);
  await t.rejects(content.blobs.get(TENANT, key, blob), { message: /is missing/ });
  await tenants.close();
});
