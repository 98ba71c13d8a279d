import { Type } from '@sinclair/typebox';
import { FILTER_CONDITIONS_MAX, FILTER_DEPTH_MAX, FILTER_VALUES_MAX, type Filter } from '../labels/filter.ts';
import {
  METADATA_FIELDS_MAX,
  METADATA_JSON_MAX,
  METADATA_NAME_MAX,
  METADATA_TEXT_MAX,
  type Metadata,
} from '../labels/metadata.ts';

const Scalar = Type.Union([Type.String({ maxLength: METADATA_TEXT_MAX }), Type.Number(), Type.Boolean()]);

/** Flat metadata of a file, as its uploader gave it. */
export const MetadataSchema = Type.Unsafe<Metadata>(
  Type.Record(Type.String({ minLength: 1, maxLength: METADATA_NAME_MAX }), Scalar, {
    maxProperties: METADATA_FIELDS_MAX,
    description: `Flat: strings, numbers and booleans by name; at most ${METADATA_JSON_MAX} characters as JSON.`,
  }),
);

export const ConditionSchema = Type.Object(
  {
    eq: Type.Optional(Scalar),
    in: Type.Optional(Type.Array(Scalar)),
    gt: Type.Optional(Scalar),
    gte: Type.Optional(Scalar),
    lt: Type.Optional(Scalar),
    lte: Type.Optional(Scalar),
    exists: Type.Optional(Type.Boolean()),
  },
  {
    $id: 'Condition',
    additionalProperties: false,
    description: 'All that is named holds. A value is only compared with values of its own type.',
  },
);

const Texts = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())], { description }));
/** Not a reference to the filter itself: catalogues, generators of clients and language models' tools fail at schemas in a circle. */
const Inner = Type.Unsafe<Filter>(
  Type.Object({}, { additionalProperties: true, description: 'A filter as the one that it stands in.' }),
);

const MEMBERS = {
  items: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Ids of items. That of an archive or a mail stands for the files inside, too.',
    }),
  ),
  media_type: Texts('`application/pdf`; `image/*`; or a list.'),
  name: Texts(
    'Pattern of the file name, or of the path in an archive: `*` any characters, `?` one. Case does not matter. Or a list.',
  ),
  key: Texts('Pattern of the key that the uploader gave. Or a list.'),
  created_after: Type.Optional(
    Type.String({ description: 'Accepted at this time (RFC 3339, or a date) or later.' }),
  ),
  created_before: Type.Optional(Type.String({ description: 'Accepted before this time.' })),
};
const METADATA = 'By field: a value, a list of values, or conditions such as `{"gte": 2020, "lt": 2024}`.';

export const FilterSchema = Type.Object(
  {
    ...MEMBERS,
    metadata: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Union([Scalar, Type.Array(Scalar), Type.Unsafe(Type.Ref(ConditionSchema.$id!))]),
        { description: METADATA },
      ),
    ),
    and: Type.Optional(Type.Array(Inner, { description: 'Each of these holds.' })),
    or: Type.Optional(Type.Array(Inner, { description: 'One of these holds, at least.' })),
    not: Type.Optional(Inner),
  },
  {
    $id: 'Filter',
    additionalProperties: false,
    description: `Which items may be found: all that is named holds. At most ${FILTER_CONDITIONS_MAX} conditions, ${FILTER_VALUES_MAX} values in lists, ${FILTER_DEPTH_MAX} levels.`,
  },
);
