import { fileTypeFromBuffer } from 'file-type';
import { decodeText } from './charset.ts';
import { looksLikeHtml } from './html.ts';
import { looksLikeMarkdown } from './markdown.ts';
import type { PictureType } from './picture.ts';
import { unsupported } from './refusal.ts';

/** A file's type by its content. */
export type Recognised =
  | {
      readonly kind: 'text';
      readonly mediaType: 'text/plain' | 'text/markdown' | 'text/html';
      readonly text: string;
    }
  | { readonly kind: 'document'; readonly mediaType: 'application/pdf' }
  | { readonly kind: 'picture'; readonly mediaType: PictureType };

/** A PDF may begin within the first 1,024 bytes (ISO 32000-1, implementation note 13 of Adobe's reader). */
const PDF_PROBE_BYTES = 1024;
/** What a recogniser needs to see of a binary file. */
const BINARY_PROBE_BYTES = 256 * 1024;

const PICTURES: Readonly<Record<string, PictureType>> = {
  'image/jpeg': 'image/jpeg',
  'image/png': 'image/png',
  'image/apng': 'image/png',
  'image/webp': 'image/webp',
  'image/bmp': 'image/bmp',
};

/** Formats that are written in letters and need a reader of their own. */
const LETTERED: readonly [RegExp, string][] = [
  [/^\{\\rtf/, 'application/rtf'],
  [/^%!PS/, 'application/postscript'],
  [/^(<\?xml[^>]{0,500}\?>|<!--[\s\S]{0,2000}?-->|<!doctype[^>]{0,500}>|\s)*<svg[\s>]/i, 'image/svg+xml'],
  [/^<\?xml[\s]/, 'application/xml'],
];

/**
 * What the bytes are. The name is only asked whether text is meant as Markdown.
 * @throws media_type_unsupported with the list of what can be read.
 */
export async function recognise(bytes: Uint8Array, name: string | undefined): Promise<Recognised> {
  if (
    Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_PROBE_BYTES)).includes('%PDF-')
  ) {
    return { kind: 'document', mediaType: 'application/pdf' };
  }
  const text = decodeText(bytes);
  if (text !== undefined) return recogniseText(text, name);
  const found = await fileTypeFromBuffer(bytes.subarray(0, BINARY_PROBE_BYTES)).catch(() => undefined);
  const picture = found && PICTURES[found.mime];
  if (!picture) throw unsupported(found?.mime);
  return { kind: 'picture', mediaType: picture };
}

function recogniseText(text: string, name: string | undefined): Recognised {
  const start = text
    .slice(0, 8192)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (looksLikeHtml(start)) return { kind: 'text', mediaType: 'text/html', text };
  const lettered = LETTERED.find(([pattern]) => pattern.test(start));
  if (lettered) throw unsupported(lettered[1]);
  return { kind: 'text', mediaType: looksLikeMarkdown(text, name) ? 'text/markdown' : 'text/plain', text };
}
