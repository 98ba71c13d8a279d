import t from 'tap';
import {
  FILTER_CONDITIONS_MAX,
  FILTER_DEPTH_MAX,
  FILTER_VALUES_MAX,
  readFilter,
} from '../../../src/protocol/labels/filter.ts';
import {
  METADATA_FIELDS_MAX,
  METADATA_JSON_MAX,
  readMetadata,
} from '../../../src/protocol/labels/metadata.ts';

const nested = (levels: number): object => (levels === 1 ? { name: 'x' } : { not: nested(levels - 1) });
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, at]));

t.test('a filter has one form, whatever way it was written in', async (t) => {
  for (const [given, read] of [
    [{}, undefined],
    [{ items: null, metadata: {} }, undefined],
    [{ name: '*.pdf' }, { name: ['*.pdf'] }],
    [
      { media_type: ['image/*'], items: ['item_1'] },
      { items: ['item_1'], media_type: ['image/*'] },
    ],
    [{ created_after: '2026-11-26' }, { created_after: '2026-11-26T00:00:00.000Z' }],
    [{ created_before: '2026-11-26T10:00:00+02:00' }, { created_before: '2026-11-26T08:00:00.000Z' }],
    [
      { metadata: { year: 2024, draft: false } },
      { metadata: { year: { in: [2024] }, draft: { in: [false] } } },
    ],
    [{ metadata: { lang: ['de', 'en'] } }, { metadata: { lang: { in: ['de', 'en'] } } }],
    [{ metadata: { lang: { eq: 'de' } } }, { metadata: { lang: { in: ['de'] } } }],
    [
      { metadata: { year: { lt: 2024, gte: 2020 }, draft: { exists: false } } },
      { metadata: { year: { gte: 2020, lt: 2024 }, draft: { exists: false } } },
    ],
    [
      { not: { name: 'a' }, or: [{ key: 'docs/*' }, {}], and: [] },
      { and: [], or: [{ key: ['docs/*'] }, {}], not: { name: ['a'] } },
    ],
  ] as const)
    t.equal(readFilter(given), read && JSON.stringify(read), JSON.stringify(given));
});

t.test('a condition that cannot be understood is refused, with its place', async (t) => {
  for (const [given, detail] of [
    ['x', /^filter: send an object of items/],
    [{ nam: 'x' }, /^filter: there is no "nam"\. Did you mean name\?$/],
    [{ items: 'item_1' }, /^filter\.items: send a list/],
    [{ name: 5 }, /^filter\.name: send texts/],
    [{ name: 'x'.repeat(513) }, /^filter\.name: send texts of at most 512/],
    [{ created_after: 'yesterday' }, /^filter\.created_after: send a time/],
    [{ metadata: { year: { ge: 1 } } }, /^filter\.metadata\.year: there is no "ge"\. Did you mean/],
    [{ metadata: { year: { eq: 1, in: [1] } } }, /eq or in, not both/],
    [{ metadata: { year: { gte: 1, lt: '2' } } }, /two numbers, or two texts/],
    [{ metadata: { year: { exists: 'yes' } } }, /exists: send true or false/],
    [{ metadata: { '': 1 } }, /has a name of 1 to/],
    [{ or: { name: 'x' } }, /^filter\.or: send a list/],
    [{ not: null }, /^filter\.not: send what it is to hold, not null/],
    [{ or: [{ and: null }] }, /^filter\.or\.and: send what it is to hold/],
    [{ or: [{ not: { q: 1 } }] }, /^filter\.or\.not: there is no "q"/],
    [nested(FILTER_DEPTH_MAX + 1), /nest at most 8 levels/],
    [{ metadata: many(FILTER_CONDITIONS_MAX + 1) }, /at most 100 conditions/],
    [{ items: Array.from({ length: FILTER_VALUES_MAX + 1 }, () => 'x') }, /at most 1000 values/],
    [{ or: Array.from({ length: FILTER_VALUES_MAX + 1 }, () => ({})) }, /at most 1000 values/],
  ] as const)
    t.throws(
      () => readFilter(given),
      { code: 'field_invalid', facts: { field: 'filter' }, detail },
      String(detail),
    );
  t.doesNotThrow(() => readFilter(nested(FILTER_DEPTH_MAX)));
  t.doesNotThrow(() => readFilter({ metadata: many(FILTER_CONDITIONS_MAX) }));
});

t.test('metadata is flat, bounded, and in one order', async (t) => {
  t.strictSame(readMetadata('{"b": 1.5, "a": "ä", "c": true, "d": null}'), { a: 'ä', b: 1.5, c: true });
  t.equal(readMetadata('{}'), undefined);
  t.equal(readMetadata(' '), undefined);
  for (const [json, detail] of [
    ['{', /send a JSON object/],
    ['[1]', /send a JSON object/],
    ['{"a": {"b": 1}}', /"a" is to be a string/],
    ['{"": 1}', /is no name/],
    [JSON.stringify({ ['n'.repeat(65)]: 1 }), /is no name of 1 to 64/],
    [JSON.stringify({ a: 'x'.repeat(513) }), /"a" is to be/],
    [JSON.stringify(many(METADATA_FIELDS_MAX + 1)), /at most 32 fields/],
    [`{${' '.repeat(METADATA_JSON_MAX)}}`, /at most 4096 characters/],
  ] as const)
    t.throws(
      () => readMetadata(json),
      { code: 'field_invalid', facts: { field: 'metadata' }, detail },
      String(detail),
    );
});
