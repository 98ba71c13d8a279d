import t, { type Test } from 'tap';
import type { Position } from '../../src/cluster/log/chain.ts';
import { LogFollower } from '../../src/cluster/log/log-follower.ts';
import type { SlotLog } from '../../src/cluster/log/slot-log.ts';
import { openSlotLogs } from '../../src/cluster/log/slot-logs.ts';
import { behind } from '../../src/cluster/stores/kv.ts';
import { MemoryKv } from './memory-kv.ts';

const NODE = { cluster: 'c', node: 'n1', slots: 3, onLost: () => undefined };
const PREFIX = '/farthing/c/';
const bytes = (text: string) => Buffer.from(text);

/** A copy in memory. */
class WordsCopy {
  position: Position | undefined;
  words: string[] = [];
  cleared = 0;
  fails = false;

  async apply(entries: readonly Uint8Array[], position: Position | undefined): Promise<void> {
    if (this.fails) throw new Error('the disk is full');
    this.words.push(...entries.map((entry) => Buffer.from(entry).toString()));
    this.position = position;
  }

  async clear(): Promise<void> {
    this.cleared += 1;
    this.words = [];
    this.position = undefined;
  }
}

/** The logs of one owner, and who follows them by looks that a test asks for. */
async function followed(t: Test) {
  const kv = new MemoryKv();
  const logs = await openSlotLogs({ ...NODE, kv });
  for (const log of logs) for await (const _ of (await log.open(undefined)).entries);
  const reading = new MemoryKv(kv.engine);
  const events: Record<string, unknown>[] = [];
  let next = Promise.withResolvers<void>();
  let paused = Promise.withResolvers<void>();
  const follower = new LogFollower({
    kv: reading,
    prefix: PREFIX,
    log: (event) => void events.push(event as Record<string, unknown>),
    pause: () => {
      paused.resolve();
      return next.promise;
    },
  });
  const look = async () => {
    await paused.promise;
    paused = Promise.withResolvers();
    const { resolve } = next;
    next = Promise.withResolvers();
    resolve();
    await paused.promise;
  };
  t.teardown(async () => {
    const closed = follower.close();
    next.resolve();
    await closed;
  });
  const append = async (log: SlotLog, ...words: string[]) => {
    for (const word of words) log.append(bytes(word));
    await log.stable();
  };
  return { kv, reading, logs, follower, events, look, append };
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `entry ${from + index}`);

t.test('copies have what several logs have, whatever they had before', async (t) => {
  const { logs, follower, look, append, kv } = await followed(t);
  const copies = logs.map(() => new WordsCopy());
  await append(logs[0]!, ...numbers(1, 40));
  for (const [slot, copy] of copies.entries()) follower.add(slot, copy);
  await look();
  t.same(copies[0]!.words, numbers(1, 40));
  t.same(copies[0]!.position, logs[0]!.position);
  t.same([copies[1]!.words, follower.isBegun(1)], [[], true], 'an empty log is followed, too');
  await append(logs[0]!, 'entry 41');
  await append(logs[1]!, ...numbers(1, 30));
  const before = kv.commits;
  await look();
  t.same([copies[0]!.words.at(-1), copies[0]!.words.length], ['entry 41', 41]);
  t.same(copies[1]!.words, numbers(1, 30), 'more than a look brings');
  t.same(copies[2]!.words, []);
  t.equal(kv.commits, before, 'nothing was written');
  t.same(
    copies.map(({ cleared }) => cleared),
    [0, 0, 0],
  );
  t.ok(follower.lagMs < 60_000);
});

t.test('a log that is shortened in front of a copy has it begin again from the snapshot', async (t) => {
  const { logs, follower, look, append } = await followed(t);
  const [log] = logs;
  const copy = new WordsCopy();
  follower.add(0, copy);
  await append(log!, ...numbers(1, 3));
  await look();
  // All that is new is in the snapshot, and nothing behind it.
  await append(log!, ...numbers(4, 6));
  await log!.trim(log!.position, [bytes('up to 6')]);
  await look();
  t.same(copy.words, ['up to 6']);
  // A snapshot exactly at the copy's place changes nothing for it.
  await append(log!, 'entry 7');
  await look();
  await log!.trim(log!.position, [bytes('up to 7')]);
  await look();
  t.same([copy.words, copy.cleared], [['up to 6', 'entry 7'], 1]);
  // And one in front of entries that are there.
  await append(log!, 'entry 8');
  const { position } = log!;
  await append(log!, 'entry 9', 'entry 10');
  await log!.trim(position, [bytes('up to 8')]);
  await look();
  t.same(copy.words, ['up to 8', 'entry 9', 'entry 10']);
  t.same(copy.position, log!.position);
});

t.test('a copy is not whole that lacks what went into a snapshot while it was read', async (t) => {
  const { logs, follower, look, append, reading } = await followed(t);
  const [log] = logs;
  await append(log!, ...numbers(1, 3));
  await log!.trim(log!.position, [bytes('up to 3')]);
  await append(log!, 'entry 4');
  const copy = new WordsCopy();
  const range = reading.range.bind(reading);
  reading.range = async (from, to, limit) => {
    // Between the part of the snapshot and the entries behind it.
    if (from.startsWith(`${PREFIX}log/0/`)) {
      reading.range = range;
      await log!.trim(log!.position, [bytes('up to 4')]);
    }
    return range(from, to, limit);
  };
  follower.add(0, copy);
  await look();
  t.same([copy.position, follower.isBegun(0)], [undefined, false]);
  await look();
  t.same([copy.words, copy.position], [['up to 4'], log!.position]);
});

t.test('an entry that is damaged is applied nowhere, and told once', async (t) => {
  const { kv, logs, follower, look, append, events } = await followed(t);
  const copy = new WordsCopy();
  follower.add(0, copy);
  await append(logs[0]!, 'entry 1');
  await look();
  await append(logs[0]!, 'entry 2');
  const entries = `${PREFIX}log/0/`;
  const { key, value } = (await kv.range(entries, behind(entries))).at(-1)!;
  const damaged = Buffer.from(value);
  damaged[damaged.length - 1]! ^= 1;
  await kv.commit({ when: [], puts: [{ key, value: damaged }] });
  for (let turn = 0; turn < 4; turn++) await look();
  t.same(copy.words, numbers(1, 1));
  t.same(
    events.map(({ event }) => event),
    ['log_not_followed'],
  );
  await kv.commit({ when: [], puts: [{ key, value }] });
  await look();
  t.same(copy.words, numbers(1, 2));
});
