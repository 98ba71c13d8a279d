import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chapterBlocks, chaptersOf } from '../../../src/readers/media/chapters.ts';

const EXPECTED = [
  { time_s: 0, title: 'Setting out' },
  { time_s: 90.5, title: 'The café at the pier' },
];
const folder = t.testdir({});
let made = 0;

function file(bytes: Buffer): string {
  const path = join(folder, `${made++}`);
  writeFileSync(path, bytes);
  return path;
}

const walk = (kind: string): Buffer => readFileSync(join(import.meta.dirname, 'chapters', `walk.${kind}`));
const FILES = [
  [walk('mp4'), 'video/mp4'],
  [walk('mkv'), 'video/matroska'],
  [walk('mp3'), 'audio/mpeg'],
] as const;

const ignored = () => undefined;

t.test('chapters of MP4, Matroska, MP3 and Ogg are read with their times', async (t) => {
  for (const [bytes, type] of FILES) t.same(chaptersOf(file(bytes), type, {}, ignored), EXPECTED);
  const tags = {
    chapter002: '00:01:30.500',
    CHAPTER002NAME: 'The café at the pier',
    CHAPTER001: '00:00:00.000',
    CHAPTER001NAME: 'Setting out',
    CHAPTER003: 'later',
    TITLE: 'A walk',
  };
  t.same(chaptersOf(file(Buffer.alloc(9)), 'audio/ogg', tags, ignored), EXPECTED);
});

t.test('a chapter is text that lasts until the next one', async (t) => {
  t.same(chapterBlocks(EXPECTED, 200), [
    { text: 'Chapter: Setting out', time_s: 0, time_end_s: 90.5 },
    { text: 'Chapter: The café at the pier', time_s: 90.5, time_end_s: 200 },
  ]);
});

t.test('chapters that are damaged or cut off give none, and no error', async (t) => {
  for (const [whole, type] of FILES) {
    for (let length = 0; length < whole.length; length += 3)
      t.ok(chaptersOf(file(whole.subarray(0, length)), type, {}, ignored).length <= 2);
    for (let at = 0; at < whole.length; at += 5) {
      const changed = Buffer.from(whole);
      changed[at] = 0xff;
      t.ok(chaptersOf(file(changed), type, {}, ignored).length <= 3);
    }
  }
});
