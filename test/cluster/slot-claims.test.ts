import t from 'tap';
import { OwnedError, releaseClaim, releaseStray, tryToClaim } from '../../src/cluster/members/slot-claims.ts';
import { MemoryEngine, MemoryKv } from './memory-kv.ts';

const PREFIX = '/farthing/c/';

function claiming(engine: MemoryEngine, node: string) {
  const kv = new MemoryKv(engine);
  return { kv, prefix: PREFIX, node, lease: async () => ({ id: 'l1' }) };
}

t.test('a claim whose answer was lost is given back, and another node may have the slot', async (t) => {
  const engine = new MemoryEngine();
  const [one, other] = [claiming(engine, 'n1'), claiming(engine, 'n2')];
  one.kv.fate = () => (one.kv.commits > 0 ? 'done unheard' : 'answered');
  await t.rejects(tryToClaim(one, [0]), { message: 'lost after' });
  await t.rejects(tryToClaim(other, [0]), new OwnedError(`${PREFIX}owner/0`, 'n1'));
  one.kv.fate = () => 'answered';
  await releaseStray(one, 0);
  t.ok((await tryToClaim(other, [0]))?.get(0));
});

t.test('nothing of another node, and nothing that is free, is given back', async (t) => {
  const engine = new MemoryEngine();
  const [one, other] = [claiming(engine, 'n1'), claiming(engine, 'n2')];
  await releaseStray(one, 0);
  const claim = (await tryToClaim(other, [0]))!.get(0)!;
  await releaseStray(one, 0);
  t.equal(engine.rows.get(claim.fence.key)?.revision, claim.fence.revision);
  await releaseClaim(other.kv, claim);
  t.notOk(engine.rows.has(claim.fence.key));
});
