import { type Static, Type } from '@sinclair/typebox';
import { FAMILIES, type Family, LIST_NAMES, SEGMENT_KINDS } from '../family.ts';
import { PAGE_KINDS, TEXT_SOURCES } from '../file/segment.ts';
import { SCAN_METHODS, UNANSWERED_REASONS } from '../search.ts';
import {
  Charged,
  Count,
  described,
  FamilySchema,
  inData,
  OneOf,
  Ref,
  type Shape,
  shown,
  Warnings,
} from './fields.ts';
import { ItemSchema } from './items.ts';

const Share = Type.Number({ minimum: 0, maximum: 1 });

export const LocatorSchema = Type.Object(
  {
    page: inData(
      Type.Optional(
        Type.Integer({ minimum: 1, description: 'Page of the file, from 1, for paged documents.' }),
      ),
    ),
    page_kind: inData(
      Type.Optional(OneOf(PAGE_KINDS, { description: 'Unit of `page` when it is not a printed page.' })),
    ),
    box: Type.Optional(
      Type.Object(
        { x: Share, y: Share, width: Share, height: Share },
        described('Position of the text as fractions of the page, from its top left corner.'),
      ),
    ),
    time_s: inData(Type.Optional(Type.Number({ description: 'Start in seconds, for time-based media.' }))),
    time_end_s: inData(Type.Optional(Type.Number({ description: 'End in seconds.' }))),
    char_start: Type.Optional(Count('First character of the passage, in UTF-16 code units.')),
    char_end: Type.Optional(Count('End of the passage, exclusive.')),
    heading: inData(Type.Optional(Type.String({ description: 'Heading above the passage.' }))),
  },
  { $id: 'Locator' },
);

/** A Segment's position in a file. Pages count from 1, seconds from the start, characters are UTF-16 code units. */
export type Locator = Shape<typeof LocatorSchema>;

const ListName = OneOf(LIST_NAMES);
const Kind = OneOf(SEGMENT_KINDS);

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
            description: 'Rank in the list; absent when another list found the hit.',
          }),
        ),
        raw_score: Type.Number({
          description: 'The list’s own score: cosine, BM25, or similarity of fingerprints.',
        }),
        part: Type.Number({
          description: 'The list’s contribution to the score, in log-odds; 0 for lists of the other kind.',
        }),
      }),
    ),
    kind: Kind,
    base: Type.Number({
      description:
        'What no list adds by itself: from the query, the first hit’s evidence, and for the first hit its lead.',
    }),
  },
  {
    $id: 'HitExplanation',
    description:
      'score = base + the sum of `part` over the lists of the hit’s kind. The likelier kind counts.',
  },
);

/** How a hit was scored. */
export type HitExplanation = Shape<typeof HitExplanationSchema>;

export const SearchExplanationSchema = Type.Object(
  {
    lists: Type.Array(
      Type.Object({
        list: ListName,
        corrected: Type.Optional(
          Type.String({ description: 'The query as the list understood it, with slips corrected.' }),
        ),
        scanned: Count('Rows or postings scanned.'),
        rescored: Count('Rows whose exact score was computed.'),
        exact: Type.Boolean({ description: 'Proved to be the best of all rows.' }),
        method: OneOf(SCAN_METHODS, {
          description:
            '`proved`: exact; `bits`: rows skipped by a statistical bound; `graph`: found along a graph (HNSW).',
        }),
        recall: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'When not proved: as in `bounds`. Of a graph as measured on this index.',
          }),
        ),
      }),
    ),
    segments: Count('Segments of the index.'),
    depth: Count('Top entries of each list that were fused.'),
    tasks: Type.Array(
      Type.Object({
        kind: Type.String(),
        batch: Type.Integer({
          minimum: 1,
          description: 'Queries in the same batch, including those of other requests.',
        }),
        waited_ms: Type.Number({ description: 'Longest wait for a worker in the batch.' }),
        ran_ms: Type.Number({ minimum: 0 }),
      }),
      described('Work of the encoders.'),
    ),
  },
  { $id: 'SearchExplanation' },
);

/** How an answer was made: its lists, and the encoder tasks, which other requests may have shared. */
export type SearchExplanation = Shape<typeof SearchExplanationSchema>;
/** The scan of one list. */
export type ListScan = SearchExplanation['lists'][number];

export const MomentSchema = Type.Object(
  {
    time_s: Type.Number({ description: 'Start in seconds.' }),
    time_end_s: Type.Optional(Type.Number({ description: 'End in seconds.' })),
    confidence: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Probability that this moment answers; at most that of its hit.',
    }),
  },
  { $id: 'Moment' },
);

