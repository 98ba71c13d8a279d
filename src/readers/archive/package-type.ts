import { walkXml } from '../text/xml.ts';
import { documentPart } from './relationships.ts';
import { Zip } from './zip.ts';
import { isZip } from './zip-directory.ts';

const OOXML = 'application/vnd.openxmlformats-officedocument';
const DOCX = `${OOXML}.wordprocessingml.document`;
const PPTX = `${OOXML}.presentationml.presentation`;
const XLSX = `${OOXML}.spreadsheetml.sheet`;
const XLSB = 'application/vnd.ms-excel.sheet.binary.macroenabled.12';

/** Types of main parts, of documents, templates and shows, with and without macros. */
const MAIN_TYPES: readonly (readonly [contentType: RegExp, mediaType: string])[] = [
  [/wordprocessingml\.(document|template)|ms-word\.(document|template)/, DOCX],
  [/presentationml\.(presentation|template|slideshow)|ms-powerpoint\./, PPTX],
  [/ms-excel\.sheet\.binary/, XLSB],
  [/spreadsheetml\.(sheet|template)|ms-excel\.(sheet|template|addin)/, XLSX],
];

/** Main parts of packages that say no type, and parts that only packages have. */
const PARTS: readonly (readonly [part: string, mediaType: string])[] = [
  ['word/document.xml', DOCX],
  ['ppt/presentation.xml', PPTX],
  ['xl/workbook.xml', XLSX],
  ['[Content_Types].xml', 'application/vnd.openxmlformats-package'],
  ['META-INF/MANIFEST.MF', 'application/java-archive'],
];

/**
 * The media type of a zip that is one document or package of a program: by the type of the part that is its document, by its
 * member `mimetype` (as OpenDocument and EPUB have it), or by a part that only packages have. Undefined for a zip of files,
 * and for what is no zip. @throws file_corrupt, file_encrypted, document_too_large.
 */
export function packageType(bytes: Uint8Array): string | undefined {
  if (!isZip(bytes)) return undefined;
  const zip = new Zip(bytes);
  const type =
    documentType(zip) ?? zip.text('mimetype')?.trim() ?? PARTS.find(([part]) => zip.has(part))?.[1];
  return type !== undefined && /^application\/[\w.+-]{1,100}$/.test(type) ? type : undefined;
}

function documentType(zip: Zip): string | undefined {
  if (!zip.has('[Content_Types].xml')) return undefined;
  const part = documentPart(zip);
  const source = part === undefined ? undefined : zip.text('[Content_Types].xml');
  if (part === undefined || source === undefined) return undefined;
  let contentType = '';
  walkXml(source, {
    open: (name, { PartName = '', ContentType = '' }) => {
      if (name === 'Override' && PartName.toLowerCase() === `/${part.toLowerCase()}`)
        contentType = ContentType;
    },
  });
  return MAIN_TYPES.find(([known]) => known.test(contentType))?.[1];
}
