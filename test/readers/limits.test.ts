import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { utils, write } from '@e965/xlsx';
import sharp from 'sharp';
import t from 'tap';
import { addNotRead, type NotRead } from '../../src/protocol/file/not-read.ts';
import { chaptersOf } from '../../src/readers/media/chapters.ts';
import { tagBlock } from '../../src/readers/media/tags.ts';
import type { TextModels } from '../../src/readers/ocr/text-models.ts';
import { TextPageReader } from '../../src/readers/ocr/text-page.ts';
import { captionOf } from '../../src/readers/picture/caption.ts';
import type { Sink } from '../../src/readers/reading/sink.ts';
import { readBytes } from '../rig/readers.ts';
import { zipOf } from './samples/archives.ts';
import { pdfOf, pdfStream } from './samples/hostile.ts';
import { deepSlides } from './samples/legacy.ts';

const words = (count: number, last: string): string => `${'word '.repeat(count)}${last}`;
const page = (head: string, body: string) => `<html><head>${head}</head><body>${body}</body></html>`;
const docx = (parts: Readonly<Record<string, string>>, body = '') =>
  zipOf({ 'word/document.xml': `<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`, ...parts });
const xlsx = (name: string, sheet = '') =>
  zipOf({
    'xl/workbook.xml': `<workbook><sheets><sheet name="${name}" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': '<R><Relationship Id="r1" Target="worksheets/s.xml"/></R>',
    'xl/worksheets/s.xml': `<worksheet><sheetData><row><c r="A1"><v>7</v></c></row></sheetData>${sheet}</worksheet>`,
  });
const odt = (body: string) =>
  `<office:document xmlns:office="o" xmlns:text="t" xmlns:draw="d" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><text:p>Words.</text:p>${body}</office:body></office:document>`;

const manyPictures = Promise.all(
  Array.from({ length: 120 }, (_, at) =>
    sharp({ create: { width: 64, height: 64, channels: 3, background: { r: 2 * at, g: 9, b: 9 } } })
      .png()
      .toBuffer(),
  ),
);

const manyFrames = Promise.all(
  Array.from({ length: 201 }, (_, at) =>
    sharp({ create: { width: 8, height: 8, channels: 3, background: { r: at, g: 255 - at, b: 9 } } })
      .png()
      .toBuffer(),
  ),
);

/** A database of one row with this many columns. */
function wideTable(columns: number): Buffer {
  const pageBytes = 4096;
  const varint = (value: number) => Buffer.from([0x80 | (value >> 7), value & 0x7f]);
  const leaf = (types: Buffer, content: Buffer, headerAt = 0): Buffer => {
    const bytes = Buffer.alloc(pageBytes - headerAt);
    bytes.set([0x0d, 0, 0, 0, 1], 0);
    bytes.writeUInt16BE(1000, 8);
    const payload = Buffer.concat([varint(types.length + 2), types, content]);
    Buffer.concat([varint(payload.length), Buffer.from([1]), payload]).copy(bytes, 1000 - headerAt);
    return bytes;
  };
  const sql = 'CREATE TABLE t (a, b)';
  const texts = [23, 15, 15, 1, 13 + 2 * sql.length];
  const schema = leaf(Buffer.from(texts), Buffer.from(`tablett\x02${sql}`), 100);
  const head = Buffer.alloc(100);
  head.write('SQLite format 3\0', 'latin1');
  head.writeUInt16BE(pageBytes, 16);
  head.writeUInt32BE(1, 56);
  return Buffer.concat([head, schema, leaf(Buffer.alloc(columns, 9), Buffer.alloc(0))]);
}

/** A PDF with files inside, and one more that is pinned to its last page. */
function pdfWithFiles(pages: number, files: number): Buffer {
  const [font, content, stream, spec] = [4, 5, 6, 7];
  const first = 8;
  const numbers = Array.from({ length: pages }, (_, at) => first + at);
  const names = Array.from({ length: files }, (_, at) => `(${String(at).padStart(5, '0')}) ${spec} 0 R`);
  const pin = `/Annots [<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS ${spec} 0 R >>]`;
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles 3 0 R >> >>',
    `<< /Type /Pages /Count ${pages} /Kids [${numbers.map((number) => `${number} 0 R`).join(' ')}] >>`,
    `<< /Names [${names.join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    pdfStream(Buffer.from('BT /F 20 Tf 9 50 Td (Nine lanterns on the quay) Tj ET')),
    pdfStream(Buffer.from('Ten years.'), '/Type /EmbeddedFile'),
    `<< /Type /Filespec /F (a.txt) /UF (a.txt) /EF << /F ${stream} 0 R >> >>`,
    ...numbers.map(
      (number) =>
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 100] /Contents ${content} 0 R /Resources << /Font << /F ${font} 0 R >> >> ${number === numbers.at(-1) ? pin : ''} >>`,
    ),
  ]);
}

interface Case {
  readonly file: () => string | Buffer | Promise<Buffer>;
  readonly notRead: readonly NotRead[];
}

const cut = (what: NotRead['what'], count?: number): readonly NotRead[] => [
  { what, ...(count !== undefined && { count }), why: 'limit' },
];

const TOLD: Readonly<Record<string, Case>> = {
  'pictures of OpenDocument: of 120, 50 are kept': {
    file: async () =>
      zipOf({
        mimetype: 'application/vnd.oasis.opendocument.text',
        'content.xml': odt(''),
        ...Object.fromEntries((await manyPictures).map((bytes, at) => [`Pictures/${at}.png`, bytes])),
      }),
    notRead: cut('pictures', 70),
  },
  'pictures of flat OpenDocument': {
    file: async () =>
      Buffer.from(
        odt(
          (await manyPictures)
            .map((bytes) => `<office:binary-data>${bytes.toString('base64')}</office:binary-data>`)
            .join(''),
        ),
      ),
    notRead: cut('pictures', 70),
  },
  'a column of SQLite beyond 2,000': { file: () => wideTable(2_001), notRead: cut('text') },
  'cells of XLSB in the 1,001st and 1,002nd column': {
    file: () =>
      write(utils.book_new(utils.aoa_to_sheet([Array.from({ length: 1_002 }, (_, at) => at + 1)]), 'S'), {
        bookType: 'xlsb',
        type: 'buffer',
      }),
    notRead: [
      ...cut('text', 2),
      { what: 'pictures', why: 'unsupported' },
      { what: 'charts', why: 'unsupported' },
    ],
  },
  'a name of a sheet': { file: () => xlsx(words(50, 'end')), notRead: cut('text', 1) },
  'headers of a sheet': {
    file: () => xlsx('S', `<headerFooter><oddHeader>${words(5_000, 'end')}</oddHeader></headerFooter>`),
    notRead: cut('headers'),
  },
  'a label of a list': {
    file: () =>
      docx(
        {
          'word/numbering.xml': `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:lvlText w:val="%1 ${words(30, 'end')}"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
        },
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>Words.</w:t></w:r></w:p>',
      ),
    notRead: cut('text', 1),
  },
  'slides of PowerPoint in containers 60 deep': {
    file: () => deepSlides(60),
    notRead: [
      ...cut('text', 1),
      { what: 'pictures', why: 'unsupported' },
      { what: 'charts', why: 'unsupported' },
    ],
  },
  'groups of RTF 501 deep': {
    file: () => `{\\rtf1 Before ${'{'.repeat(501)}within${'}'.repeat(501)} behind.}`,
    notRead: cut('text', 1),
  },
  'frames of an animation beyond 200: every second one is read': {
    file: async () =>
      sharp(await manyFrames, { join: { animated: true } })
        .webp({ lossless: true, delay: Array.from({ length: 201 }, () => 100) })
        .toBuffer(),
    notRead: cut('frames', 100),
  },
  'files inside a PDF beyond 1,000': { file: () => pdfWithFiles(1, 1_001), notRead: cut('attachments', 2) },
  'a file that is pinned to the 201st page of a PDF': {
    file: () => pdfWithFiles(201, 1),
    notRead: cut('attachments', 1),
  },
};

