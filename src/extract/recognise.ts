import { fileTypeFromBuffer } from 'file-type';
import { FarthingError } from '../domain/error.ts';
import { type ArchiveType, archiveType } from './archive/archive.ts';
import { looksLikeMail } from './mail/mail.ts';
import { mediaFormat } from './media/recordings.ts';
import { isEncryptedOffice, officeType } from './office/office.ts';
import { type PictureType, pictureTypeOf } from './picture/picture.ts';
import { unsupported } from './reading/refusal.ts';
import { decodeText } from './text/charset.ts';
import { csvSeparator } from './text/csv.ts';
import { looksLikeHtml } from './text/html.ts';
import { looksLikeMarkdown } from './text/markdown.ts';
import type { TEXT_READERS } from './text/text-format.ts';

type TextType = keyof typeof TEXT_READERS;

/** A file's type by its content. */
export type Recognised =
  | {
      readonly kind: 'text';
      readonly mediaType: TextType;
      readonly text: string;
    }
  | { readonly kind: 'document'; readonly mediaType: 'application/pdf' }
  | { readonly kind: 'office'; readonly mediaType: string }
  | { readonly kind: 'mail' }
  | { readonly kind: 'archive'; readonly mediaType: ArchiveType }
  | { readonly kind: 'video' | 'audio'; readonly mediaType: string }
  | { readonly kind: 'picture'; readonly mediaType: PictureType };

/** A PDF may begin within the first 1,024 bytes (ISO 32000-1, implementation note 13 of Adobe's reader). */
const PDF_PROBE_BYTES = 1024;
/** What a recogniser needs to see of a binary file. */
const BINARY_PROBE_BYTES = 256 * 1024;

const COMPOUND_START = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, at) => bytes[at] === byte);
}

/** Formats that are written in letters and need a reader of their own. */
const LETTERED: readonly [RegExp, string][] = [[/^%!PS/, 'application/postscript']];

/**
 * What the bytes are. The name is only asked whether text is meant as Markdown.
 * @throws media_type_unsupported with the list of what can be read.
 */
export async function recognise(bytes: Uint8Array, name: string | undefined): Promise<Recognised> {
  const pdfAt = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_PROBE_BYTES)).indexOf(
    '%PDF-',
  );
  // Text may speak of the mark; a PDF with something before it is hardly ever text all through.
  if (pdfAt === 0 || (pdfAt > 0 && (decodeText(bytes) === undefined || hasPdfEnd(bytes))))
    return { kind: 'document', mediaType: 'application/pdf' };
  const archive = archiveType(bytes);
  if (archive === 'application/zip') {
    const office = officeType(bytes);
    if (office) return { kind: 'office', mediaType: office };
  }
  if (archive) return { kind: 'archive', mediaType: archive };
  if (startsWith(bytes, COMPOUND_START) && isEncryptedOffice(bytes))
    throw new FarthingError('file_encrypted', 'The document is encrypted. Send it without a password.');
  const text = decodeText(bytes);
  const isText = text !== undefined;
  const picture = await pictureTypeOf(bytes);
  if (picture && (!isText || picture === 'image/svg+xml')) return { kind: 'picture', mediaType: picture };
  if (isText) return recogniseText(text, name);
  const found = await fileTypeFromBuffer(bytes.subarray(0, BINARY_PROBE_BYTES)).catch(() => undefined);
  const media = found && mediaFormat(found.mime);
  if (media) return { kind: media.kind, mediaType: media.mediaType };
  throw unsupported(found?.mime);
}

/** What a PDF ends with, and speaking of its beginning hardly does. */
function hasPdfEnd(bytes: Uint8Array): boolean {
  const end = Buffer.from(bytes.subarray(Math.max(0, bytes.length - PDF_PROBE_BYTES)));
  return /startxref\s+\d+\s+%%EOF/.test(end.toString('latin1'));
}

function recogniseText(text: string, name: string | undefined): Recognised {
  const start = text
    .slice(0, 8192)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (looksLikeHtml(start)) return { kind: 'text', mediaType: 'text/html', text };
  if (looksLikeMail(text)) return { kind: 'mail' };
  const lettered = LETTERED.find(([pattern]) => pattern.test(start));
  if (lettered) throw unsupported(lettered[1]);
  return { kind: 'text', mediaType: textType(start, text, name), text };
}

function textType(start: string, text: string, name: string | undefined): TextType {
  if (/^\{\\rtf/.test(start)) return 'application/rtf';
  if (/^<\?xml\s/.test(start)) return 'application/xml';
  if (csvSeparator(start) !== undefined) return 'text/csv';
  return looksLikeMarkdown(text, name) ? 'text/markdown' : 'text/plain';
}
