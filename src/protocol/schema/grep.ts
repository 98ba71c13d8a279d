import { type Static, Type } from '@sinclair/typebox';
import { CONTEXT_MAX, LINES_DEFAULT, LINES_MAX, PATTERN_LENGTH_MAX } from '../search.ts';
import { Count, described, inData, Ref, type Shape, Warnings } from './fields.ts';
import { FilterSchema } from './filter.ts';
import { ItemSchema } from './items.ts';
import { Highlights, LocatorSchema, SOURCE } from './search.ts';

export const GrepRequestSchema = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: PATTERN_LENGTH_MAX,
      description:
        'Regular expression that a line has a match of, in the syntax of Rust’s crate `regex`: no look-around and no back-references, so that it is linear. `^` and `$` are the ends of a line.',
    }),
    ignore_case: Type.Optional(
      Type.Boolean({ description: 'Letters match in upper and lower case. Default: no.' }),
    ),
    filter: Type.Optional(Ref(FilterSchema)),
    max_lines: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LINES_MAX,
        description: `Maximum number of lines. Default: ${LINES_DEFAULT}.`,
      }),
    ),
    context: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: CONTEXT_MAX,
        description:
          'Lines of the passage to show before and behind each (`before`, `after`). Default: none.',
      }),
    ),
    after: Type.Optional(
      Type.String({
        maxLength: 21,
        pattern: '^\\d{1,10}\\.\\d{1,10}$',
        description: 'The `next` of the answer before: the search goes on there.',
      }),
    ),
  },
  { $id: 'GrepRequest' },
);

export type GrepRequest = Static<typeof GrepRequestSchema>;

export const GrepLineSchema = Type.Object(
  {
    item: inData(Ref(ItemSchema)),
    passage: inData(
      Count('Number of its passage in the item: `/items/{id}/text?from=` reads on from there.'),
    ),
    line: inData(Count('Its number in the passage, from 1; 0: the title of the item.')),
    text: inData(
      Type.String({ description: 'The line. Of more than 500 characters the part around its first match.' }),
    ),
    highlights: Highlights('Positions of the matches in the text'),
    before: inData(
      Type.Optional(Type.Array(Type.String(), described('With `context`: the lines before it.'))),
    ),
    after: inData(
      Type.Optional(Type.Array(Type.String(), described('With `context`: the lines behind it.'))),
    ),
    locator: inData(Ref(LocatorSchema)),
    ...SOURCE,
  },
  { $id: 'GrepLine' },
);

/** A line of a passage, or the title of an item, that matches a pattern. */
export type GrepLine = Shape<typeof GrepLineSchema>;

export const GrepResponseSchema = Type.Object(
  {
    lines: Type.Array(Ref(GrepLineSchema), described('In order of upload, and of the file.')),
    truncated: Type.Boolean({
      description:
        'There may be more: `max_lines` were found, or two seconds were over. `next` goes on; there may be no line until then.',
    }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'Where `truncated`: the `after` of the next request. Otherwise null.',
    }),
    latency_ms: Type.Number({ description: 'Time from reading the request to having the lines.' }),
    warnings: Warnings,
  },
  { $id: 'GrepResponse' },
);

export type GrepAnswer = Shape<typeof GrepResponseSchema>;