/** A moment of a film or sound recording beside the one that its hit shows. */
export type Moment = Shape<typeof MomentSchema>;

/** @param what such as `Positions of query words in the snippet` */
export const Highlights = (what: string) =>
  Type.Array(
    Type.Unsafe<[start: number, end: number]>(
      Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }),
    ),
    described(`${what}: start and end (exclusive), in UTF-16 code units.`),
  );

export const TableRowSchema = Type.Object(
  {
    columns: Type.Array(Type.String(), described('The name of each cell’s column; empty where it has none.')),
    row: Type.Array(Type.String(), described('Its cells.')),
  },
  { $id: 'TableRow', description: 'The row of a table in the passage that has the most words of the query.' },
);

/** A row of a table in a passage. */
export type TableRow = Shape<typeof TableRowSchema>;

/** The members of a passage's record that are shown, and its snippet. */
const SNIPPET = {
  snippet: inData(Type.Optional(Type.String({ description: 'Part of the passage, for text.' }))),
  highlights: Type.Optional(Highlights('Positions of query words in the snippet')),
  table: Type.Optional(Ref(TableRowSchema)),
};
export const SOURCE = {
  text_source: inData(
    Type.Optional(
      OneOf(TEXT_SOURCES, {
        description:
          'Source of the text: the file itself, text recognition (OCR), subtitles, speech, or the file’s metadata.',
      }),
    ),
  ),
  ocr_confidence: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'OCR’s own confidence in the text.' }),
  ),
  speech_confidence: inData(
    Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Of `speech`, which a model heard: its own confidence in the text.',
      }),
    ),
  ),
};

export const OtherPassageSchema = Type.Object(
  { locator: inData(Ref(LocatorSchema)), ...SNIPPET, ...SOURCE },
  { $id: 'OtherPassage' },
);

/** A passage of the same page or section as a hit, beside the one that it shows. */
export type OtherPassage = Shape<typeof OtherPassageSchema>;

export const HitSchema = Type.Object(
  {
    item: inData(Ref(ItemSchema)),
    confidence: shown(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Estimated probability that this hit answers. Without `order` it never rises down the list.',
      }),
      {
        on: ['line', 'data', 'page'],
        as: 'share',
        label: '',
        title: 'How likely it is that this hit answers',
      },
    ),
    weight: inData(
      Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            'With `order.decay`: what the hit’s confidence counts in the order, by its value. `confidence` is as without.',
        }),
      ),
    ),
    likely: inData(
      Type.Boolean({
        description:
          'Worth reading at once: where `answered`, at least a fifth as likely as the best hit; or a picture that looks alike (`likeness` ≥ .5). Fold the others; where none is likely, the first three are the nearest.',
      }),
    ),
    family: inData(FamilySchema),
    likeness: shown(
      Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            'Asked with a picture: how alike the two look. 1 for the same picture, .5 and more for one of much the same thing, .1 to .4 for any other. `confidence` is how likely it is the same.',
        }),
      ),
      {
        on: ['line', 'data', 'page'],
        as: 'share',
        label: 'alike',
        title: 'How alike the two pictures look; the first figure is how likely they are the same',
      },
    ),
    locator: inData(Ref(LocatorSchema)),
    score: Type.Number({
      description: 'Log-odds of `confidence`, unrounded: orders the hits.',
    }),
    ...SNIPPET,
    text: inData(
      Type.Optional(
        Type.String({
          description:
            'With `passages` or `max_chars`: the whole passage and those around it, a line each. Hits whose passages follow each other are one hit.',
        }),
      ),
    ),
    text_from: inData(Type.Optional(Count('Number of the first passage of `text` in the item.'))),
    text_next: inData(
      Type.Optional(Count('Number of the passage behind `text`: `/items/{id}/text?from=` continues there.')),
    ),
    ...SOURCE,
    also: inData(
      Type.Optional(
        Type.Array(
          Ref(OtherPassageSchema),
          described(
            'Of the first three hits: the next best passages of the same page or section, at most two, and none that is in `text`.',
          ),
        ),
      ),
    ),
    moments: shown(
      Type.Optional(
        Type.Array(
          Ref(MomentSchema),
          described(
            'Of a film or sound recording, which is one hit: its other moments that were found, best first. `locator` is the best one.',
          ),
        ),
      ),
      { on: ['line', 'data', 'terminal'], as: 'moments', most: 5 },
    ),
    segments: Type.Integer({
      minimum: 1,
      description: 'Segments of the same page, section, film or recording folded into this hit.',
    }),
    queries: inData(
      Type.Optional(Type.Array(Count(), described('Of fused answers: the questions that found it, from 0.'))),
    ),
    explanation: Type.Optional(Ref(HitExplanationSchema)),
  },
  { $id: 'SearchHit' },
);