for (const [name, { file, notRead }] of Object.entries(TOLD))
  t.test(`beyond a limit, and told: ${name}`, async (t) => {
    t.same((await readBytes(Buffer.from(await file()))).notRead, notRead);
  });

const WHOLE: Readonly<Record<string, string | Buffer>> = {
  'a title of a page': page(`<title>${words(70, 'mizzen')}</title>`, '<p>Words.</p>'),
  'a title among the properties of a document': docx(
    { 'docProps/core.xml': `<c xmlns:dc="d"><dc:title>${words(70, 'mizzen')}</dc:title></c>` },
    '<w:p><w:r><w:t>Words.</w:t></w:r></w:p>',
  ),
  'a first heading': page('', `<h1>${words(70, 'mizzen')}</h1><p>Words.</p>`),
  'a later heading': page('<title>A</title>', `<p>Words.</p><h2>${words(70, 'mizzen')}</h2><p>More.</p>`),
  'the words for a picture': page('', `<p>Words.</p><img src="a.png" alt="${words(70, 'mizzen')}">`),
  'what a field of a form says': page('', `<p>Words.</p><input value="${words(70, 'mizzen')}">`),
  'who got a mail': `From: ann@a.example\nTo: ${'bob@b.example, '.repeat(90)}mizzen@c.example\nDate: Mon, 2 Nov 2026 10:00:00 +0000\nSubject: Tea\n\nWords.\n`,
  'what a mail is about': `From: ann@a.example\nTo: bob@b.example\nDate: Mon, 2 Nov 2026 10:00:00 +0000\nSubject: ${words(70, 'mizzen')}\n\nWords.\n`,
  'an attribute of XML': `<?xml version="1.0"?><a><b note="${words(70, 'mizzen')}"/></a>`,
  'text behind groups of RTF 501 deep': `{\\rtf1 ${'{'.repeat(501)}\\v hidden${'}'.repeat(501)} mizzen}`,
};

