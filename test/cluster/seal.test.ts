import { randomBytes } from 'node:crypto';
import t from 'tap';
import { importKey, readClusterKeys, seal, unseal } from '../../src/cluster/stores/seal.ts';

const NOT_OPENED = /is damaged|is not sealed/;

t.test('what is sealed opens under its key and its name alone, and with every bit as it was', async (t) => {
  const [key, other] = [await importKey(randomBytes(32)), await importKey(randomBytes(32))];
  for (const length of [0, 1, 4096, 100_000]) {
    const plain = randomBytes(length);
    const sealed = await seal(key, 't/a/1.0', plain);
    t.equal(Buffer.compare(await unseal(key, 't/a/1.0', sealed), plain), 0);
    await t.rejects(unseal(key, 't/b/1.0', sealed), { message: NOT_OPENED });
    await t.rejects(unseal(other, 't/a/1.0', sealed), { message: NOT_OPENED });
    const at = Math.floor(Math.random() * sealed.length);
    const flipped = Uint8Array.from(sealed);
    flipped[at]! ^= 1;
    await t.rejects(
      unseal(key, 't/a/1.0', flipped),
      { message: NOT_OPENED },
      `bit of byte ${at} of ${length}`,
    );
    await t.rejects(unseal(key, 't/a/1.0', sealed.subarray(0, -1)), { message: NOT_OPENED });
  }
});

t.test('the same bytes are never sealed the same way', async (t) => {
  const key = await importKey(randomBytes(32));
  const sealed = await Promise.all(Array.from({ length: 50 }, () => seal(key, 'a', Buffer.from('same'))));
  t.equal(new Set(sealed.map((bytes) => Buffer.from(bytes).toString('hex'))).size, 50);
});

t.test('cluster keys are read one a line, and a fault shows none of them', async (t) => {
  const [first, second] = ['a'.repeat(64), 'B'.repeat(64)];
  const keys = await readClusterKeys(`${first}\n${second}\n`);
  t.equal(keys.length, 2);
  t.notSame(keys[0].id, keys[1]!.id);
  for (const text of ['', 'secret', `${first}\nsecret`])
    await readClusterKeys(text).then(
      () => t.fail('it must be refused'),
      ({ message }: Error) => t.notMatch(message, /secret/),
    );
});
