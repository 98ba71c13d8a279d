import { randomBytes } from 'node:crypto';
import t from 'tap';
import { readClusterKeys } from '../../src/cluster/stores/seal.ts';
import { SealedRow } from '../../src/cluster/stores/sealed-row.ts';
import { MemoryEngine, MemoryKv } from './memory-kv.ts';

const KEY = '/farthing/c/words';

function hexKey(): string {
  return randomBytes(32).toString('hex');
}

async function rowOf(engine: MemoryEngine, keys: string) {
  const kv = new MemoryKv(engine);
  const clusterKeys = await readClusterKeys(keys);
  return { kv, row: new SealedRow({ kv, key: KEY, sealedAs: 'words', clusterKeys }) };
}

const add = (word: string) => (text: string | undefined) => [...(text?.split(' ') ?? []), word].join(' ');

t.test('what one server writes another reads, and the engine sees none of it', async (t) => {
  const engine = new MemoryEngine();
  const key = hexKey();
  const [one, other] = [await rowOf(engine, key), await rowOf(engine, key)];
  t.equal(await one.row.read(), undefined);
  const { revision } = await one.row.change(add('gulls'));
  t.same(await other.row.read(), { text: 'gulls', revision });
  t.notMatch(Buffer.from(engine.rows.get(KEY)!.value).toString(), /gulls/);
});

t.test('of changes at the same moment none is lost', async (t) => {
  const engine = new MemoryEngine();
  const key = hexKey();
  const rows = await Promise.all(['a', 'b', 'c', 'd'].map(async () => rowOf(engine, key)));
  await Promise.all(rows.map(({ row }, index) => row.change(add(`w${index}`))));
  const { text } = (await rows[0]!.row.read())!;
  t.same(text.split(' ').sort(), ['w0', 'w1', 'w2', 'w3']);
});

t.test('a new cluster key seals the text anew, so that the former one can be destroyed', async (t) => {
  const engine = new MemoryEngine();
  const [former, inUse] = [hexKey(), hexKey()];
  await (await rowOf(engine, former)).row.change(() => 'text');
  await t.rejects((await rowOf(engine, inUse)).row.read(), { message: /is missing; add it as another line/ });
  await (await rowOf(engine, `${inUse}\n${former}`)).row.change((text) => text!);
  t.match(await (await rowOf(engine, inUse)).row.read(), { text: 'text' });
});
