import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import sharp from 'sharp';
import { tarGzOf, tarOf, zipOf } from './archives.ts';
import { oldSlides, oldWorkbook, outlookMail } from './legacy.ts';

const OOXML = 'application/vnd.openxmlformats-officedocument';
const ODF = 'application/vnd.oasis.opendocument';

const picture = sharp({ create: { width: 90, height: 70, channels: 3, background: '#7f3f1f' } });

function fixture(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, '../reports/other', name));
}

function odf(kind: string, body: string): Buffer {
  return zipOf({
    mimetype: `${ODF}.${kind}`,
    'content.xml': `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d">${body}</office:document-content>`,
  });
}

function flatOdf(kind: string): string {
  const body = {
    text: '<text:p>Words.</text:p>',
    presentation: '<draw:page><text:p>Words.</text:p></draw:page>',
    spreadsheet:
      '<table:table><table:table-row><table:table-cell><text:p>7</text:p></table:table-cell></table:table-row></table:table>',
  }[kind];
  return `<?xml version="1.0"?><office:document xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d" office:mimetype="${ODF}.${kind}"><office:body>${body}</office:body></office:document>`;
}

/** The head of an MP4 or QuickTime file (ISO/IEC 14496-12, 4.3). */
function brand(name: string): Buffer {
  const box = Buffer.alloc(24);
  box.writeUInt32BE(box.length, 0);
  box.write(`ftyp${name}`, 4);
  box.write('isom', 16);
  return Buffer.concat([box, Buffer.alloc(200)]);
}

/** The head of a Matroska file (RFC 8794, 11). */
function ebml(docType: string): Buffer {
  const field = Buffer.concat([Buffer.from([0x42, 0x82, 0x80 | docType.length]), Buffer.from(docType)]);
  const head = Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80 | field.length]), field]);
  return Buffer.concat([head, Buffer.alloc(200)]);
}

function riff(kind: string): Buffer {
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0'), Buffer.from(kind), Buffer.alloc(200)]);
}

