import { type Static, Type } from '@sinclair/typebox';
import { FAMILIES_ASKED_MAX, K_DEFAULT, K_MAX, K_MIN, QUERY_LENGTH_MAX } from '../domain/search.ts';
import { FamilySchema, Ref } from './fields.ts';
import { FilterSchema } from './filter.ts';

/** Defaults are told in words: generators of clients make fields with a `default` required. */

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
    families: Type.Optional(
      Type.Array(FamilySchema, {
        minItems: 1,
        maxItems: FAMILIES_ASKED_MAX,
        description: 'Default: all that apply to the query.',
      }),
    ),
    k: Type.Optional(
      Type.Integer({
        minimum: K_MIN,
        maximum: K_MAX,
        description: `Maximum number of hits. Default: ${K_DEFAULT}.`,
      }),
    ),
    filter: Type.Optional(Ref(FilterSchema)),
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
    description: 'At least one of `query` and `image_b64`; with both, both are searched and fused.',
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
  },
  { $id: 'WorkspaceExtend' },
);

export type WorkspaceExtend = Static<typeof WorkspaceExtendSchema>;
