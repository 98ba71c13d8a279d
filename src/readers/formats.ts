import { RECORDING_NAMES, RECORDING_TYPES } from './media/recordings.ts';
import { PICTURE_NAMES, PICTURE_TYPES } from './picture/picture-types.ts';
import type { MakeReader } from './reading/format-reader.ts';

/** A format of files that can be read. */
export interface Format {
  /** As items have it. */
  readonly mediaType: string;
  /** What people call it. Refusals, the API's description, agents.md and docs/api.md list these names. */
  readonly name: string;
  /** True where each file inside becomes an item, and the file holds nothing else. */
  readonly isArchive: boolean;
  /** Loads its reader, with the libraries that it needs. Only a reader process calls it. */
  readonly load: () => Promise<MakeReader>;
}

const OOXML = 'application/vnd.openxmlformats-officedocument';
const XLSB = 'application/vnd.ms-excel.sheet.binary.macroenabled.12';
const ODF = 'application/vnd.oasis.opendocument';

/**
 * Every format that can be read. The order is that of recognition: the first reader whose `sniff` says true gets the file.
 * Formats with a signature come before those that are guessed from text; plain text is the last.
 *
 * A new format takes a module with its reader (text/csv.ts is a short one), a line here and one in `HOW_READ`, a sample in
 * test/readers/samples/formats, and a test of what it reads. `make docs` writes its name and how it is read into the documentation.
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
  format('text/x-ssa', 'ASS', async () => (await import('./text/cues.ts')).subStation),
  format('application/ttml+xml', 'TTML', async () => (await import('./text/cues.ts')).timedText),
  format('text/x-lrc', 'LRC', async () => (await import('./text/cues.ts')).lyrics),
  format('application/json', 'JSON', async () => (await import('./text/json.ts')).json),
  format('application/jsonl', 'JSON Lines', async () => (await import('./text/json.ts')).jsonLines),
  format('application/xml', 'XML', async () => (await import('./text/plain-xml.ts')).plainXml),
  format('text/csv', 'CSV', async () => (await import('./text/csv.ts')).csv),
  format('text/markdown', 'Markdown', async () => (await import('./text/markdown.ts')).markdown),
  format('text/plain', 'plain text', async () => (await import('./text/plain.ts')).plain),
];

/** How formats are read, by their names: what | with what | what is not read, and reported | limits. The table of docs/files.md. */
export const HOW_READ: Readonly<Record<string, string>> = {
  PDF: 'text by pages with boxes, columns apart, tables by their columns; form values, XFA, notes, bookmarks, author and keywords; files inside as items; pages without letters, or with a wrong table of letters, by OCR, turned where that reads better | PDFium, PP-OCR | text that makes no difference to the page (white, covered, cut off, a layer that is off), tiny and off-page text; letters without a code | 5,000 pages, 1,000 files inside, of those pinned to pages on the first 200; 5,000 notes and fields a page',
  DOCX: 'text by headings with list numbers, tables, links, descriptions of pictures, notes, comments with authors, headers and footers once, text boxes, charts, SmartArt, equations in a line, `altChunk`; documents inside as items | own, parts by relationship | hidden (also white and tiny) and deleted text, unknown symbols, OLE objects | 10,000 parts of 256 MiB, 100 files inside, 50 pictures',
  PPTX: 'titles, text, tables, links, descriptions of pictures, notes, comments, charts, SmartArt, what masters show, hidden slides marked | own | hidden shapes, white, tiny and off-slide text | as DOCX',
  XLSX: 'rows below the names of their columns, also in two rows and merged; numbers as shown, links, dates in ISO 8601, comments, text boxes, charts, headers and footers once, hidden sheets, rows and columns marked | own | formulas without a value (the formula is given), values that a format or their colour hides | 2 million cells, 1,000 columns',
  'ODT, ODP, ODS, FODT, FODP, FODS':
    'text, tables, links, values of cells without a text, notes, remarks, headers and footers once, pictures | own | charts and other objects, formulas without a value, hidden text | as DOCX',
  DOC: 'text, notes, comments, headers, footers, text boxes | word-extractor | pictures; a password is refused |',
  'XLS, XLSB': 'as XLSX | SheetJS | pictures, charts, text boxes | as XLSX',
  PPT: 'titles, text, notes | own | pictures, charts |',
  MSG: 'head, text (plain, HTML or RTF); attachments as items | msgreader | | 1,000 attachments',
  EPUB: 'chapters of the spine with their notes | own | copy-protected and missing chapters | as DOCX',
  Parquet:
    'rows with the names of their columns, nested values as JSON | hyparquet | bytes that are no text | 2 million cells, groups of rows of 256 MiB',
  SQLite:
    'rows of each table with the names of its columns | own | tables without row numbers, virtual tables, blobs, what is only in a log beside it | 2 million cells, 1,000 tables, 2,000 columns',
  'zip, tar, tar.gz, gz, bz2, xz, zst, 7z':
    'each file as an item, also in archives in archives, 2 deep; names of users in a Slack export | own, Node, unbzip2, xz | members with a password, damaged, too large, or packed in an unknown way (PPMd): refused alone | 1,000 members of 512 MiB; in a 7z, files packed together 256 MiB',
  [PICTURE_NAMES]:
    'the picture, frames and pages; writing in it by OCR, in an animation with its time; EXIF | libvips, libheif, PP-OCR | frames in which no writing was looked for, where others have some | 100 million pixels; writing: 500 pages, 1,500 lines a page, 20 frames; 200 frames of an animation; 50 pages are kept as pictures; a caption: 5,000 characters',
  [RECORDING_NAMES]:
    'frames, subtitles, chapters, tags, covers, what is said and where | FFmpeg, Silero VAD, Whisper | shots and covers beyond a limit | 4 hours, 1,000 shots, 1,000 chapters; a tag: 20,000 characters',
  HTML: 'description, body with tables by their columns, forms, asides, footers, formulas, frames in the page; where links lead, at the end | html-to-text | navigation, what attributes, style sheets in the page and colours hide | 500,000 tags, 1,000 deep',
  'mbox, EML':
    'head, plain text, HTML where that says more; attachments, each mail of a mbox, as items | postal-mime | inline pictures | 10,000 parts',
  RTF: 'text in its code pages, links, notes, comments, text boxes, headers and footers once | own | hidden and deleted text, pictures, objects | groups 500 deep',
  'iCalendar, vCard': 'a paragraph for each event, with its time zone, or card | own | photos |',
  'SubRip, WebVTT, ASS, TTML, LRC':
    'each cue with `time_s`, speakers by name | own, saxes | comments, drawings |',
  'JSON, JSON Lines':
    'each value with its name; records apart; of a notebook text, code and printed output; of a chat (Telegram, Slack, Discord) a paragraph for each message, with name and time | own | base64, damaged lines, pictures of notebooks | 1,000 deep',
  XML: 'elements, telling attributes, section titles, also of JATS; labels of draw.io | saxes | base64, damaged markup: read by tags | 1,000 deep',
  CSV: 'any of `,` `;` tab `\\|`, `sep=`; column names in each row, also below lines of preamble | own | from the 1,001st column on | 1,000 columns',
  Markdown:
    'headings, front matter, code, footnotes, HTML tables; where links lead, at the end | own | pictures in data URIs |',
  'plain text': 'all, in any character set below, without colours of a terminal | chardetng | base64, PGP |',
};

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