/** Two pixels of 24 bits (BITMAPFILEHEADER, BITMAPINFOHEADER). */
function bmp(): Buffer {
  const bytes = Buffer.alloc(54 + 8);
  bytes.write('BM', 0);
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(2, 18);
  bytes.writeInt32LE(1, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

/** A file of each format in src/readers/formats.ts, in its order. A recording's is only its signature. */
export const FORMAT_SAMPLES: Readonly<Record<string, () => string | Buffer | Promise<Buffer>>> = {
  'application/pdf': () => readFileSync('samples/almanac.pdf'),
  [`${OOXML}.wordprocessingml.document`]: () =>
    zipOf({
      'word/document.xml':
        '<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Words.</w:t></w:r></w:p></w:body></w:document>',
    }),
  [`${OOXML}.presentationml.presentation`]: () =>
    zipOf({
      'ppt/presentation.xml': '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldId r:id="r1"/></p:presentation>',
      'ppt/_rels/presentation.xml.rels': '<R><Relationship Id="r1" Target="slides/slide1.xml"/></R>',
      'ppt/slides/slide1.xml': '<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:t>Words.</a:t></a:p></p:sld>',
    }),
  [`${OOXML}.spreadsheetml.sheet`]: () =>
    zipOf({
      'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': '<R><Relationship Id="r1" Target="worksheets/s.xml"/></R>',
      'xl/worksheets/s.xml':
        '<worksheet><sheetData><row><c r="A1"><v>7</v></c></row></sheetData></worksheet>',
    }),
  [`${ODF}.text`]: () => odf('text', '<text:p>Words.</text:p>'),
  [`${ODF}.presentation`]: () => odf('presentation', '<draw:page><text:p>Words.</text:p></draw:page>'),
  [`${ODF}.spreadsheet`]: () =>
    odf(
      'spreadsheet',
      '<table:table><table:table-row><table:table-cell><text:p>7</text:p></table:table-cell></table:table-row></table:table>',
    ),
  ...Object.fromEntries(
    ['text', 'presentation', 'spreadsheet'].map((kind) => [`${ODF}.${kind}-flat-xml`, () => flatOdf(kind)]),
  ),
  'application/msword': () => readFileSync('test/readers/reports/other/olefile-test.doc'),
  'application/vnd.ms-excel': () => oldWorkbook('biff8'),
  'application/vnd.ms-excel.sheet.binary.macroenabled.12': () => oldWorkbook('xlsb'),
  'application/vnd.ms-powerpoint': () => oldSlides([{ title: 'Plan', text: 'Words.', box: 'More words.' }]),
  'application/vnd.ms-outlook': () =>
    outlookMail({ subject: 'Lease', body: 'Words.', sender: 'Ann', file: 'a.txt', content: 'Ten years.' }),
  'application/epub+zip': () =>
    zipOf({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<container><rootfile full-path="book.opf"/></container>',
      'book.opf':
        '<package><manifest><item id="c" href="c.xhtml"/></manifest><spine><itemref idref="c"/></spine></package>',
      'c.xhtml': '<html><body><p>Words.</p></body></html>',
    }),
  'application/vnd.apache.parquet': () => fixture('depots.parquet'),
  'application/vnd.sqlite3': () => fixture('ledger.sqlite'),
  'application/zip': () => zipOf({ 'a.txt': 'Words.' }),
  'application/x-tar': () => tarOf({ 'a.txt': 'Words.' }),
  'application/gzip': () => tarGzOf({ 'a.txt': 'Words.' }),
  'application/x-bzip2': () =>
    Buffer.from(
      'QlpoOTFBWSZTWQVeC+wAAHD7hMmAAERAAXWAAIhkAJ5AAACACCAAVDKTJpoyGTamnpqCSKaB6jQBoaUq0M6EESASM53mkY3E2SQODD0fzuVqSTUjx96TfaMG0CX6Pqjt0cLmDORWpuSQPxdyRThQkAVeC+w=',
      'base64',
    ),
  'application/x-xz': () =>
    Buffer.from(
      '/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/AGZdADCLiofEDvKXpPh1PcWp7dmabcq1g/1enGONgOsDLZrQupSXkYl0zy2iu37tzYOl4JcCPjvmIO3EB5b65xeV0uhnoVCjWhYhP7UINhF2gG6jxC4Qv0e1j9sg2VhjXtewqiGSh9ewAAAAAMxn03521PG+AAGCAYBQAAA10KgsscRn+wIAAAAABFla',
      'base64',
    ),
  'application/zstd': () => zstdCompressSync(tarOf({ 'a.txt': 'Words.' })),
  'application/x-7z-compressed': () => readFileSync(join(import.meta.dirname, '../archive/7z/one.7z')),
  'image/jpeg': () => picture.clone().jpeg().toBuffer(),
  'image/png': () => picture.clone().png().toBuffer(),
  'image/webp': () => picture.clone().webp().toBuffer(),
  'image/gif': () => picture.clone().gif().toBuffer(),
  'image/tiff': () => picture.clone().tiff().toBuffer(),
  'image/avif': () => picture.clone().avif({ effort: 0 }).toBuffer(),
  'image/heic': () => readFileSync(join(import.meta.dirname, '../picture/heic/tiny.heic')),
  'image/svg+xml': () =>
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><title>Map</title><rect width="40" height="50" fill="#c33"/><text x="5" y="20">words</text></svg>',
  'image/bmp': bmp,
  'video/mp4': () => brand('isom'),
  'video/quicktime': () => brand('qt  '),
  'video/webm': () => ebml('webm'),
  'video/matroska': () => ebml('matroska'),
  'video/vnd.avi': () => riff('AVI '),
  'audio/wav': () => riff('WAVE'),
  'audio/mpeg': () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(500)]),
  'audio/flac': () => Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(200)]),
  'audio/ogg': () =>
    Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('OpusHead'), Buffer.alloc(200)]),
  'audio/mp4': () => brand('M4A '),
  'text/html': () => '<!doctype html><title>T</title><main><h1>A</h1><p>words</p></main>',
  'application/mbox': () =>
    ['one', 'two']
      .map(
        (word) =>
          `From a@b.c Mon Nov  3 10:00:00 2025\nFrom: a@b.c\nTo: d@e.f\nSubject: ${word}\nDate: Mon, 3 Nov 2025 10:00:00 +0000\n\nWords ${word}.\n\n`,
      )
      .join(''),
  'message/rfc822': () =>
    'From: a@b.c\nTo: d@e.f\nSubject: =?utf-8?Q?T=C3=A4st?=\nDate: Tue, 3 Nov 2026 10:00:00 +0100\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/html\n\n<p>Words</p>\n--x\nContent-Type: text/csv; name=a.csv\nContent-Disposition: attachment; filename=a.csv\nContent-Transfer-Encoding: base64\n\nYSxiCjEsMgo=\n--x--\n',
  'application/rtf': () => "{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 Words \\'e4 \\u228?\\par more}",
  'text/calendar': () =>
    'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Low wa\r\n ter\r\nDTSTART:20260311T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
  'text/vcard': () => 'BEGIN:VCARD\nVERSION:3.0\nFN:Ada Quill\nTEL:+44 1695 570000\nEND:VCARD\n',
  'application/x-subrip': () => '1\n00:00:04,000 --> 00:00:07,500\nGood evening.\n',
  'text/vtt': () => 'WEBVTT\n\n00:04.000 --> 00:07.500\n<v Ada>Good evening.\n',
  'application/json': () => '{"name": "Caf\\u00e9", "seats": [1, {"row": 12345678901234567890}]}',
  'application/jsonl': () => '{"name": "a"}\n{"name": "b", "deep": {"x": [1, 2]}}\n',
  'application/xml': () => '<?xml version="1.0"?><a><title>T</title><b>words</b></a>',
  'text/csv': () => 'part,price\nlens,400\nbulb,12\nwick,3\n',
  'text/markdown': () => '# Title\n\nSome *words*.\n\n- one\n- two\n',
  'text/plain': () => 'Words about tides and harbours.',
};
