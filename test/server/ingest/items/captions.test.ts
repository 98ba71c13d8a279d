import t from 'tap';
import type { ItemId } from '../../../../src/protocol/id.ts';
import type { SegmentRecord } from '../../../../src/protocol/schema/search.ts';
import { captionsOf } from '../../../../src/server/ingest/items/captions.ts';

const ITEM = 'item_1' as ItemId;

function snapshotOf(records: readonly Partial<SegmentRecord>[]) {
  return {
    segmentsOf: (item: string) => (item === ITEM ? { first: 5, count: records.length } : undefined),
    records: (numbers: Uint32Array) => [...numbers].map((number) => records[number - 5] as SegmentRecord),
  };
}

t.test('captions are cues in the order of time, as text without markup', async (t) => {
  const captions = await captionsOf(
    snapshotOf([
      { text: 'A chapter', locator: { time_s: 0 }, text_source: 'metadata' },
      { text: 'Later.', locator: { time_s: 3_661.5, time_end_s: 3_664 }, text_source: 'subtitle' },
      { text: 'First <b>&\n\n--> second', locator: { time_s: 0.2, time_end_s: 9 }, text_source: 'speech' },
      { text: 'A file of subtitles.', locator: { time_s: 7 } },
      { text: 'A page', locator: { page: 3 } },
      { locator: { time_s: 1 } },
    ]),
    ITEM,
  );
  t.equal(
    captions,
    `WEBVTT

00:00:00.200 --> 00:00:07.000
First &lt;b&gt;&amp;
--&gt; second

00:00:07.000 --> 00:00:12.000
A file of subtitles.

01:01:01.500 --> 01:01:04.000
Later.
`,
  );
});

t.test('an item without speech has no cues; one that is not there has no captions', async (t) => {
  t.equal(await captionsOf(snapshotOf([{ text: 'A page', locator: { page: 1 } }]), ITEM), 'WEBVTT\n');
  t.equal(await captionsOf(snapshotOf([]), 'item_2' as ItemId), undefined);
});
