import { RECORDING_TYPES } from './media/recordings.ts';
import { PICTURE_TYPES } from './picture/picture-types.ts';
import type { MakeReader } from './reading/format-reader.ts';

/** A format of files that can be read. */
export interface Format {
  /** As items have it. */
  readonly mediaType: string;
  /** What people call it. Refusals, the API's description and docs/api.md list these names. */
  readonly name: string;
  /** True where each file inside becomes an item, and the file holds nothing else. */
  readonly isArchive: boolean;
  /** Loads its reader, with the libraries that it needs. Only a child process that reads files calls it. */
  readonly load: () => Promise<MakeReader>;
}

const OOXML = 'application/vnd.openxmlformats-officedocument';
const XLSB = 'application/vnd.ms-excel.sheet.binary.macroenabled.12';
const ODF = 'application/vnd.oasis.opendocument';

/**
 * Every format that can be read. The order is that of recognition: the first reader whose `sniff` says true gets the file.
 * Formats with a signature come before those that are guessed from text; plain text is the last.
 *
 * A new format takes a module with its reader (text/csv.ts is a short one), a line here, a sample in
 * test/readers/samples/formats, its name in docs/api.md, and a test of what it reads.
 */
export const FORMATS: readonly Format[] = [
  format('application/pdf', 'PDF', async () => (await import('./pdf/pdf.ts')).pdf),
  format(`${OOXML}.wordprocessingml.document`, 'DOCX', async () => (await import('./office/docx.ts')).docx),
  format(`${OOXML}.presentationml.presentation`, 'PPTX', async () => (await import('./office/pptx.ts')).pptx),
  format(`${OOXML}.spreadsheetml.sheet`, 'XLSX', async () => (await import('./office/xlsx.ts')).xlsx),
  format(`${ODF}.text`, 'ODT', async () => (await import('./office/odf.ts')).odf),
  format(`${ODF}.presentation`, 'ODP', async () => (await import('./office/odf.ts')).odf),
  format(`${ODF}.spreadsheet`, 'ODS', async () => (await import('./office/odf.ts')).odf),
  ...[
    ['text', 'FODT'],
    ['presentation', 'FODP'],
    ['spreadsheet', 'FODS'],
  ].map(([type, name]) =>
    format(`${ODF}.${type}-flat-xml`, name!, async () => (await import('./office/odf.ts')).flatOdf),
  ),
  format('application/msword', 'DOC', async () => (await import('./legacy/doc.ts')).doc),
  format('application/vnd.ms-excel', 'XLS', async () => (await import('./legacy/xls.ts')).xls),
  format(XLSB, 'XLSB', async () => (await import('./legacy/xls.ts')).xlsb),
  format('application/vnd.ms-powerpoint', 'PPT', async () => (await import('./legacy/ppt.ts')).ppt),
  format('application/vnd.ms-outlook', 'MSG', async () => (await import('./legacy/msg.ts')).msg),
  format('application/epub+zip', 'EPUB', async () => (await import('./office/epub.ts')).epub),
  format(
    'application/vnd.apache.parquet',
    'Parquet',
    async () => (await import('./tables/parquet.ts')).parquet,
  ),
  format('application/vnd.sqlite3', 'SQLite', async () => (await import('./tables/sqlite.ts')).sqlite),
  archive('application/zip', 'zip', async () => (await import('./archive/zip-archive.ts')).zip),
  archive('application/x-tar', 'tar', async () => (await import('./archive/tar-archive.ts')).tar),
  archive('application/gzip', 'tar.gz, gz', async () => (await import('./archive/tar-archive.ts')).gzip),
  archive('application/x-bzip2', 'bz2', async () => (await import('./archive/tar-archive.ts')).bzip2),
  archive('application/x-xz', 'xz', async () => (await import('./archive/tar-archive.ts')).xz),
  archive('application/zstd', 'zst', async () => (await import('./archive/tar-archive.ts')).zstd),
  archive(
    'application/x-7z-compressed',
    '7z',
    async () => (await import('./archive/seven-zip/seven-zip-archive.ts')).sevenZip,
  ),
  ...PICTURE_TYPES.map(({ mediaType, name }) =>
    format(mediaType, name, async () => (await import('./picture/picture.ts')).picture),
  ),
  ...RECORDING_TYPES.map(({ mediaType, name }) =>
    format(mediaType, name, async () => (await import('./media/recording-reader.ts')).recording),
  ),
  format('text/html', 'HTML', async () => (await import('./text/html.ts')).html),
  archive('application/mbox', 'mbox', async () => (await import('./mail/mbox.ts')).mbox),
  format('message/rfc822', 'EML', async () => (await import('./mail/mail.ts')).mail),
  format('application/rtf', 'RTF', async () => (await import('./text/rtf.ts')).rtf),
  format('text/calendar', 'iCalendar', async () => (await import('./text/content-lines.ts')).calendar),
  format('text/vcard', 'vCard', async () => (await import('./text/content-lines.ts')).card),
  format('application/x-subrip', 'SubRip', async () => (await import('./text/cues.ts')).subRip),
  format('text/vtt', 'WebVTT', async () => (await import('./text/cues.ts')).webVtt),
  format('application/json', 'JSON', async () => (await import('./text/json.ts')).json),
  format('application/jsonl', 'JSON Lines', async () => (await import('./text/json.ts')).jsonLines),
  format('application/xml', 'XML', async () => (await import('./text/plain-xml.ts')).plainXml),
  format('text/csv', 'CSV', async () => (await import('./text/csv.ts')).csv),
  format('text/markdown', 'Markdown', async () => (await import('./text/markdown.ts')).markdown),
  format('text/plain', 'plain text', async () => (await import('./text/plain.ts')).plain),
];

/** For programs. */
export const READABLE_TYPES: readonly string[] = FORMATS.map(({ mediaType }) => mediaType);

/** For people: "PDF, DOCX, …, plain text, or a zip, tar, tar.gz, gz of such files". */
export const READABLE_NAMES = `${namesOf(false)}, or a ${namesOf(true)} of such files`;

function namesOf(archives: boolean): string {
  return FORMATS.filter(({ isArchive }) => isArchive === archives)
    .map(({ name }) => name)
    .join(', ');
}

function format(mediaType: string, name: string, load: Format['load']): Format {
  return { mediaType, name, load, isArchive: false };
}

function archive(mediaType: string, name: string, load: Format['load']): Format {
  return { mediaType, name, load, isArchive: true };
}