/** A found Segment, and how it was ranked. */
export type Hit = Shape<typeof HitSchema>;

/** A Segment's stored record, besides vectors and postings. All but `item`, `place` and `text` is shown in hits as it is. */
export type SegmentRecord = Pick<Hit, 'locator' | 'text_source' | 'ocr_confidence' | 'speech_confidence'> & {
  readonly item: string;
  /** Page, shot or section of the Item: hits of one place are folded into one. */
  readonly place: number;
  /** The passage's own text, without its document's title. Absent for pictures. */
  readonly text?: string;
};

export const BoundSchema = Type.Object(
  {
    exact: Type.Boolean({ description: 'Proved to be the best of all rows.' }),
    recall: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'When not proved: the mean share of the true top k that is found, for every k. Send `exact: true` for the proof.',
      }),
    ),
  },
  { $id: 'Bound', description: 'Guarantee for the lists of one family.' },
);

/** How sure the lists of a family are in one answer. */
export type Bound = Shape<typeof BoundSchema>;

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

/** Milliseconds of each stage; a stage that did not run is absent. */
export type Timing = Shape<typeof TimingSchema>;

/** Verdict on a whole answer, or on the answer to one question. */
const VERDICT = {
  answered: Type.Boolean({
    description: 'Whether a hit is likely to answer. False: probably not in your files.',
  }),
  reason: Type.Optional(
    OneOf(UNANSWERED_REASONS, {
      description:
        'Why `answered` is false: the index is empty, the filter leaves nothing of it, nothing was found, or no hit is likely to answer (hits that were found are still returned).',
    }),
  ),
  corrected: Type.Optional(
    Type.String({
      description:
        'The query with slips in its words corrected, as it was understood: where the index has not a word as it was written, and no language is known to have it.',
    }),
  ),
  relaxed: Type.Optional(
    Type.Array(
      Type.String(),
      described('Quoted phrases that stand nowhere in the index: their words were looked for instead.'),
    ),
  ),
  exact: Type.Boolean({
    description:
      'Proved: no row of the index scores better in any list than those considered. Says nothing about relevance.',
  }),
  bounds: Type.Unsafe<Partial<Record<Family, Static<typeof BoundSchema>>>>(
    Type.Object(
      Object.fromEntries(FAMILIES.map((family) => [family, Type.Optional(Ref(BoundSchema))])),
      described('The same for each family that was searched.'),
    ),
  ),
  not_searched: Type.Optional(
    Type.Array(
      Type.Object({ family: FamilySchema, reason: OneOf(['model_not_installed', 'model_opening']) }),
      described(
        'Families that were left out, because the index keeps the model that filled it: the server does not have it any more, or is opening it (ask again in some seconds). The hits are those of the other families.',
      ),
    ),
  ),
};

const Truncated = Type.Optional(
  Type.Boolean({ description: 'With `max_chars`: whether something had no room.' }),
);

export const QuestionAnswerSchema = Type.Object(
  {
    hits: Type.Optional(Type.Array(Ref(HitSchema), described('Absent where all are fused.'))),
    ...VERDICT,
    truncated: Truncated,
    timing: Ref(TimingSchema),
    explanation: Type.Optional(Ref(SearchExplanationSchema)),
  },
  { $id: 'QuestionAnswer' },
);

export const SearchResponseSchema = Type.Object(
  {
    hits: Type.Array(Ref(HitSchema)),
    latency_ms: Type.Number({
      description: 'Time from reading the request to having the hits, excluding the payment.',
    }),
    timing: Ref(TimingSchema),
    ...VERDICT,
    truncated: Truncated,
    answers: Type.Optional(
      Type.Array(
        Ref(QuestionAnswerSchema),
        described(
          'The answer to each of `queries`, in their order. `hits` beside it has the fused ones, or none.',
        ),
      ),
    ),
    charged: Charged,
    explanation: Type.Optional(Ref(SearchExplanationSchema)),
    warnings: Warnings,
  },
  { $id: 'SearchResponse' },
);

export type SearchAnswer = Shape<typeof SearchResponseSchema>;
