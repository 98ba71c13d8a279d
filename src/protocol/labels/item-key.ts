import { FarthingError } from '../error.ts';
import { canIdentify } from '../file/file-name.ts';

/** Characters. */
export const ITEM_KEY_MAX = 512;

/** An uploader's own name for an Item: one Item has it at a time. @throws field_invalid */
export function readKey(text: string): string {
  if (text.length >= 1 && text.length <= ITEM_KEY_MAX && canIdentify(text)) return text;
  throw new FarthingError(
    'field_invalid',
    `key: send 1 to ${ITEM_KEY_MAX} characters that can be seen, in UTF-8, such as a path: no control characters, none that turn the text around them.`,
    { facts: { field: 'key' } },
  );
}
