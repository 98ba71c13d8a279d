import { ITEM_KEY_MAX } from '@farthing/protocol/labels/item-key';
import { METADATA_JSON_MAX } from '@farthing/protocol/labels/metadata';
import { Type } from '@sinclair/typebox';

/** Descriptions of an upload's labels: fields of a form, or headers beside a raw body. */

const KEY =
  'Your own name for the file. An item with the same key is replaced in one commit; the same bytes, name and metadata change nothing.';
const METADATA = 'JSON object of strings, numbers and booleans, which filters of searches ask for.';

/** Fields of the form beside the file. */
export const LABEL_FIELDS = {
  key: Type.Optional(Type.String({ minLength: 1, maxLength: ITEM_KEY_MAX, description: KEY })),
  metadata: Type.Optional(Type.String({ maxLength: METADATA_JSON_MAX, description: METADATA })),
};

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description,
});

export const LABEL_PARAMETERS = [
  header('Item-Key', `With a raw body, percent-encoded: ${KEY}`),
  header('Item-Metadata', `With a raw body: ${METADATA}`),
  header('If-None-Match', '`*`, with a key: only if no item has it; otherwise 412.'),
  header(
    'If-Match',
    'Id of an item in quotation marks, with a key: only if this item has it; otherwise 412.',
  ),
];
