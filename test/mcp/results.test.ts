import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import t from 'tap';
import type { Hit, SearchAnswer } from '../../src/client/index.ts';
import type { ItemSource } from '../../src/mcp/backend.ts';
import { searchResult } from '../../src/mcp/results.ts';
import { isLikely } from '../../src/protocol/search.ts';

/** Results are read by models: what is said must be short and enough. */

const source = { baseUrl: 'http://here' } as ItemSource;
const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;

function hitOf(confidence: number, more: Partial<Hit> = {}): Hit {
  const item = {
    id: `item_${confidence}`,
    name: 'film.mp4',
    media_type: 'video/mp4',
    sha256: 'f'.repeat(64),
  };
  return {
    item,
    confidence,
    family: 'visual',
    locator: { time_s: 30, box: {} },
    score: 1,
    ...more,
  } as unknown as Hit;
}

function answerOf(hits: Hit[], answered: boolean): SearchAnswer {
  return { hits, answered, latency_ms: 1, timing: {}, exact: true, bounds: {}, charged: false };
}

const show = (hits: Hit[], answered: boolean, given = {}) => {
  const rule = { answered, best: hits[0]?.confidence ?? 0 };
  const rated = hits.map((hit) => ({ ...hit, likely: isLikely(hit, rule) }));
  return searchResult(source, { body: answerOf(rated, answered), scope: {} }, given);
};

t.test('what is far less likely than the first is left out, and counted', async (t) => {
  const hits = [hitOf(0.9), hitOf(0.4), ...Array.from({ length: 28 }, () => hitOf(0.04))];
  const result = await show(hits, true);
  t.equal(textOf(result).split('\n').length, 3);
  t.match(
    textOf(result),
    /^1\. film\.mp4 \(30 s\), confidence 0\.90, item_0\.9\n2\. .*\n28 less likely left out; k shows them\.$/,
  );
  t.match(result.structuredContent, { left_out: 28, answered: true });
  t.equal((result.structuredContent!.hits as unknown[]).length, 2);
  t.equal(
    ((await show(hits, true, { k: 30 })).structuredContent!.hits as unknown[]).length,
    30,
    'unless asked for',
  );
});

t.test('a picture that looks like the one asked with is shown, however sure it is another', async (t) => {
  const hits = [
    hitOf(0.99, { likeness: 1 }),
    hitOf(0.004, { likeness: 0.67 }),
    hitOf(0.003, { likeness: 0.3 }),
  ];
  const result = await show(hits, true);
  t.match(textOf(result), /\n2\. film\.mp4 \(30 s\), confidence 0\.00, likeness 0\.67, item_0\.004$/);
  t.match(result.structuredContent!.hits, [{ likeness: 1 }, { confidence: 0.004, likeness: 0.67 }]);
  t.equal((await show(hits, true, { k: 3 })).structuredContent!.left_out, undefined);
  const all = await show(hits, true, { min_confidence: 0 });
  t.equal((all.structuredContent!.hits as unknown[]).length, 3, 'unless asked for');
});

t.test('a film is one line with its other moments, and data has no digests, boxes or scores', async (t) => {
  const moments = [
    { time_s: 62.4, confidence: 0.5 },
    { time_s: 5, confidence: 0.4 },
  ];
  const snippet = `${'word '.repeat(200)}`;
  const result = await show([hitOf(0.9, { moments, snippet })], true);
  t.match(textOf(result), /^1\. film\.mp4 \(30 s\), confidence 0\.90, also at 62 s, 5 s, item_0\.9: word/);
  t.ok(textOf(result).length < 600);
  t.notMatch(JSON.stringify(result.structuredContent), /sha256|box|score|bounds|timing/);
});

t.test('other passages of a section stand below its best one', async (t) => {
  const also = [{ locator: { heading: 'Options', char_start: 90 }, snippet: '-x\n  | extract' }];
  const result = await show([hitOf(0.9, { snippet: 'tar is a program', also })], true);
  t.match(textOf(result), /: tar is a program\n {3}also: -x \| extract$/);
  t.same((result.structuredContent!.hits as { also: object[] }[])[0]!.also, [
    { locator: { heading: 'Options' }, snippet: '-x | extract' },
  ]);
});

t.test(
  'answers to several questions stand under their questions, with whole texts where they were asked for',
  async (t) => {
    const text = 'The whole passage.\nAnd the next one.';
    const body = {
      ...answerOf([], true),
      answers: [
        { ...answerOf([hitOf(0.9, { text, text_from: 2, text_next: 4 })], true), truncated: true },
        { ...answerOf([], false), reason: 'nothing_found' as const },
      ],
    };
    const result = await searchResult(source, { body, scope: {} }, { queries: ['who?', { query: 'when?' }] });
    t.equal(
      textOf(result),
      `1) who?\n1. film.mp4 (30 s), confidence 0.90, item_0.9:\n${text}\nCut at max_chars: there is more.\n\n2) when?\nNothing was found.`,
    );
    t.match(result.structuredContent, {
      answers: [
        { hits: [{ text, text_from: 2, text_next: 4 }], truncated: true },
        { hits: [], answered: false },
      ],
    });
  },
);
