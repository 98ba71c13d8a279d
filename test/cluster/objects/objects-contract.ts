import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Objects } from '../../../src/cluster/stores/objects/objects.ts';

/** Contract of every implementation of `Objects`. @param open an empty store */
export function objectsContract(what: string, open: (t: Test) => Promise<Objects>): void {
  t.test(`objects ${what}`, async (t) => {
    const objects = await open(t);
    await t.resolves(objects.check(), 'it can be used');

    t.test('what was put is got, byte by byte, whatever its length', async (t) => {
      for (const length of [0, 1, 1000, 65_536, 5 * 2 ** 20 + 3]) {
        const bytes = randomBytes(length);
        await objects.put(`t/lengths/${length}.0`, bytes);
        const found = await objects.get(`t/lengths/${length}.0`);
        t.equal(Buffer.compare(found!, bytes), 0, `${length} bytes`);
      }
    });

    t.test('a name without an object gives nothing, and can be removed', async (t) => {
      t.equal(await objects.get('t/absent/1.0'), undefined);
      await t.resolves(objects.remove('t/absent/1.0'));
      t.same(await objects.list('t/absent/'), []);
    });

    t.test('a list has the names that begin so, over several pages, and no others', async (t) => {
      const names = Array.from({ length: 1105 }, (_, number) => `t/many/${number}.0`);
      const waiting = names.values();
      const putNext = async () => {
        for (const name of waiting) await objects.put(name, Buffer.from(name));
      };
      await Promise.all(Array.from({ length: 16 }, putNext));
      await objects.put('t/many-more/1.0', Buffer.from('other'));
      t.same((await objects.list('t/many/')).sort(), [...names].sort());
      await objects.remove(names[7]!);
      t.equal(await objects.get(names[7]!), undefined);
      t.notOk((await objects.list('t/many/')).includes(names[7]!));
      t.same(await objects.list('t/many-more/'), ['t/many-more/1.0']);
    });
  });
}
