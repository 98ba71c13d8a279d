import t from 'tap';
import type { Block, PictureContent } from '../../../../src/protocol/document.ts';
import { cuttable, locate } from '../../../../src/server/ingest/segments/locate.ts';

const box = (y: number) => ({ x: 0.1, y, width: 0.5, height: 0.1 });
const document = { fileInfo: { kind: 'document', mediaType: 'x' }, pictures: [] } as const;
const passage = (text: string, page: number, char_start: number) => ({
  text,
  words: text,
  place: page,
  locator: { page, char_start, char_end: char_start + text.length },
});

t.test('a passage has the box of its own lines, and its source', async (t) => {
  const blocks: Block[] = [
    {
      text: 'one\ntwo',
      page: 1,
      marks: [
        { at: 0, box: box(0.1) },
        { at: 4, box: box(0.3) },
      ],
      source: 'ocr',
      confidence: 0.5,
    },
    { text: 'three', page: 1, marks: [{ at: 0, box: box(0.6) }], source: 'ocr', confidence: 1 },
    { text: 'native', page: 2 },
  ];
  const [two, rest, native] = locate(
    [passage('two', 1, 4), passage('two\n\nthree', 1, 4), passage('native', 2, 0)],
    blocks,
    document,
  );
  t.match(two, { locator: { page: 1, box: box(0.3) }, text_source: 'ocr', ocr_confidence: 0.5 });
  t.match(rest, { locator: { box: { y: 0.3, height: 0.4 } } });
  t.ok(rest!.ocr_confidence! > 0.5 && rest!.ocr_confidence! < 1);
  t.equal(native!.text_source, undefined);
  t.equal(native!.locator.box, undefined);
});

t.test('cues of media are cut apart after ten seconds, keep their time, and lie in their shot', async (t) => {
  const cues: Block[] = [0, 4, 8, 14].map((time_s) => ({
    text: `at ${time_s}`,
    time_s,
    time_end_s: time_s + 3,
    source: 'subtitle',
  }));
  const blocks = cuttable(cues);
  t.same(
    blocks.map(({ page }) => page),
    [1, 1, 2, 2],
  );
  const pictures = [0, 7].map((time_s) => ({ time_s }) as PictureContent);
  const found = locate([passage('at 0\n\nat 4', 1, 0), passage('at 14', 2, 6)], blocks, {
    ...document,
    pictures,
  });
  t.match(found[0], { locator: { time_s: 0, time_end_s: 7 }, place: 1, text_source: 'subtitle' });
  t.match(found[1], { locator: { time_s: 14, time_end_s: 17 }, place: 2 });
  t.equal(found[1]!.locator.page, undefined);
});

t.test('locations name slides, sheets and chapters as such', async (t) => {
  const [slide] = locate([passage('x', 3, 0)], [{ text: 'x', page: 3 }], {
    ...document,
    fileInfo: { ...document.fileInfo, pageKind: 'slide' },
  });
  t.match(slide, { locator: { page: 3, page_kind: 'slide' } });
});
