import t from 'tap';
import type { PictureContent } from '../../../src/protocol/document.ts';
import { ShotMerger } from '../../../src/readers/picture/shots.ts';

t.test('nearly equal neighbours are one shot; too many shots are thinned evenly', async (t) => {
  const frame = (time_s: number, byte: number) =>
    ({ time_s, time_end_s: time_s, fingerprint: new Uint8Array(16).fill(byte) }) as unknown as PictureContent;
  const merger = new ShotMerger(4, 1);
  for (let second = 0; second < 10; second++) merger.push(frame(second, second < 5 ? 0 : 255));
  t.match(merger.finish(), [
    { time_s: 0, time_end_s: 5 },
    { time_s: 5, time_end_s: 10 },
  ]);
  for (let second = 0; second < 64; second++) merger.push(frame(second, second % 2 ? 0 : 255));
  const kept = merger.finish();
  t.equal(merger.dropped, 64 - kept.length);
  t.ok(kept.length <= 4 && kept[0]!.time_s === 0 && kept.at(-1)!.time_s! >= 32);
});
