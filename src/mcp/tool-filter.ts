import type { Filter } from '@farthing/protocol/labels/filter';
import { DIRECTIONS, type Order } from '@farthing/protocol/labels/order';
import { Type } from '@sinclair/typebox';

const text = (description: string) => ({ type: 'string', description });
const texts = (description: string) => ({ type: ['string', 'array'], description });

/** A search's filter as a tool's argument. The server validates its content and names it in errors. */
export const toolFilter = Type.Unsafe<Filter>({
  type: 'object',
  maxProperties: 10,
  description: 'Search only in files for which all that is named holds.',
  properties: {
    items: { type: 'array', items: { type: 'string' }, description: 'Ids of items.' },
    media_type: texts('application/pdf; image/*; or a list.'),
    name: texts('Pattern of the file name: *.pdf; or a list.'),
    key: texts('Pattern of the key that a file was given; or a list.'),
    created_after: text('Added at this time (RFC 3339, or a date) or later.'),
    created_before: text('Added before this time.'),
    metadata: {
      type: 'object',
      description:
        'By field a value, a list of values, or conditions: {"year": {"gte": 2020, "lt": 2024}}. Also eq, in, gt, lte, exists.',
    },
    and: { type: 'array', items: { type: 'object' }, description: 'Filters that all hold.' },
    or: { type: 'array', items: { type: 'object' }, description: 'Filters of which one holds.' },
    not: { type: 'object', description: 'A filter that does not hold.' },
  },
});

/** A search's order as a tool's argument. The server validates it. */
export const toolOrder = Type.Unsafe<Order>({
  type: 'object',
  maxProperties: 3,
  description: 'The order of the hits by a value of their files. Default: the likelier first.',
  properties: {
    by: text('created_at (newest first), or a field of the metadata: metadata.year.'),
    direction: { type: 'string', enum: DIRECTIONS, description: 'Default: descending.' },
    decay: {
      type: 'object',
      description:
        'Instead of the value alone: confidence that halves with each half_life (days for times) from `from` (default: now).',
    },
  },
});
