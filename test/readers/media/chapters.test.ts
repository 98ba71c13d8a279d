import { writeFileSync } from 'node:fs';
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

function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

function mp4(): Buffer {
  const list = EXPECTED.map(({ time_s, title }) => {
    const head = Buffer.alloc(9);
    head.writeBigUInt64BE(BigInt(Math.round(time_s * 1e7) + 3_333), 0);
    head.writeUInt8(Buffer.byteLength(title), 8);
    return Buffer.concat([head, Buffer.from(title)]);
  });
  const chpl = box('chpl', Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, EXPECTED.length]), ...list);
  return Buffer.concat([
    box('ftyp', Buffer.from('isom')),
    box('mdat', Buffer.alloc(100)),
    box('moov', box('trak'), box('udta', chpl)),
  ]);
}

function element(id: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const name = Buffer.from(id.toString(16).padStart(id > 0xffff ? 8 : id > 0xff ? 4 : 2, '0'), 'hex');
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x10000000 | body.length);
  return Buffer.concat([name, size, body]);
}

function matroska(): Buffer {
  const atoms = EXPECTED.map(({ time_s, title }) => {
    const start = Buffer.alloc(8);
    start.writeBigUInt64BE(BigInt(Math.round(time_s * 1e9) + 333_333));
    return element(0xb6, element(0x91, start), element(0x80, element(0x85, Buffer.from(title))));
  });
  const chapters = element(0x1043a770, element(0x45b9, ...atoms));
  return Buffer.concat([
    element(0x1a45dfa3, Buffer.from('x')),
    element(0x18538067, element(0x1549a966, Buffer.alloc(20)), chapters),
  ]);
}

function mp3(): Buffer {
  const frame = (id: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(10);
    head.write(id, 0, 'latin1');
    head.writeUInt32BE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  const frames = EXPECTED.map(({ time_s, title }, index) => {
    const times = Buffer.alloc(16);
    times.writeUInt32BE(Math.round(time_s * 1000), 0);
    const words = frame('TIT2', Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(title, 'utf16le')]));
    return frame('CHAP', Buffer.concat([Buffer.from(`ch${index}\0`), times, words]));
  });
  const body = Buffer.concat([...frames, Buffer.alloc(64)]);
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, (body.length >> 7) & 0x7f, body.length & 0x7f]);
  return Buffer.concat([head, body]);
}

const ignored = () => undefined;

t.test('chapters of MP4, Matroska, MP3 and Ogg are read with their times', async (t) => {
  t.same(chaptersOf(file(mp4()), 'video/mp4', {}, ignored), EXPECTED);
  t.same(chaptersOf(file(matroska()), 'video/matroska', {}, ignored), EXPECTED);
  t.same(chaptersOf(file(mp3()), 'audio/mpeg', {}, ignored), EXPECTED);
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
  for (const [whole, type] of [
    [mp4(), 'video/mp4'],
    [matroska(), 'video/matroska'],
    [mp3(), 'audio/mpeg'],
  ] as const) {
    for (let length = 0; length < whole.length; length += 3)
      t.ok(chaptersOf(file(whole.subarray(0, length)), type, {}, ignored).length <= 2);
    for (let at = 0; at < whole.length; at += 5) {
      const changed = Buffer.from(whole);
      changed[at] = 0xff;
      t.ok(chaptersOf(file(changed), type, {}, ignored).length <= 3);
    }
  }
});
