import t from 'tap';
import { hitLines, hitList } from '../../src/cli/search/hits.ts';
import { MARK, widthOf } from '../../src/cli/wording/text.ts';
import type { Hit } from '../../src/client/index.ts';

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
