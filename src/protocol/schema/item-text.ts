import { Type } from '@sinclair/typebox';
import { TEXT_SOURCES } from '../file/segment.ts';
import type { ItemId } from '../id.ts';
import { described, Id, OneOf, Ref, type Shape } from './fields.ts';
import { LocatorSchema } from './search.ts';

export const ItemTextSchema = Type.Object(
  {
    id: Id<ItemId>(),
    passages: Type.Array(
      Type.Object({
        text: Type.String(),
        locator: Ref(LocatorSchema),
        text_source: Type.Optional(OneOf(TEXT_SOURCES)),
        speech_confidence: Type.Optional(
          Type.Number({ minimum: 0, maximum: 1, description: 'Of `speech`, which a model heard.' }),
        ),
      }),
      described('In the order of the file, without gaps.'),
    ),
    next: Type.Union(
      [Type.Integer({ minimum: 1 }), Type.Null()],
      described('`from` of the passages that follow; null at the end.'),
    ),
  },
  { $id: 'ItemText' },
);

/** The text of an item, or of a part of it, as the search sees it. */
export type ItemTextAnswer = Shape<typeof ItemTextSchema>;
