import t from 'tap';
import type { SegmentInput } from '../../../src/engine/shard/shard.ts';
import type { Snapshot } from '../../../src/engine/shard/snapshot.ts';
import type { Hit, SegmentRecord } from '../../../src/protocol/schema/search.ts';
import { shownItem } from '../../../src/protocol/schema/shown.ts';
import { itemOf, open, passage } from '../shard/fixtures.ts';

const END = '2026-12-24T18:00:00.000Z';

/** Texts whose JSON is not their own: escapes, two halves of a character, separators of lines. */
const TEXTS = [
  'The keeper counts gulls at dawn.',
  'She said "gulls",\\ and\na line\u2028ended \u0001 \u007f </script>',
  '鳥 gulls 😀 naïve',
  `${'Nothing of interest here. '.repeat(40)} Then gulls 😀 came. ${'More of it. '.repeat(40)}`,
  '',
];

function segments(item: string): SegmentInput[] {
  const texts = TEXTS.map((text, place) => {
    const written = passage(item, text, { place });
    const record = written.record as SegmentRecord;
    return place % 2 === 0
      ? written
      : { ...written, record: { ...record, text_source: 'ocr' as const, ocr_confidence: 0.1 + 0.2 } };
  });
  const picture = {
    record: { item, locator: { time_s: 1e-7, time_end_s: 1e21, heading: '"' }, place: 9 },
    fingerprint: new Uint8Array(16),
    digest: new Uint8Array(32),
    vectors: {},
  };
  return [...texts, picture];
}

const SEGMENTS = Uint32Array.from({ length: 12 }, (_, segment) => segment);

/** A hit as an object, from stored data; its snippet is taken as it is. It lacks the fields that fusion adds. */
function hitOf(snapshot: Snapshot, segment: number, expiresAt: string | null, written: Hit): Partial<Hit> {
  const { item, place: _, text, ...stored } = snapshot.records(new Uint32Array([segment]))[0]!;
  const { snippet, highlights } = written;
  return {
    item: shownItem(snapshot.item(item)!, expiresAt),
    ...(text !== undefined && { snippet, highlights }),
    ...stored,
    ...(text !== undefined && { text_source: stored.text_source ?? 'native' }),
  };
}

t.test('hits as bytes say what they say as objects, member by member', async (t) => {
  const tenants = open(t.testdir());
  t.teardown(() => tenants.close());
  await tenants.use('ws_a', { create: true }, async (shard) => {
    await shard.append(itemOf('a', { title: 'A "title" – 鳥\n' }), segments('a'));
    await shard.append(itemOf('b', { expires_at: '2030-01-01T00:00:00.000Z' }), segments('b'));
    const snapshot = shard.snapshot();
    for (const expiresAt of [END, null])
      for (const query of ['gulls', undefined]) {
        const { bytes, length } = snapshot.hits(SEGMENTS, { query, expiresAt });
        const text = Buffer.from(bytes).toString();
        const written = JSON.parse(text) as Hit[];
        t.equal(length, SEGMENTS.length);
        t.equal(written.length, length);
        for (const [at, hit] of written.entries()) {
          const expected = hitOf(snapshot, SEGMENTS[at]!, expiresAt, hit);
          for (const name of new Set([...Object.keys(hit), ...Object.keys(expected)]))
            t.same(hit[name as keyof Hit], expected[name as keyof Hit], `${at}: ${name}`);
          t.equal(JSON.stringify(hit), JSON.stringify(expected), 'in the same order');
          const own = TEXTS[at % (TEXTS.length + 1)];
          t.equal(hit.snippet === undefined, own === undefined);
          const shown = hit.snippet?.replace(/^…|…$/g, '') ?? '';
          t.ok((own ?? '').includes(shown), 'a snippet is part of its passage');
          for (const [start, end] of hit.highlights ?? [])
            t.equal(hit.snippet?.slice(start, end), 'gulls', 'and marks the words of the query');
        }
        t.equal(text, JSON.stringify(written), 'as JSON.stringify writes it');
      }
    snapshot.close();
  });
});

t.test('a segment or an item that is gone is left out', async (t) => {
  const tenants = open(t.testdir());
  t.teardown(() => tenants.close());
  await tenants.use('ws_a', { create: true }, async (shard) => {
    await shard.append(itemOf('a'), segments('a'));
    const snapshot = shard.snapshot();
    const hits = snapshot.hits(Uint32Array.of(900, 1, 901));
    t.equal(hits.length, 1);
    t.match(hits.toJSON(), [{ item: { id: 'a' }, text_source: 'ocr' }]);
    t.same(snapshot.hits(new Uint32Array()).toJSON(), []);
    snapshot.close();
  });
});
