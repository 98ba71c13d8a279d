import { Type } from '@sinclair/typebox';
import { FAMILIES, LIST_NAMES, SEGMENT_KINDS } from '../domain/family.ts';
import { PAGE_KINDS, TEXT_SOURCES } from '../domain/file/segment.ts';
import { SCAN_METHODS } from '../domain/search.ts';
import { Charged, Count, described, FamilySchema, Warnings } from './optional.ts';

const Share = Type.Number({ minimum: 0, maximum: 1 });

export const LocatorSchema = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Page of the file, from 1, for paged documents.' }),
    ),
    page_kind: Type.Optional(
      Type.Union(
        PAGE_KINDS.map((kind) => Type.Literal(kind)),
        { description: 'What `page` counts, where it is no page of paper.' },
      ),
    ),
    box: Type.Optional(
      Type.Object(
        { x: Share, y: Share, width: Share, height: Share },
        described('Where the text stands, in shares of the page from its upper left corner.'),
      ),
    ),
    time_s: Type.Optional(Type.Number({ description: 'Start in seconds, for time-based media.' })),
    time_end_s: Type.Optional(Type.Number({ description: 'End in seconds.' })),
    char_start: Type.Optional(Count('First character of the passage, in UTF-16 code units.')),
    char_end: Type.Optional(Count('End of the passage, exclusive.')),
    heading: Type.Optional(Type.String({ description: 'Heading above the passage.' })),
  },
  { $id: 'Locator' },
);

const ListName = Type.Union(LIST_NAMES.map((list) => Type.Literal(list)));
const Kind = Type.Union(SEGMENT_KINDS.map((kind) => Type.Literal(kind)));

export const HitExplanationSchema = Type.Object(
  {
    lists: Type.Array(
      Type.Object({
        list: ListName,
        kind: Kind,
        family: FamilySchema,
        rank: Type.Integer({ minimum: 1, description: 'Place in the list.' }),
        raw_score: Type.Number({
          description: 'As the list scores: cosine, BM25, or closeness of fingerprints.',
        }),
        scaled: Type.Number({
          description:
            'The raw score between the list’s last and first place, 0 to 1; of a near-identical picture at least 0.9.',
        }),
        share: Type.Number({
          description:
            'The list’s share in the score of its kind; less of it once a near-identical picture was found.',
        }),
        confidence: Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Probability that this list alone gives.',
        }),
      }),
    ),
    kind: Kind,
    kind_confidence: Type.Number({
      description: 'Confidence of the kind’s best hit: it sets passages and pictures beside each other.',
    }),
  },
  {
    $id: 'HitExplanation',
    description:
      'score = kind_confidence × the sum of scaled × share over the lists of the hit’s kind: the better kind counts.',
  },
);

export const SearchExplanationSchema = Type.Object(
  {
    lists: Type.Array(
      Type.Object({
        list: ListName,
        scanned: Count('Rows, or postings, that were looked at.'),
        rescored: Count('Rows whose exact score was computed.'),
        exact: Type.Boolean({ description: 'Proved to be the best of all rows.' }),
        method: Type.Union(
          SCAN_METHODS.map((method) => Type.Literal(method)),
          {
            description:
              '`proved`; `bits`: rows were passed over by a statistical bound; `graph`: found along a graph.',
          },
        ),
      }),
    ),
    segments: Count('Segments of the index.'),
    depth: Count('Places of each list that were scaled and summed.'),
    tasks: Type.Array(
      Type.Object({
        kind: Type.String(),
        batch: Type.Integer({ minimum: 1, description: 'Queries done together, those of others included.' }),
        waited_ms: Type.Number({ description: 'The longest that one of them waited for a worker.' }),
        ran_ms: Type.Number({ minimum: 0 }),
      }),
      described('What the encoders did.'),
    ),
  },
  { $id: 'SearchExplanation' },
);

export const HitSchema = Type.Object(
  {
    item: Type.Ref('Item'),
    confidence: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Calibrated; comparable across families.',
    }),
    family: FamilySchema,
    locator: Type.Ref('Locator'),
    score: Type.Number({ description: 'Fused score; higher is better.' }),
    snippet: Type.Optional(Type.String({ description: 'Part of the passage, for text.' })),
    highlights: Type.Optional(
      Type.Array(
        Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }),
        described('Where words of the query stand in the snippet: start and end, in UTF-16 code units.'),
      ),
    ),
    text_source: Type.Optional(
      Type.Union(
        TEXT_SOURCES.map((source) => Type.Literal(source)),
        {
          description:
            'How the text came to be known: written in the file, recognised (OCR), from subtitles or speech.',
        },
      ),
    ),
    ocr_confidence: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'How sure OCR was of the text.' }),
    ),
    segments: Type.Integer({
      minimum: 1,
      description: 'Segments of the same page, shot or section folded into this hit.',
    }),
    explanation: Type.Optional(Type.Ref('HitExplanation')),
  },
  { $id: 'SearchHit' },
);

export const BoundSchema = Type.Object(
  {
    exact: Type.Boolean({ description: 'Proved to be the best of all rows.' }),
    recall: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Where it is not proved: the mean share of the true best k, for every k, that this way of searching is held to. `exact: true` in the request gets the proof.',
      }),
    ),
  },
  { $id: 'Bound', description: 'What holds for the lists of a family.' },
);

const Milliseconds = Type.Optional(Type.Number({ minimum: 0 }));

export const TimingSchema = Type.Object(
  {
    verify_ms: Milliseconds,
    encode_ms: Milliseconds,
    scan_ms: Milliseconds,
    fuse_ms: Milliseconds,
    settle_ms: Milliseconds,
    total_ms: Milliseconds,
  },
  { $id: 'Timing', description: 'Milliseconds of each stage; verify and settle belong to the payment.' },
);

export const SearchResponseSchema = Type.Object(
  {
    hits: Type.Array(Type.Ref('SearchHit')),
    latency_ms: Type.Number({ description: 'From the request read to the hits ready, without the payment.' }),
    timing: Type.Ref('Timing'),
    exact: Type.Boolean({ description: 'True when the lists that were fused are proved to be exact.' }),
    bounds: Type.Object(
      Object.fromEntries(FAMILIES.map((family) => [family, Type.Optional(Type.Ref('Bound'))])),
      described('The same for each family that was searched.'),
    ),
    charged: Charged,
    explanation: Type.Optional(Type.Ref('SearchExplanation')),
    warnings: Warnings,
  },
  { $id: 'SearchResponse' },
);
