import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { KeptFiles } from '../../../src/cluster/content/kept-files.ts';
import type { Tenants } from '../../../src/engine/shard/tenants.ts';
import { idFrom, type TenantId } from '../../../src/protocol/id.ts';
import { filesIn } from '../../../src/server/ingest/items/files.ts';
import { itemOf, passage } from '../../engine/shard/fixtures.ts';
import '../../rig/teardown-order.ts';
import { KeptTenants } from './kept-tenants.ts';

/** One bit of one object is flipped, an error that names the object, and nothing of it is served. */

const TENANT = idFrom('workspace', 'a'.repeat(32)) as TenantId;
const ITEM = idFrom('item', 'b'.repeat(32));
const TEXT = 'The keeper counts gulls at dawn. ';

/** Kinds of objects: what makes one, and what reads it. */
const KINDS: Record<string, (kept: KeptTenants) => Promise<() => Promise<unknown>>> = {
  'a write to an index': async (kept) => {
    await filled(kept, async (tenants) =>
      tenants.use(TENANT, { create: true }, (shard) =>
        shard.append(itemOf('a'), [passage('a', TEXT.repeat(400))]),
      ),
    );
    return () => passagesOf(kept);
  },
  'the copy of an index': async (kept) => {
    await filled(kept, async (tenants) => {
      await tenants.use(TENANT, { create: true }, (shard) =>
        shard.append(itemOf('a'), [passage('a', 'of few words')]),
      );
    });
    const { tenants, keeper } = await kept.open();
    await tenants.close();
    await keeper.keepClosed(TENANT, join(kept.disk, TENANT));
    return () => passagesOf(kept);
  },
  'a stored file': async (kept) => {
    const { tenants, content } = await kept.open();
    await tenants.use(TENANT, { create: true }, () => undefined);
    const source = join(kept.disk, '../received');
    writeFileSync(source, TEXT.repeat(400));
    const files = new KeptFiles({
      content,
      here: filesIn(tenants, { areCopies: true }),
      use: (tenant, work) => tenants.use(tenant, {}, work),
    });
    await files.keep(TENANT, ITEM, source, Promise.resolve());
    await tenants.use(TENANT, {}, (shard) => shard.putItem(itemOf(ITEM, { state: 'pending' })));
    await tenants.close();
    return async () => {
      mkdirSync(kept.disk, { recursive: true });
      const opened = await kept.open();
      try {
        const again = new KeptFiles({
          content: opened.content,
          here: filesIn(opened.tenants),
          use: (tenant, work) => opened.tenants.use(tenant, {}, work),
        });
        return [readFileSync(await again.path(TENANT, ITEM), 'utf8').length];
      } finally {
        await opened.tenants.close();
      }
    };
  },
};

async function filled(kept: KeptTenants, work: (tenants: Tenants) => Promise<void>): Promise<void> {
  const { tenants } = await kept.open();
  await work(tenants);
  await tenants.close();
}

async function passagesOf(kept: KeptTenants): Promise<unknown> {
  const { tenants } = await kept.open();
  try {
    return await tenants.use(TENANT, {}, (shard) => shard.items({ limit: 10 }).map(({ id }) => id));
  } finally {
    await tenants.close();
  }
}

/** Bits of the first byte, of the nonce, of what was sealed, and of the tag. */
const bitsOf = (bytes: Uint8Array) => [0, 40, 4 * bytes.length, 8 * bytes.length - 1];

for (const [kind, make] of Object.entries(KINDS))
  t.test(`a flipped bit in ${kind} is an error with its place`, async (t) => {
    const kept = new KeptTenants(t);
    const { objects } = kept;
    const read = await make(kept);
    const names = await objects.list(`t/${TENANT}/`);
    t.equal(names.length, 1);
    kept.loseDisk();
    const whole = await read();
    for (const object of names) {
      const bytes = (await objects.get(object))!;
      for (const bit of bitsOf(bytes)) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        await objects.remove(object);
        await objects.put(object, flipped);
        kept.loseDisk();
        const error = (await read().then(
          (served) => t.fail(`bit ${bit}: ${JSON.stringify(served)} was served`),
          (thrown: unknown) => thrown,
        )) as Error & { readonly code?: string };
        t.equal(error.code, 'shard_corrupt');
        t.ok((error.cause as Error).message.includes(object), `${(error.cause as Error).message} names it`);
      }
      await objects.remove(object);
      await objects.put(object, bytes);
    }
    kept.loseDisk();
    t.same(await read(), whole, 'and nothing else was wrong');
  });
