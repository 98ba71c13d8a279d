import { join } from 'node:path';
import t, { type Test } from 'tap';
import { applyEntries, recordedStore } from '../../../src/cluster/log/recorded-store.ts';
import type { SlotLog } from '../../../src/cluster/log/slot-log.ts';
import { openSlotLogs } from '../../../src/cluster/log/slot-logs.ts';
import { openStore, type RawStore } from '../../../src/server/state/store.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { storeContract } from '../../server/state/store-contract.ts';
import { MemoryKv } from '../memory-kv.ts';

const NODE = { cluster: 'test', node: 'n1', slots: 1, onLost: () => undefined };

async function openLog(kv = new MemoryKv()): Promise<SlotLog> {
  const [log] = await openSlotLogs({ ...NODE, kv });
  await log!.open(undefined);
  return log!;
}

function openCopy(t: Test): RawStore {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  return store;
}

/** A store that another disk rebuilds from the log. */
async function madeAgain(t: Test, kv: MemoryKv): Promise<RawStore> {
  const [log] = await openSlotLogs({ ...NODE, kv });
  const { entries } = await log!.open(undefined);
  const all: Uint8Array[] = [];
  for await (const entry of entries) all.push(entry);
  const store = openCopy(t);
  await applyEntries(store, all, log!.position);
  return store;
}

/** Every row of every table, byte by byte. */
function rowsOf(store: RawStore): Record<string, string> {
  return Object.fromEntries(
    store
      .names()
      .flatMap((name) =>
        Array.from(store.raw(name).keys(), (key) => [
          `${name}/${key}`,
          Buffer.from(store.raw(name).get(key)!).toString('hex'),
        ]),
      ),
  );
}

storeContract('recorded', async (t) => recordedStore(openCopy(t), await openLog()));

t.test('what is made again from the log is the same, byte by byte', async (t) => {
  const kv = new MemoryKv();
  const inner = openCopy(t);
  const store = recordedStore(inner, await openLog(kv));
  const [numbers, things] = [store.table<number>('numbers'), store.table<object>('things')];
  const writes: Promise<unknown>[] = [];
  for (let number = 0; number < 100; number++) {
    writes.push(numbers.put(String(number % 30), number));
    writes.push(
      store.transaction(() => {
        void things.put(String(number), { number: BigInt(number), none: undefined, list: [null, 'x'] });
        if (number % 3 === 0) void things.remove(String(number - 1));
        void numbers.put('sum', (numbers.get('sum') ?? 0) + number);
      }),
    );
    if (number % 10 === 9)
      writes.push(
        store
          .transaction(() => {
            void numbers.put('never', 1);
            throw new Error('taken back');
          })
          .catch(() => undefined),
      );
    if (number % 7 === 0) writes.push(numbers.remove(String(number % 30)));
  }
  await Promise.all(writes);
  t.equal(numbers.get('sum'), 4950);
  t.same(rowsOf(await madeAgain(t, kv)), rowsOf(inner));
});

t.test('a promise resolves only once the log has the transaction, which is read before', async (t) => {
  const kv = new MemoryKv();
  const log = await openLog(kv);
  const store = recordedStore(openCopy(t), log);
  let away = true;
  kv.fate = () => (away ? 'never done' : 'answered');
  const table = store.table<number>('numbers');
  let resolved = 0;
  const written = store.transaction(() => void table.put('a', 1)).then(() => (resolved += 1));
  const stable = store.stable().then(() => (resolved += 1));
  while (table.get('a') === undefined) await new Promise(setImmediate);
  t.equal(resolved, 0, 'neither the write nor what depends on it is told');
  away = false;
  await Promise.all([written, stable]);
  t.same((await madeAgain(t, kv)).table('numbers').get('a'), 1);
});
