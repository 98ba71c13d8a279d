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

t.test('a new cluster key seals the text anew, so that the former one can be destroyed', async (t) => {
  const engine = new MemoryEngine();
  const [former, inUse] = [hexKey(), hexKey()];
  await (await rowOf(engine, former)).row.change(() => 'text');
  t.notMatch(Buffer.from(engine.rows.get(KEY)!.value).toString(), /text/, 'the engine sees none of it');
  await t.rejects((await rowOf(engine, inUse)).row.read(), { message: /is missing; add it as another line/ });
  await (await rowOf(engine, `${inUse}\n${former}`)).row.change((text) => text!);
  t.match(await (await rowOf(engine, inUse)).row.read(), { text: 'text' });
});
