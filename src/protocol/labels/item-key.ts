import { FarthingError } from '../error.ts';

/** Characters. */
export const ITEM_KEY_MAX = 512;

/** An uploader's own name for an Item: one Item has it at a time. @throws field_invalid */
export function readKey(text: string): string {
  if (text.length >= 1 && text.length <= ITEM_KEY_MAX && !hasControls(text)) return text;
  throw new FarthingError(
    'field_invalid',
    `key: send 1 to ${ITEM_KEY_MAX} characters without control characters, such as a path.`,
    { facts: { field: 'key' } },
  );
}

function hasControls(text: string): boolean {
  return [...text].some((letter) => letter < ' ' || letter === '\u007f');
}
