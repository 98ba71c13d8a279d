import t from 'tap';
import { hitLines, hitList } from '../../src/cli/search/hits.ts';
import { place } from '../../src/cli/search/place.ts';
import { durationText, timeText } from '../../src/cli/terminal/figures.ts';
import { progressBar } from '../../src/cli/terminal/progress.ts';
import { aligned } from '../../src/cli/terminal/table.ts';
import { clean, clip, clipName, MARK, widthOf, wrap, wrapWords } from '../../src/cli/wording/text.ts';
import type { Hit } from '../../src/client/index.ts';
import { bytesText, clockText } from '../../src/protocol/figures.ts';

const SNIPPET = 'Bees dance to tell each other where the food is, and how far it is from their hive.';
const START = SNIPPET.indexOf('dance');
/** What is shown of a hit. */
function hitOf(shown: Partial<Hit> & { name?: string }): Hit {
  const { name = 'almanac.pdf', ...rest } = shown;
  return {
    item: { name },
    confidence: 0.9,
    locator: { page: 12 },
    snippet: SNIPPET,
    highlights: [[START, START + 5]],
    ...rest,
  } as unknown as Hit;
}

t.test('a hit begins with file and page, says how likely it is, and marks the words', async (t) => {
  const wide = hitList([hitOf({})], { columns: 120, colours: false });
  t.match(wide, /^1 {2}almanac\.pdf {2}p\. 12 +▰▰▰▰▰ very likely\n {3}Bees dance .*\n$/);
  const narrow = hitList([hitOf({})], { columns: 60, colours: false });
  t.match(narrow, /^1 {2}almanac\.pdf {2}p\. 12\n {3}▰▰▰▰▰ very likely\n {3}Bees/);
  const coloured = hitList([hitOf({})], { columns: 60, colours: true });
  t.ok(coloured.includes('\u001b[1;33mdance\u001b[22;39m'));
  const shown = (hit: Partial<Hit>) => hitList([hitOf(hit)], { columns: 80, colours: false });
  t.match(shown({ confidence: 0.04 }), /▱▱▱▱▱ unlikely/);
  t.match(shown({ confidence: 0.04, likeness: 0.3 }), /▱▱▱▱▱ unlikely/);
  t.match(shown({ confidence: 0.04, likeness: 0.67 }), /▰▰▰▱▱ alike/);
});

t.test('a film names its other moments, in order of time', async (t) => {
  const moments = [600, 20, 61, 3_700, 90, 5, 7].map((time_s) => ({ time_s, confidence: 0.5 }));
  const text = hitList([hitOf({ locator: { time_s: 30 }, moments })], { columns: 80, colours: false });
  t.match(text, /almanac\.pdf {2}0:30 .*\n {3}also at 0:20, 1:01, 1:30, 10:00, 1:01:40 and 2 more\n/);
});

t.test('no line is wider than the terminal, and nothing of a file moves the cursor', async (t) => {
  const odd = [
    hitOf({
      name: `\u001b[2J${'長'.repeat(90)}.pdf`,
      snippet: `\u001b]0;title\u0007${'x'.repeat(500)}`,
      highlights: [[0, 400]],
    }),
    hitOf({ name: 'e\u0301'.repeat(90), locator: { heading: 'h'.repeat(300) } }),
    hitOf({ snippet: `${MARK.start}not a mark`, highlights: [[2, 5]] }),
  ];
  for (const columns of [30, 40, 60, 80, 120, 300]) {
    const lines = hitList(odd, { columns, colours: false }).split('\n');
    for (const line of lines) t.ok(widthOf(line) <= columns, `${columns}: ${line}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
    t.notMatch(lines.join(''), /[\u0000-\u001f\ue000\ue001]/);
  }
});

t.test('for programs a hit is one line, its columns apart by tabs', async (t) => {
  t.equal(
    hitLines([hitOf({ snippet: 'two\n lines\tand a tab' }), hitOf({ locator: {}, snippet: undefined })]),
    'almanac.pdf\tp. 12\t0.90\ttwo lines and a tab\nalmanac.pdf\t\t0.90\t\n',
  );
});

t.test('a place is a page, a time or a heading', async (t) => {
  t.equal(place({ page: 3 }), 'p. 3');
  t.equal(place({ page: 3, page_kind: 'slide' }), 'slide 3');
  t.equal(place({ time_s: 61.7 }), '1:01');
  t.equal(clockText(3_723), '1:02:03');
  t.equal(place({ heading: 'Bees' }), '“Bees”');
  t.equal(place({}), '');
});

t.test('text is measured in columns, cut and wrapped', async (t) => {
  t.equal(widthOf('größe'), 5);
  t.equal(widthOf('長い'), 4);
  t.equal(clip('abcdef', 4), 'abc…');
  t.equal(clipName('a-very-long-name-of-a-file.pdf', 15), 'a-very-lo…e.pdf');
  t.same(wrap('one two three', 7), ['one two', 'three']);
  t.same(wrap('one two three four', 7, 2), ['one two', 'three …']);
  t.same(wrap('abcdefgh', 3), ['abc', 'def', 'gh']);
  t.same(wrapWords('in /a/long/path.', 6), ['in', '/a/long/path.'], 'so that it can be copied');
  t.equal(clean(' a\n\tb\u001b[1m '), 'a b[1m');
  t.equal(
    aligned([
      ['a', 'bb', 'c'],
      ['aaa', 'b', 'c'],
    ]),
    'a    bb  c\naaa  b   c',
  );
});

t.test('figures are those that people read', async (t) => {
  t.same([0, 999, 1_000, 12_345, 1_250_000_000].map(bytesText), [
    '0 bytes',
    '999 bytes',
    '1.0 kB',
    '12 kB',
    '1.3 GB',
  ]);
  t.same([1, 59, 899, 7_260, 200_000].map(durationText), [
    '1 second',
    '59 seconds',
    '14 minutes',
    '2 hours 1 minute',
    '2 days',
  ]);
  t.equal(timeText('2026-01-31T14:05:00', new Date('2026-01-31T09:00:00')), '14:05');
  t.equal(timeText('2026-02-01T14:05:00', new Date('2026-01-31T09:00:00')), '2026-02-01 14:05');
});

t.test('a bar keeps its length', async (t) => {
  t.equal(progressBar(-1, 'x').length, progressBar(2, 'x').length);
  t.match(progressBar(0.5, '1 of 2'), /█░.* 1 of 2$/);
});
