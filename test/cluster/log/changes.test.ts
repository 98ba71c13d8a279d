import t from 'tap';
import { decodeChanges, encodeChanges } from '../../../src/cluster/log/changes.ts';

const CHANGES = [
  { table: 'payments', key: 'ключ/1', value: Buffer.from([0, 255, 1]) },
  { table: 'payments', key: '', value: undefined },
  { table: 't', key: 'x'.repeat(1978), value: Buffer.alloc(0) },
];

t.test('changes come back as they were', async (t) => {
  t.same(decodeChanges(encodeChanges(CHANGES)), CHANGES);
  t.same(decodeChanges(encodeChanges([])), []);
});

t.test('bytes that are cut off, or of another format, are refused', async (t) => {
  const bytes = encodeChanges(CHANGES);
  // Where a change ends, the rest may be missing: the hash of the entry tells.
  const ends = CHANGES.map((_, count) => encodeChanges(CHANGES.slice(0, count)).length);
  for (let length = 0; length < bytes.length; length += 7)
    if (!ends.includes(length)) t.throws(() => decodeChanges(bytes.subarray(0, length)), /a change ends/);
  t.throws(() => decodeChanges(Uint8Array.of(2)), /need a newer Farthing/);
});
