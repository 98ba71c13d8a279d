import t from 'tap';
import { openSlotLogs } from '../../src/cluster/log/slot-logs.ts';
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
