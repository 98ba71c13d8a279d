import t, { type Test } from 'tap';
import { ORIGIN } from '../../src/cluster/log/chain.ts';
import type { SlotLog } from '../../src/cluster/log/slot-log.ts';
import { openSlotLogs } from '../../src/cluster/log/slot-logs.ts';
import { behind, type Kv } from '../../src/cluster/stores/kv.ts';

const FENCED = { message: /belongs to another process/ };
let clusters = 0;
const bytes = (text: string) => Buffer.from(text);
const NODE = { node: 'n1', slots: 2, onLost: () => undefined };

async function contentsOf(log: SlotLog, copy = undefined as Parameters<SlotLog['open']>[0]) {
  const { kept, entries } = await log.open(copy);
  const found: string[] = [];
  for await (const entry of entries) found.push(Buffer.from(entry).toString());
  return { kept, found };
}

/** Changes one bit of a row, by default the last. */
async function flip(kv: Kv, key: string, bit?: number): Promise<void> {
  const [row] = await kv.range(key, `${key}\0`);
  const value = Buffer.from(row!.value);
  const at = bit ?? 8 * value.length - 1;
  value[at >> 3]! ^= 1 << (at & 7);
  await kv.commit({ when: [], puts: [{ key, value }] });
}

/** Contract of every engine for the slots' logs. @param open a client of the same engine */
export function slotLogContract(name: string, open: (t: Test) => Kv): void {
  const cluster = () => {
    clusters += 1;
    return `contract-${process.pid}-${clusters}`;
  };

  t.test(`${name}: entries are read again in order, by a copy from its place on`, async (t) => {
    const options = { ...NODE, kv: open(t), cluster: cluster() };
    const [log, other] = await openSlotLogs(options);
    await contentsOf(log!);
    await contentsOf(other!);
    const places = [];
    for (let number = 1; number <= 300; number++) places.push(log!.append(bytes(`entry ${number}`)));
    await other!.append(bytes('of the other slot')).safe;
    await log!.stable();
    const all = Array.from({ length: 300 }, (_, index) => `entry ${index + 1}`);

    const [again, otherAgain] = await openSlotLogs(options);
    t.same(await contentsOf(again!), { kept: false, found: all });
    t.same(again!.position, places.at(-1)!.position);
    t.same((await contentsOf(otherAgain!)).found, ['of the other slot']);
    const { position } = places[99]!;
    t.same(await contentsOf(again!, position), { kept: true, found: all.slice(100) });
    const forked = { ...position, hash: ORIGIN.hash };
    t.same((await contentsOf(again!, forked)).kept, false, 'a copy that is not of this log is made anew');
    const ahead = { ...position, number: 301 };
    t.same((await contentsOf(again!, ahead)).kept, false, 'and one that is ahead of it');
  });

  t.test(`${name}: a process whose slots were claimed again writes nothing more`, async (t) => {
    const lost: unknown[] = [];
    const options = { ...NODE, kv: open(t), cluster: cluster() };
    const [former] = await openSlotLogs({ ...options, onLost: (slot) => lost.push(slot) });
    await contentsOf(former!);
    await former!.append(bytes('before')).safe;
    const [later] = await openSlotLogs({ ...options, kv: open(t) });
    t.same((await contentsOf(later!)).found, ['before']);
    const { safe } = former!.append(bytes('of a fenced process'));
    await t.rejects(safe, FENCED);
    await t.rejects(former!.stable(), FENCED);
    t.throws(() => former!.append(bytes('still fenced')), FENCED);
    t.same(lost, [0]);
    await t.rejects(former!.trim(former!.position, [bytes('snapshot')]), FENCED);
    await later!.append(bytes('after')).safe;
    const [last] = await openSlotLogs(options);
    t.same((await contentsOf(last!)).found, ['before', 'after']);
  });

  t.test(`${name}: one fenced slot holds up no other`, async (t) => {
    const kv = open(t);
    const options = { ...NODE, kv, cluster: cluster() };
    const [first, second] = await openSlotLogs(options);
    const key = `/farthing/${options.cluster}/owner/0`;
    const [owner] = await kv.range(key, `${key}\0`);
    await kv.commit({ when: [{ key, revision: owner!.revision }], puts: [{ key, value: owner!.value }] });
    const [fenced, written] = [first!.append(bytes('a')), second!.append(bytes('b'))];
    await t.rejects(fenced.safe, FENCED);
    await written.safe;
    await second!.append(bytes('c')).safe;
  });

  t.test(`${name}: slots of another node, or of another number, are refused`, async (t) => {
    const options = { ...NODE, kv: open(t), cluster: cluster() };
    await openSlotLogs(options);
    await t.rejects(openSlotLogs({ ...options, node: 'n2' }), /belongs to the node "n1"/);
    await t.rejects(openSlotLogs({ ...options, slots: 3 }), /has 2 slots, not 3/);
  });

  t.test(`${name}: a snapshot stands for the entries before it, which are gone`, async (t) => {
    const kv = open(t);
    const options = { ...NODE, kv, cluster: cluster() };
    const [log] = await openSlotLogs(options);
    await contentsOf(log!);
    t.equal(log!.snapshotIsDue, false);
    await log!.append(bytes('one')).safe;
    const { position } = log!.append(Buffer.alloc(1_000_000, 'x'));
    const copy = log!.append(Buffer.alloc(100_000, 'y')).position;
    await log!.stable();
    t.equal(log!.snapshotIsDue, true);
    await log!.trim(position, [bytes('part 1'), bytes('part 2')]);
    t.equal(log!.snapshotIsDue, false);
    await log!.append(bytes('last')).safe;
    const entries = `/farthing/${options.cluster}/log/0/`;
    t.equal((await kv.range(entries, behind(entries))).length, 2);

    const [again] = await openSlotLogs(options);
    const { found } = await contentsOf(again!);
    t.same(
      found.map((entry) => entry.slice(0, 6)),
      ['part 1', 'part 2', 'yyyyyy', 'last'],
    );
    t.equal((await contentsOf(again!, copy)).kept, true);
    t.equal((await contentsOf(again!, position)).kept, true, 'a copy at the snapshot');
    const older = { number: 1, hash: position.hash };
    t.equal((await contentsOf(again!, older)).kept, false, 'one from before is made anew');
    await contentsOf(again!);
    await again!.trim(again!.position, [bytes('part 3')]);
    const parts = `/farthing/${options.cluster}/part/0/`;
    t.equal((await kv.range(parts, behind(parts))).length, 1, 'parts of the former snapshot are gone');
  });

  t.test(`${name}: what is damaged or missing is named, and nothing of it is guessed`, async (t) => {
    const kv = open(t);
    const damages: [string, (keys: string[]) => Promise<unknown>, RegExp][] = [
      [
        'a changed entry',
        async ([, second]) => kv.commit({ when: [], puts: [{ key: second!, value: bytes('x'.repeat(40)) }] }),
        /log\/0\/0+2 is not what was written/,
      ],
      [
        'an entry of another place',
        async ([first, , third]) => {
          const [row] = await kv.range(third!, `${third}\0`);
          await kv.commit({ when: [], puts: [{ key: first!, value: row!.value }] });
        },
        /log\/0\/0+1 does not follow entry 0/,
      ],
      [
        'a bit of the last entry, which none follows',
        async (keys) => flip(kv, keys.at(-1)!),
        /log\/0\/0+3 is not what was written/,
      ],
      [
        'a missing entry',
        async ([, second]) => kv.commit({ when: [], deletes: [{ from: second!, to: `${second}\0` }] }),
        /entry 2 is missing before .*log\/0\/0+3/,
      ],
    ];
    for (const [what, damage, message] of damages) {
      const options = { ...NODE, kv, cluster: cluster() };
      const [log] = await openSlotLogs(options);
      await contentsOf(log!);
      for (const entry of ['one', 'two', 'three']) await log!.append(bytes(entry)).safe;
      const prefix = `/farthing/${options.cluster}/log/0/`;
      await damage((await kv.range(prefix, behind(prefix))).map(({ key }) => key));
      await t.rejects(contentsOf(log!), { message }, what);
    }
    const options = { ...NODE, kv, cluster: cluster() };
    const [log] = await openSlotLogs(options);
    await contentsOf(log!);
    await log!.append(bytes('one')).safe;
    await log!.trim(log!.position, [bytes('part')]);
    const key = `/farthing/${options.cluster}/part/0/${'1'.padStart(16, '0')}/${'0'.repeat(16)}`;
    await flip(kv, key);
    await t.rejects(contentsOf(log!), /part\/0\/.* is not the part of its snapshot/);
    await flip(kv, key);
    t.same((await contentsOf(log!)).found, ['part']);
    for (const bit of [0, 300, 600]) {
      await flip(kv, `/farthing/${options.cluster}/snap/0`, bit);
      await t.rejects(contentsOf(log!), /snap\/0 is not what was written|snap\/0 does not follow/);
      await flip(kv, `/farthing/${options.cluster}/snap/0`, bit);
    }
  });
}
