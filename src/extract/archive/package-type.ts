import { Zip } from './zip.ts';
import { isZip } from './zip-directory.ts';

const OOXML = 'application/vnd.openxmlformats-officedocument';

/** Main parts of packages that do not say their type. */
const MAIN_PARTS: readonly (readonly [part: string, mediaType: string])[] = [
  ['word/document.xml', `${OOXML}.wordprocessingml.document`],
  ['ppt/presentation.xml', `${OOXML}.presentationml.presentation`],
  ['xl/workbook.xml', `${OOXML}.spreadsheetml.sheet`],
];

/** Parts of packages whose main part is none of those. */
const PACKAGE_PARTS: readonly (readonly [part: string, mediaType: string])[] = [
  ['[Content_Types].xml', 'application/vnd.openxmlformats-package'],
  ['META-INF/MANIFEST.MF', 'application/java-archive'],
];

/**
 * The media type of a zip that is one document or package of a program: by its main part, by its member `mimetype` (as
 * OpenDocument and EPUB have it), or by a part that only packages have. Undefined for a zip of files, and for what is no
 * zip. @throws file_corrupt, file_encrypted, document_too_large.
 */
export function packageType(bytes: Uint8Array): string | undefined {
  if (!isZip(bytes)) return undefined;
  const zip = new Zip(bytes);
  const typeOf = (parts: typeof MAIN_PARTS) => parts.find(([part]) => zip.names.has(part))?.[1];
  const type = typeOf(MAIN_PARTS) ?? zip.text('mimetype')?.trim() ?? typeOf(PACKAGE_PARTS);
  return type !== undefined && /^application\/[\w.+-]{1,100}$/.test(type) ? type : undefined;
}
