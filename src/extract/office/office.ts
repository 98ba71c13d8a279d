import type { FileInfo } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import type { PageKind } from '../../domain/segment.ts';
import { Zip } from '../archive/zip.ts';
import { unsupported } from '../reading/refusal.ts';
import { readDocx } from './docx.ts';
import { readEpub } from './epub.ts';
import { readOdf } from './odf.ts';
import type { OfficeContent } from './office-content.ts';
import { readPptx } from './pptx.ts';
import { readXlsx } from './xlsx.ts';

interface OfficeFormat {
  readonly pageKind?: PageKind;
  readonly read: (zip: Zip) => OfficeContent;
}

const OOXML = 'application/vnd.openxmlformats-officedocument';
const ODF = 'application/vnd.oasis.opendocument';

export const OFFICE_FORMATS: Readonly<Record<string, OfficeFormat>> = {
  [`${OOXML}.wordprocessingml.document`]: { read: readDocx },
  [`${OOXML}.presentationml.presentation`]: { pageKind: 'slide', read: readPptx },
  [`${OOXML}.spreadsheetml.sheet`]: { pageKind: 'sheet', read: readXlsx },
  [`${ODF}.text`]: { read: readOdf },
  [`${ODF}.presentation`]: { pageKind: 'slide', read: readOdf },
  [`${ODF}.spreadsheet`]: { pageKind: 'sheet', read: readOdf },
  'application/epub+zip': { pageKind: 'chapter', read: readEpub },
};

const MAIN_PARTS: readonly (readonly [part: string, type: string])[] = [
  ['word/document.xml', `${OOXML}.wordprocessingml.document`],
  ['ppt/presentation.xml', `${OOXML}.presentationml.presentation`],
  ['xl/workbook.xml', `${OOXML}.spreadsheetml.sheet`],
];

/** What says that an archive is one document of a program, and no collection of files. */
const DOCUMENT_PARTS: readonly (readonly [part: string, type: string])[] = [
  ['[Content_Types].xml', 'application/vnd.openxmlformats-package'],
  ['META-INF/MANIFEST.MF', 'application/java-archive'],
];

/**
 * Which office file an archive is; undefined for an archive of files.
 * @throws media_type_unsupported for other programs' documents; file_corrupt, file_encrypted, document_too_large.
 */
export function officeType(bytes: Uint8Array): string | undefined {
  const zip = new Zip(bytes);
  const known = MAIN_PARTS.find(([part]) => zip.names.has(part))?.[1];
  const type =
    known ?? zip.text('mimetype')?.trim() ?? DOCUMENT_PARTS.find(([part]) => zip.names.has(part))?.[1];
  if (type === undefined || !/^application\/[\w.+-]{1,100}$/.test(type)) return undefined;
  if (!Object.hasOwn(OFFICE_FORMATS, type)) throw unsupported(type);
  return type;
}

/** Whether a compound file (of older office programs) is a newer document that a password encrypts (MS-OFFCRYPTO 1.3.2). */
export function isEncryptedOffice(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(
    Buffer.from('EncryptedPackage', 'utf16le'),
  );
}

/** Reads all of it: these are small, and damage in any part is found before anybody pays. @throws as officeType. */
export function openOffice(bytes: Uint8Array, mediaType: string): FileInfo {
  const { blocks, title, pages, pictures } = readOffice(bytes, mediaType);
  if (blocks.length === 0 && pictures.length === 0)
    throw new FarthingError('file_empty', 'The file holds no text and no pictures.');
  const { pageKind } = OFFICE_FORMATS[mediaType]!;
  return {
    kind: 'document',
    mediaType,
    ...(pages !== undefined && pageKind && { pages, pageKind }),
    ...(title !== undefined && { title }),
  };
}

export function readOffice(bytes: Uint8Array, mediaType: string): OfficeContent {
  const format = OFFICE_FORMATS[mediaType];
  if (!format) throw unsupported(mediaType);
  return format.read(new Zip(bytes));
}
