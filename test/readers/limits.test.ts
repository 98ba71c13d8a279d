import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addNotRead, type NotRead } from '../../src/protocol/file/not-read.ts';
import { chaptersOf } from '../../src/readers/media/chapters.ts';
import { tagBlock } from '../../src/readers/media/tags.ts';
import type { TextModels } from '../../src/readers/ocr/text-models.ts';
import { TextPageReader } from '../../src/readers/ocr/text-page.ts';
import { captionOf } from '../../src/readers/picture/caption.ts';
import type { Sink } from '../../src/readers/reading/sink.ts';

const words = (count: number, last: string): string => `${'word '.repeat(count)}${last}`;

const cut = (what: NotRead['what'], count?: number): readonly NotRead[] => [
  { what, ...(count !== undefined && { count }), why: 'limit' },
];

/** What a reader reports. */
function reports(): { report: Sink['notRead']; all: () => readonly NotRead[] } {
  let all: readonly NotRead[] = [];
  return {
    report: (what, why, count) => {
      all = addNotRead(all, { what, ...(count !== undefined && { count }), why });
    },
    all: () => all,
  };
}

t.test('chapters beyond 1,000, and parts of a film before its chapters, are told', async (t) => {
  const path = join(t.testdir(), 'film');
  const tags = Object.fromEntries(
    Array.from({ length: 1_001 }, (_, at) => [
      [`CHAPTER${at}`, `${String(at >> 6).padStart(2, '0')}:${String(at & 63).padStart(2, '0')}:00`],
      [`CHAPTER${at}NAME`, at === 7 ? words(70, 'end') : 'Pier'],
    ]).flat(),
  );
  writeFileSync(path, '');
  const many = reports();
  t.equal(chaptersOf(path, 'audio/ogg', tags, many.report).length, 1_000);
  t.same(many.all(), cut('text', 2), 'a chapter, and the end of a title');
  // Matroska's Segment of unknown size, with elements that are empty.
  const segment = Buffer.from([0x18, 0x53, 0x80, 0x67, 0xff]);
  writeFileSync(path, Buffer.concat([segment, Buffer.alloc(2 * 100_001, Buffer.from([0xec, 0x80]))]));
  const far = reports();
  t.same(chaptersOf(path, 'video/matroska', {}, far.report), []);
  t.same(far.all(), cut('text'));
});

t.test('a chapter of an MP3 behind a cover of 17 MiB is read', async (t) => {
  const frame = (id: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(10);
    head.write(id, 0, 'latin1');
    head.writeUInt32BE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  const title = frame('TIT2', Buffer.from('\x03Pier'));
  const chapter = frame('CHAP', Buffer.concat([Buffer.from('a\0'), Buffer.alloc(16), title]));
  const body = Buffer.concat([frame('APIC', Buffer.alloc(17 * 2 ** 20)), chapter]);
  const sizes = [21, 14, 7, 0].map((shift) => (body.length >> shift) & 0x7f);
  const path = join(t.testdir(), 'song.mp3');
  writeFileSync(path, Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...sizes]), body]));
  const { report, all } = reports();
  t.match(chaptersOf(path, 'audio/mpeg', {}, report), [{ title: 'Pier' }]);
  t.same(all(), []);
});

t.test('tags beyond 20,000 characters and captions beyond 5,000 are told', async (t) => {
  const tags = reports();
  const block = tagBlock({ comment: words(5_000, 'end'), lyrics: words(4_000, 'end') }, tags.report);
  t.ok(block!.text.length < 41_000);
  t.same(tags.all(), cut('text', 2));
  const caption = reports();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><desc>${words(1_001, 'end')}</desc></svg>`;
  await captionOf(Buffer.from(svg), 'image/svg+xml', caption.report);
  t.same(caption.all(), cut('text', 1));
});

t.test('lines of a page beyond 1,500 are told', async (t) => {
  let read = 0;
  const region = { x: 4, y: 4, width: 8, height: 4, angle: 0, thickness: 2, middles: [] };
  const models = {
    regions: async () => Array.from({ length: 1_502 }, () => region),
    line: async () => {
      read++;
      return { text: 'pier', confidence: 1 };
    },
  } as unknown as TextModels;
  const { report, all } = reports();
  await new TextPageReader(models).read({ grey: new Uint8Array(64), width: 8, height: 8 }, report);
  t.ok(read >= 1_500 && read < 1_520);
  t.same(all(), cut('text', 2));
});
