import t from 'tap';
import {
  BLOCK_JOINT,
  type Passage,
  placePassages,
  sliceBlocks,
} from '../../../../src/engine/encode/text/passage.ts';
import { native } from '../../../../src/native/index.ts';
import type { Block } from '../../../../src/protocol/document.ts';
import { openEmbedded } from '../rig/embedded.ts';

const encoder = await openEmbedded({ queryWorkers: 0 });
t.teardown(() => encoder.close());
const SENTENCE = 'The cat sat on the mat and looked at the moon. ';

/** Faults of passages: each must be exactly the text at its locator, with nothing but white space between two. */
function uncovered(blocks: readonly Block[], passages: readonly Passage[]): unknown[] {
  const pages = new Map<number | undefined, string>();
  for (const { page, text } of blocks)
    pages.set(page, pages.has(page) ? pages.get(page) + BLOCK_JOINT + text : text);
  const reached = new Map<number | undefined, number>();
  const wrong: unknown[] = [];
  for (const { text, locator } of passages) {
    const { page, char_start = 0, char_end = 0 } = locator;
    const whole = pages.get(page)!;
    if (whole.slice(char_start, char_end) !== text)
      wrong.push({ locator, text, found: whole.slice(char_start, char_end) });
    if (whole.slice(reached.get(page) ?? 0, char_start).trim() !== '') wrong.push({ left: locator });
    reached.set(page, char_end);
  }
  for (const [page, whole] of pages)
    if (whole.slice(reached.get(page) ?? 0).trim() !== '') wrong.push({ page, left: 'the end' });
  return wrong;
}

t.test('passages of pages and headings cover their pages and never span them', async (t) => {
  const blocks: Block[] = [
    { text: SENTENCE.repeat(30), page: 1, heading: 'One' },
    { text: SENTENCE.repeat(3), page: 1, heading: 'Two' },
    { text: `Ümlauts 🙂 and more. ${SENTENCE}`, page: 2, heading: 'Two' },
    { text: SENTENCE.repeat(60), page: 3 },
  ];
  const passages = await encoder.cutPassages({ title: 'A title', blocks });
  t.strictSame(uncovered(blocks, passages), []);
  t.ok(passages.every(({ place, locator }) => place === locator.page));
  t.ok(passages.every(({ words, text }) => words === `A title\n${text}`));
});

t.test('a long text is cut in many tasks, and its passages cover it', async (t) => {
  const text = `${SENTENCE.repeat(20)}\n\n`.repeat(250) + 'x'.repeat(70_000) + ' 🙂'.repeat(30_000);
  const blocks = [{ text: 'Before.' }, { text, heading: 'Long' }, { text: 'After.' }];
  t.ok(sliceBlocks(blocks).length > 4);
  const passages = await encoder.cutPassages({ blocks });
  t.strictSame(uncovered(blocks, passages), []);
  t.strictSame(
    passages.map(({ place }) => place),
    passages.map(({ place }) => place).sort((a, b) => a - b),
  );
});

t.test('every passage fits the model with its title', async (t) => {
  const tokenizer = new native.TextTokenizer(
    `${import.meta.dirname}/../../../../models/all-MiniLM-L6-v2/tokenizer.json`,
    { limit: 10_000, specialTokens: true, dropped: [] },
  );
  const passages = await encoder.cutPassages({
    title: 'On cats and the moon',
    blocks: [{ text: SENTENCE.repeat(500) }],
  });
  const lengths = tokenizer
    .encode(
      passages.map(({ words }) => words),
      '',
    )
    .lengths();
  t.ok(Math.max(...lengths) <= 256);
  t.ok(Math.min(...lengths) > 200, 'and none is a mere tail');
});

t.test(
  'a text of up to eight passages is one section, a longer one has several of nearly equal size',
  async (t) => {
    const cut = (count: number) =>
      Array.from({ length: count }, () => ({ text: 'x', words: 'x', charStart: 0, charEnd: 1 }));
    t.strictSame(
      placePassages(cut(8)).map(({ place }) => place),
      Array(8).fill(1),
    );
    t.strictSame(
      placePassages(cut(9)).map(({ place }) => place),
      [1, 1, 1, 1, 1, 2, 2, 2, 2],
    );
  },
);

t.test('text outside the pages of a paged document has place 0', async (t) => {
  const passages = await encoder.cutPassages({
    blocks: [{ text: 'Loose.' }, { text: 'On a page.', page: 1 }],
  });
  t.strictSame(
    passages.map(({ place }) => place),
    [0, 1],
  );
});
