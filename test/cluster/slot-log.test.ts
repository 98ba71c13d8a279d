import t from 'tap';
import { openSlotLogs } from '../../src/cluster/log/slot-logs.ts';
import { AnswerLostError } from '../../src/cluster/stores/kv.ts';
import { Random } from '../rig/random.ts';
import { MemoryEngine, MemoryKv } from './memory-kv.ts';
import { slotLogContract } from './slot-log-contract.ts';

const engine = new MemoryEngine();
slotLogContract('in memory', () => new MemoryKv(engine));

const NODE = { cluster: 'test', node: 'n1', slots: 40, onLost: () => undefined };

t.test('lost answers lose and double nothing, whatever became of the questions', async (t) => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = new Random(seed);
    const kv = new MemoryKv();
    const logs = await openSlotLogs({ ...NODE, slots: 3, kv });
    kv.fate = () => (random.hits(0.3) ? random.pick(['never done', 'done unheard'] as const) : 'answered');
    const safe = Array.from(
      { length: 20 },
      (_, index) => logs[index % 3]!.append(Buffer.from(`${index}`)).safe,
    );
    await Promise.all(safe);
    kv.fate = () => 'answered';
    for (const [slot, log] of (await openSlotLogs({ ...NODE, slots: 3, kv })).entries()) {
      const { entries } = await log.open(undefined);
      const found: number[] = [];
      for await (const entry of entries) found.push(Number(Buffer.from(entry)));
      t.same(
        found,
        Array.from({ length: 20 }, (_, index) => index).filter((index) => index % 3 === slot),
        `seed ${seed}, slot ${slot}`,
      );
    }
  }
});

t.test('an engine whose answers are lost is read to the end', async (t) => {
  const kv = new MemoryKv();
  const [written] = await openSlotLogs({ ...NODE, slots: 1, kv });
  await written!.append(Buffer.alloc(10)).safe;
  await written!.trim(written!.position, [Buffer.from('snapshot')]);
  const { position } = written!.append(Buffer.from('entry'));
  await written!.stable();
  for (let seed = 1; seed <= 10; seed++) {
    const random = new Random(seed);
    const events: object[] = [];
    const [log] = await openSlotLogs({ ...NODE, slots: 1, kv, log: (event) => events.push(event) });
    kv.fate = () => (random.hits(0.5) ? 'never done' : 'answered');
    const found: string[] = [];
    const { entries } = await log!.open(undefined);
    for await (const entry of entries) found.push(Buffer.from(entry).toString());
    t.same(found, ['snapshot', 'entry']);
    t.ok((await log!.open(position)).kept);
    kv.fate = () => 'answered';
    for (const event of events) t.match(event, { event: 'log_answer_lost' });
  }
});

t.test('the parts of a snapshot stay as they are while another of the same place fails', async (t) => {
  const kv = new MemoryKv();
  const [log] = await openSlotLogs({ ...NODE, slots: 1, kv });
  await log!.append(Buffer.alloc(10)).safe;
  await log!.trim(log!.position, [Buffer.from('snapshot')]);
  const [next] = await openSlotLogs({ ...NODE, slots: 1, kv });
  await (await next!.open(undefined)).entries.next();
  const commit = kv.commit.bind(kv);
  kv.commit = (transaction) => {
    const isPart = transaction.puts?.[0]?.key.includes('/part/');
    return isPart ? commit(transaction) : Promise.reject(new AnswerLostError('no answer'));
  };
  // The same rows in another order, as another release may write them.
  await next!.trim(log!.position, [Buffer.from('tohspans')]).catch(() => undefined);
  kv.commit = commit;
  const [reader] = await openSlotLogs({ ...NODE, slots: 1, kv });
  const found: string[] = [];
  for await (const entry of (await reader!.open(undefined)).entries)
    found.push(Buffer.from(entry).toString());
  t.same(found, ['snapshot']);
});

t.test('a claim whose answer was lost, and that arrives late, is claimed over', async (t) => {
  const kv = new MemoryKv();
  await openSlotLogs({ ...NODE, slots: 2, kv });
  const commit = kv.commit.bind(kv);
  let late: (() => Promise<unknown>) | undefined;
  let claims = 0;
  kv.commit = async (transaction) => {
    if (!transaction.puts?.[0]?.key.includes('/owner/')) return commit(transaction);
    claims += 1;
    if (claims === 1) {
      late = () => commit(transaction);
      throw new AnswerLostError('lost on its way');
    }
    // The owners have been read.
    await late?.();
    late = undefined;
    return commit(transaction);
  };
  const [log] = await openSlotLogs({ ...NODE, slots: 2, kv });
  t.equal(claims, 3);
  await log!.append(Buffer.from('of the owner')).safe;
});