for (const [name, file] of Object.entries(WHOLE))
  t.test(`longer than others, and whole in the text: ${name}`, async (t) => {
    const { blocks, title = '' } = await readBytes(Buffer.from(file));
    t.match(blocks.map(({ text }) => text).join('\n'), /mizzen/);
    t.ok(title.length <= 300);
  });

/** What a reader reports. */
function reports(): { report: Sink['notRead']; all: () => readonly NotRead[] } {
  let all: readonly NotRead[] = [];
  return {
    report: (what, why, count) => {
      all = addNotRead(all, { what, ...(count !== undefined && { count }), why });
    },
    all: () => all,
  };
}

t.test('chapters beyond 1,000, and parts of a film before its chapters, are told', async (t) => {
  const path = join(t.testdir(), 'film');
  const tags = Object.fromEntries(
    Array.from({ length: 1_001 }, (_, at) => [
      [`CHAPTER${at}`, `${String(at >> 6).padStart(2, '0')}:${String(at & 63).padStart(2, '0')}:00`],
      [`CHAPTER${at}NAME`, at === 7 ? words(70, 'end') : 'Pier'],
    ]).flat(),
  );
  writeFileSync(path, '');
  const many = reports();
  t.equal(chaptersOf(path, 'audio/ogg', tags, many.report).length, 1_000);
  t.same(many.all(), cut('text', 2), 'a chapter, and the end of a title');
  // Matroska's Segment of unknown size, with elements that are empty.
  const segment = Buffer.from([0x18, 0x53, 0x80, 0x67, 0xff]);
  writeFileSync(path, Buffer.concat([segment, Buffer.alloc(2 * 100_001, Buffer.from([0xec, 0x80]))]));
  const far = reports();
  t.same(chaptersOf(path, 'video/matroska', {}, far.report), []);
  t.same(far.all(), cut('text'));
});

t.test('a chapter of an MP3 behind a cover of 17 MiB is read', async (t) => {
  const frame = (id: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(10);
    head.write(id, 0, 'latin1');
    head.writeUInt32BE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  const title = frame('TIT2', Buffer.from('\x03Pier'));
  const chapter = frame('CHAP', Buffer.concat([Buffer.from('a\0'), Buffer.alloc(16), title]));
  const body = Buffer.concat([frame('APIC', Buffer.alloc(17 * 2 ** 20)), chapter]);
  const sizes = [21, 14, 7, 0].map((shift) => (body.length >> shift) & 0x7f);
  const path = join(t.testdir(), 'song.mp3');
  writeFileSync(path, Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...sizes]), body]));
  const { report, all } = reports();
  t.match(chaptersOf(path, 'audio/mpeg', {}, report), [{ title: 'Pier' }]);
  t.same(all(), []);
});

t.test('tags beyond 20,000 characters and captions beyond 5,000 are told', async (t) => {
  const tags = reports();
  const block = tagBlock({ comment: words(5_000, 'end'), lyrics: words(4_000, 'end') }, tags.report);
  t.ok(block!.text.length < 41_000);
  t.same(tags.all(), cut('text', 2));
  const caption = reports();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><desc>${words(1_001, 'end')}</desc></svg>`;
  await captionOf(Buffer.from(svg), 'image/svg+xml', caption.report);
  t.same(caption.all(), cut('text', 1));
});

t.test('lines of a page beyond 1,500 are told', async (t) => {
  let read = 0;
  const region = { x: 4, y: 4, width: 8, height: 4, angle: 0, thickness: 2, middles: [] };
  const models = {
    regions: async () => Array.from({ length: 1_502 }, () => region),
    line: async () => {
      read++;
      return { text: 'pier', confidence: 1 };
    },
  } as unknown as TextModels;
  const { report, all } = reports();
  await new TextPageReader(models).read({ grey: new Uint8Array(64), width: 8, height: 8 }, report);
  t.ok(read >= 1_500 && read < 1_520);
  t.same(all(), cut('text', 2));
});
