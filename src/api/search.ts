import { Type } from '@sinclair/typebox';
import { FAMILIES, LIST_NAMES, SEGMENT_KINDS } from '../domain/family.ts';
import { PAGE_KINDS, TEXT_SOURCES } from '../domain/file/segment.ts';
import { SCAN_METHODS, UNANSWERED_REASONS } from '../domain/search.ts';
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
        rank: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'Place in the list; absent where another list found the hit.',
          }),
        ),
        raw_score: Type.Number({
          description: 'As the list scores: cosine, BM25, or closeness of fingerprints.',
        }),
        part: Type.Number({
          description: 'What the list adds to the score, in log-odds; 0 for lists of the other kind.',
        }),
      }),
    ),
    kind: Kind,
    base: Type.Number({
      description:
        'What holds for all hits of the kind: the query, the first hit’s evidence, the size of the index.',
    }),
  },
  {
    $id: 'HitExplanation',
    description: 'score = base + the sum of part over the lists of the hit’s kind: the likelier kind counts.',
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
    depth: Count('Places of each list that were considered.'),
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
      description: 'Probability that this hit answers. It never rises down the list.',
    }),
    family: FamilySchema,
    locator: Type.Ref('Locator'),
    score: Type.Number({ description: 'Log-odds of `confidence`, unrounded: orders the hits.' }),
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
    answered: Type.Boolean({
      description: 'Whether a hit is likely to answer. False: probably not in your files.',
    }),
    reason: Type.Optional(
      Type.Union(
        UNANSWERED_REASONS.map((reason) => Type.Literal(reason)),
        {
          description:
            'Why not: the index is empty; nothing was found; or no hit is likely to answer (hits that are found are given all the same).',
        },
      ),
    ),
    exact: Type.Boolean({
      description:
        'Proved: the index has no row that a list scores better than those considered. It says nothing about relevance.',
    }),
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
