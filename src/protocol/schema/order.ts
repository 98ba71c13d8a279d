import { Type } from '@sinclair/typebox';
import { LIKE_ID_MAX, type Like } from '../labels/like.ts';
import { METADATA_NAME_MAX } from '../labels/metadata.ts';
import { DIRECTIONS } from '../labels/order.ts';
import { OneOf } from './fields.ts';

const DecaySchema = Type.Object(
  {
    half_life: Type.Number({
      exclusiveMinimum: 0,
      description:
        'Distance over which a hit’s weight halves: in days for times, else in the field’s own unit.',
    }),
    from: Type.Optional(
      Type.Union([Type.Number(), Type.String()], {
        description:
          'Where the weight is 1: a number, or a time (RFC 3339, or a date). Default: now; among numbers the greatest.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Hits go by `confidence` × `weight`, which each hit shows. Without: the `likely` hits (with `min_confidence`: all) go by the value alone, and the others follow.',
  },
);

export const OrderSchema = Type.Object(
  {
    by: Type.String({
      maxLength: 'metadata.'.length + METADATA_NAME_MAX,
      description:
        '`created_at`, when a file was added; or a field of your own metadata: `metadata.year`. Numbers, times or texts. Files without it come last.',
    }),
    direction: Type.Optional(
      OneOf(DIRECTIONS, {
        description: 'Default: descending, the newest or greatest first. Without `decay`.',
      }),
    ),
    decay: Type.Optional(DecaySchema),
  },
  {
    $id: 'Order',
    additionalProperties: false,
    maxProperties: 3,
    description:
      'The order of the hits. It is part of the scan: what comes early is found however many others match better.',
  },
);

const LikePlaceSchema = Type.Object(
  {
    item: Type.String({ maxLength: LIKE_ID_MAX, description: 'Id of an item.' }),
    page: Type.Optional(Type.Integer({ minimum: 1, description: 'This page of it.' })),
    time_s: Type.Optional(Type.Number({ minimum: 0, description: 'The moment at this second.' })),
    char_start: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The passage that begins here, as in the `locator` of a hit.',
      }),
    ),
    passage: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The passage with this number, as `text_from` of a hit.' }),
    ),
  },
  { additionalProperties: false },
);

/** A field that takes an item's id, or a place of it. */
export const LikeField = Type.Optional(
  Type.Unsafe<Like>(
    Type.Union([Type.String({ maxLength: LIKE_ID_MAX }), LikePlaceSchema], {
      description:
        'Instead of `query`: find what is like this item of the index (its id), or like one place of it, by what is stored of it. The item, or with a place that place, is not among the hits.',
    }),
  ),
);
