import { type Static, Type } from '@sinclair/typebox';
import {
  CHARS_MAX,
  CHARS_MIN,
  FAMILIES_ASKED_MAX,
  K_DEFAULT,
  K_MAX,
  K_MIN,
  PASSAGES_MAX,
  QUERIES_MAX,
  QUERY_LENGTH_MAX,
} from '../search.ts';
import { FamilySchema, Ref } from './fields.ts';
import { FilterSchema } from './filter.ts';
import { LikeField, OrderSchema } from './order.ts';

/** Defaults are described in words: client generators make fields with a `default` required. */

const FamiliesField = Type.Optional(
  Type.Array(FamilySchema, {
    minItems: 1,
    maxItems: FAMILIES_ASKED_MAX,
    description: 'Default: all that apply to the query.',
  }),
);
const KField = Type.Optional(
  Type.Integer({
    minimum: K_MIN,
    maximum: K_MAX,
    description: `Maximum number of hits. Default: ${K_DEFAULT}.`,
  }),
);

export const QuestionSchema = Type.Object(
  {
    query: Type.Optional(Type.String({ maxLength: QUERY_LENGTH_MAX })),
    like: LikeField,
    families: FamiliesField,
    k: KField,
    filter: Type.Optional(Ref(FilterSchema)),
  },
  {
    $id: 'Question',
    description:
      'One of several questions: `query`, or `like`. What it leaves out is as in the request around it.',
  },
);

export const SearchRequestSchema = Type.Object(
  {
    query: Type.Optional(
      Type.String({
        maxLength: QUERY_LENGTH_MAX,
        description: 'Natural-language query. Quoted phrases match in order.',
      }),
    ),
    image_b64: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Base64-encoded picture (JPEG, PNG, WebP, BMP), for reverse-image search.',
      }),
    ),
    like: LikeField,
    queries: Type.Optional(
      Type.Array(Type.Union([Type.String({ maxLength: QUERY_LENGTH_MAX }), Ref(QuestionSchema)]), {
        minItems: 1,
        maxItems: QUERIES_MAX,
        description: `Several questions in one call, instead of \`query\`: texts, or texts with their own families, k and filter. \`answers\` has the answer to each. At most ${K_MAX} hits in all.`,
      }),
    ),
    fused: Type.Optional(
      Type.Boolean({
        description:
          'With `queries`: one list of `k` hits for all questions, such as several wordings of one. Default: no.',
      }),
    ),
    families: FamiliesField,
    k: KField,
    filter: Type.Optional(Ref(FilterSchema)),
    order: Type.Optional(Ref(OrderSchema)),
    passages: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: PASSAGES_MAX,
        description: 'Show `text`: the whole passage of a hit, with so many passages on each side.',
      }),
    ),
    max_chars: Type.Optional(
      Type.Integer({
        minimum: CHARS_MIN,
        maximum: CHARS_MAX,
        description:
          'Characters of all `text` of an answer: the best hits first, whole sentences. What has no room is left out (`truncated`). Of several questions, for each.',
      }),
    ),
    explain: Type.Optional(
      Type.Boolean({ description: 'Include how the answer and each hit were computed. Default: no.' }),
    ),
    exact: Type.Optional(
      Type.Boolean({
        description:
          'Guarantee the true best rows of each list, also in large indexes, where `bounds` would otherwise state the expected recall. Adds some milliseconds there. Says nothing about relevance. Default: no.',
      }),
    ),
    min_confidence: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Leave out hits below this confidence. Default: keep all.',
      }),
    ),
  },
  {
    $id: 'SearchRequest',
    description: '`query`, `image_b64`, or both, which are then searched and fused; or `like`, or `queries`.',
  },
);

export type SearchRequest = Static<typeof SearchRequestSchema>;

export const WorkspaceCreateSchema = Type.Object(
  {
    ttl_minutes: Type.Optional(
      Type.Integer({
        description: 'Container minutes to prepay. Default: 15. Clamped to the bounds of the server.',
      }),
    ),
    spend_limit_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'Cap on total spend, extensions included.',
      }),
    ),
    language: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: 3,
        description:
          'Language of the texts, as an ISO 639 code: `en`, `de`, `rus`; `mul` for several. A text model that knows it fills the index. Default: by the first text.',
      }),
    ),
  },
  { $id: 'WorkspaceCreate' },
);

export type WorkspaceCreate = Static<typeof WorkspaceCreateSchema>;

export const WorkspaceExtendSchema = Type.Object(
  {
    ttl_minutes: Type.Optional(
      Type.Integer({
        description: 'Minutes to add. Default: 15. Clamped to the same bounds as at creation.',
      }),
    ),
    reserve: Type.Optional(
      Type.Boolean({
        description:
          'Put the minutes into reserve: they are used when the others have run out, and what is not used goes back to your prepaid money. Paid in prepaid money alone. Default: no.',
      }),
    ),
  },
  { $id: 'WorkspaceExtend' },
);

export type WorkspaceExtend = Static<typeof WorkspaceExtendSchema>;
