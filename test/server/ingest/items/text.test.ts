import t from 'tap';
import type { ItemId } from '../../../../src/protocol/id.ts';
import type { Locator, SegmentRecord } from '../../../../src/protocol/schema/search.ts';
import { textOf } from '../../../../src/server/ingest/items/text.ts';

const ID = 'item_1' as ItemId;
/** In front of the item's own Segments: those of others. */
const BEFORE = 7;

/** An index with one item: passages at these places, then a picture. */
function indexOf(locators: readonly Locator[], length = 100) {
  const records = [
    ...locators.map((locator, index) => ({ locator, text: `${index} `.padEnd(length, 'x') })),
    { locator: {} },
  ] as unknown as SegmentRecord[];
  let read = 0;
  return {
    read: () => read,
    segmentsOf: (item: string) => (item === ID ? { first: BEFORE, count: records.length } : undefined),
    records: (segments: Uint32Array) => {
      read += segments.length;
      return Array.from(segments, (segment) => records[segment - BEFORE]);
    },
  };
}

type Text = Awaited<ReturnType<typeof textOf>>;

const starts = (answer: Text) => answer?.passages.map(({ text }) => Number.parseInt(text, 10));

t.test('a text is read to its end in parts that follow each other, without its pictures', async (t) => {
  const index = indexOf(Array.from({ length: 250 }, (_, at) => ({ page: 1 + Math.floor(at / 5) })));
  const seen: number[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const part: NonNullable<Text> = (await textOf(index, ID, { from }))!;
    t.ok(part.passages.reduce((sum, { text }) => sum + text.length, 0) <= 8_000);
    seen.push(...starts(part)!);
    from = part.next;
  }
  t.same(
    seen,
    Array.from({ length: 250 }, (_, at) => at),
  );
  t.equal(await textOf(index, 'item_2' as ItemId, { from: 0 }), undefined);
  t.same(await textOf(index, ID, { from: 9_999 }), { id: ID, passages: [], next: null });
});

t.test('a page is found without reading those before it, or text outside pages', async (t) => {
  const index = indexOf(Array.from({ length: 30_000 }, (_, at) => ({ page: 1 + at })));
  t.equal(starts(await textOf(index, ID, { page: 20_000 }))![0], 19_999);
  t.ok(index.read() < 200, `${index.read()} records`);
  t.equal(starts(await textOf(indexOf([{}, {}, { page: 1 }, { page: 2 }]), ID, { page: 2 }))![0], 3);
  t.equal(starts(await textOf(indexOf([{ page: 1 }, { page: 2 }, {}, {}]), ID, { page: 2 }))![0], 1);
  await t.rejects(textOf(indexOf([{ page: 1 }]), ID, { page: 2 }), { code: 'field_invalid' });
});

t.test('a second is that of the passage that began last before it', async (t) => {
  const index = indexOf([{ time_s: 0 }, { time_s: 600 }, { time_s: 10 }, { time_s: 20 }, { time_s: 30 }]);
  t.equal(starts(await textOf(index, ID, { timeS: 25 }))![0], 3);
  t.equal(starts(await textOf(index, ID, { timeS: 9_999 }))![0], 1);
  await t.rejects(textOf(indexOf([{ page: 1 }]), ID, { timeS: 2 }), { code: 'field_invalid' });
});
