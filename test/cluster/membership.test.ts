import t from 'tap';
import { Membership } from '../../src/cluster/members/membership.ts';
import { AnswerLostError, type Kv } from '../../src/cluster/stores/kv.ts';
import { MemoryKv } from './memory-kv.ts';

t.test('what a server said of itself does not come back when it arrives late', async (t) => {
  const engine = new MemoryKv();
  const kv: Kv = Object.create(engine);
  const late: (() => Promise<unknown>)[] = [];
  kv.commit = (transaction) => {
    if (late.length > 0) return engine.commit(transaction);
    late.push(() => engine.commit(transaction));
    return Promise.reject(new AnswerLostError('no answer'));
  };
  kv.range = (...words) => engine.range(...words);
  kv.ranges = (ranges) => engine.ranges(ranges);
  const joining = {
    kv,
    cluster: 'c',
    node: 'n1',
    lease: { id: 'l1' },
    log: () => undefined,
    row: { url: 'http://n1', version: '1', weight: 1, since: '', ready: false },
    lookMs: 1,
  };
  await t.rejects(Membership.join(joining), { message: 'no answer' });
  const membership = await Membership.join(joining);
  t.teardown(() => membership.close());
  await membership.setReady(true);
  for (const arrive of late) await arrive();
  await membership.looked;
  await membership.looked;
  t.equal(membership.view.nodes.get('n1')!.ready, true);
});
