import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { zipOf } from '../readers/samples/archives.ts';
import { bombPdf, emptyPdf, hostileFile, manyParts } from '../readers/samples/hostile.ts';
import { DAMAGED, file, GIVEN_UP, type HostileCase, TOO_LARGE } from './case.ts';
import {
  concatPlaylist,
  docxOf,
  endlessPdf,
  entityBomb,
  externalEntity,
  fiveGigabyteZip,
  hlsPlaylist,
  linkedTar,
  linkingHtml,
  linkingSvg,
  manyFiles,
  nestedZip,
  polyglot,
  referringMp4,
  zipBomb,
} from './files.ts';
import { READER_CASES } from './reader-cases.ts';
import { byHand, chunk, search } from './requests.ts';

const BOUNDARY = 'hostile';
const MULTIPART = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`;
const PIECE = Buffer.alloc(64 * 1024, 'many words ');
const PART = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`;

function* endless(piece: Uint8Array, bytesMax: number, start = ''): Generator<Buffer> {
  if (start !== '') yield chunk(start);
  const whole = chunk(piece);
  for (let sent = 0; sent < bytesMax; sent += piece.length) yield whole;
}

const docx = (body: string): string =>
  `<?xml version="1.0"?><w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`;

const FILES: readonly HostileCase[] = [
  file('a pixel flood: 60,000²', hostileFile('pixel-flood.png'), TOO_LARGE),
  file('a zip bomb: 4 GiB of 260 kB', () => zipBomb(4), TOO_LARGE),
  file('a zip of one member of 5 GB', fiveGigabyteZip(), TOO_LARGE),
  file('zip in zip, 2 deep', nestedZip(2), ['read']),
  file('zip in zip, 20 deep', nestedZip(20), [...TOO_LARGE]),
  file(
    'zip with ../ and absolute names',
    zipOf({ '../../../../tmp/zip-slip.txt': 'slip', '/etc/x.txt': 'abs', '..\\..\\w.txt': 'win' }),
    ['read'],
  ),
  file('tar of links, and files through them', ({ canary }) => linkedTar(canary), ['read']),
  file('a PDF of a million pages', hostileFile('million-pages.pdf'), TOO_LARGE),
  file('a PDF with an endless stream', endlessPdf(), ['read', ...GIVEN_UP]),
  file('a PDF that unfolds to 2 GB', () => bombPdf(2048), GIVEN_UP),
  file('a PDF that draws 10⁹ forms', hostileFile('billion-forms.pdf'), [...GIVEN_UP, 'read']),
  file('a PDF whose form draws itself', hostileFile('self-drawing.pdf'), ['read', ...GIVEN_UP]),
  file('an SVG of nested masks', hostileFile('masks.svg'), ['read', ...GIVEN_UP]),
  file('a PDF with JavaScript', hostileFile('scripted.pdf'), ['read']),
  file('a PDF without pages', emptyPdf(), ['file_corrupt']),
  file('a page of a million nested elements', `<!doctype html><body>${'<div>'.repeat(1_000_000)}`, TOO_LARGE),
  file(
    'an element of a million attributes',
    `<!doctype html><p ${'a=1 '.repeat(1_000_000)}>words`,
    TOO_LARGE,
  ),
  file('a page of two million open comments', `<!doctype html><p>words${'<!--'.repeat(2_000_000)}`, ['read']),
  file('a mail of 700,000 parts', manyParts(700_000), TOO_LARGE),
  file('an XML file of two million elements', `<?xml version="1.0"?><a>${'<b/>'.repeat(2_000_000)}</a>`, [
    'read',
    ...GIVEN_UP,
  ]),
  file('an XML entity bomb', entityBomb(), ['read', 'file_corrupt']),
  file('an XML external entity', (target) => externalEntity(target), ['read', 'file_corrupt']),
  file('a DOCX with an entity bomb', docxOf(entityBomb()), DAMAGED),
  file(
    'a DOCX with links outside',
    (target) =>
      docxOf(docx('<w:p><w:r><w:t>linked words</w:t></w:r></w:p>'), {
        'word/_rels/document.xml.rels': `<Relationships><Relationship Id="r1" Target="http://127.0.0.1:${target.trapPort}/image.png" TargetMode="External"/><Relationship Id="r2" Target="file://${target.canary}"/></Relationships>`,
      }),
    ['read'],
  ),
  file('an SVG with network and file links', (target) => linkingSvg(target), ['read']),
  file('an SVG of many comments, and none', `${'<!---->'.repeat(1_000)}x`, ['read']),
  file('an HTML page with network and file links', (target) => linkingHtml(target), ['read']),
  file('an HLS playlist to files and addresses', (target) => hlsPlaylist(target), ['read'], 'film.mp4'),
  file('a concat playlist to files and addresses', (target) => concatPlaylist(target), ['read'], 'film.avi'),
  file('an MP4 whose samples lie elsewhere', (target) => referringMp4(target), DAMAGED),
  file('a polyglot: PNG and zip', polyglot(readFileSync('samples/chelsea.png')), ['read', ...DAMAGED]),
  file('a polyglot: JPEG and zip', polyglot(readFileSync('samples/rocket.jpg')), ['read', ...DAMAGED]),
  file('a polyglot: PDF and zip', polyglot(readFileSync('samples/almanac.pdf')), ['read', ...DAMAGED]),
  file(
    'a polyglot: script and PNG',
    Buffer.concat([Buffer.from('<script>1</script>'), readFileSync('samples/chelsea.png')]),
    ['read', ...DAMAGED],
  ),
  file('an extension that lies: PNG as .txt', readFileSync('samples/coffee.png'), ['read'], 'letter.txt'),
  file('an extension that lies: text as .pdf', 'plain words', ['read'], 'report.pdf'),
  file(
    'an extension that lies: a program as .jpg',
    Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(3000, 1)]),
    DAMAGED,
    'photo.jpg',
  ),
  file('0 bytes', '', ['file_empty']),
  file(
    'a name of control characters and slashes',
    'words under a name',
    ['read'],
    '../../\u0000\u202e/..\\etc/pass\twd\n.txt',
  ),
  file('JSON 200 deep', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`, ['read'], 'deep.json'),
  // Each bracket is a token: it is encoded for minutes.
  file(
    'JSON 200,000 deep',
    `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    ['read', ...DAMAGED],
    'deeper.json',
  ),
  file('HTML 10,000 deep', `<!doctype html>${'<div>'.repeat(10_000)}words`, ['read', ...GIVEN_UP]),
  file('HTML 100,000 deep', `<!doctype html>${'<div>'.repeat(100_000)}words`, ['read', ...GIVEN_UP]),
  file('10,000 small files in a zip', () => manyFiles(10_000), TOO_LARGE),
];

const REQUESTS: readonly HostileCase[] = [
  {
    name: 'a search of JSON 200 deep',
    expect: ['field_invalid', 'request_malformed'],
    send: (target) => search(target, `${'{"query":'.repeat(200)}1${'}'.repeat(200)}`),
  },
  {
    name: '5 GB sparse, as it says',
    expect: ['file_too_large'],
    send: (target) => byHand(target, ['Content-Length: 5368709120'], [Buffer.alloc(2 ** 20)]),
  },
  {
    name: '5 GB sparse, in chunks',
    expect: ['file_too_large', 'closed'],
    costly: true,
    send: (target) =>
      byHand(target, ['Transfer-Encoding: chunked'], endless(Buffer.alloc(2 ** 18), 5 * 2 ** 30)),
  },
  {
    name: 'multipart without end',
    expect: ['file_too_large', 'closed'],
    costly: true,
    send: (target) =>
      byHand(target, [MULTIPART, 'Transfer-Encoding: chunked'], endless(PIECE, 2 ** 30, PART)),
  },
  {
    name: 'multipart that stops before its end',
    expect: ['closed', 'request_malformed'],
    send: (target) => byHand(target, [MULTIPART, 'Content-Length: 1000000'], [PART, PIECE], { end: true }),
  },
  {
    name: 'multipart of 10,000 parts',
    expect: ['request_malformed'],
    send: (target) => {
      const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n`;
      const body = `${part.repeat(10_000)}--${BOUNDARY}--\r\n`;
      return byHand(target, [MULTIPART, `Content-Length: ${body.length}`], [body]);
    },
  },
  {
    name: 'a length that is too short',
    costly: true,
    waits: true,
    expect: ['request_malformed', 'body_too_slow', 'closed', '400'],
    send: (target) =>
      byHand(target, [MULTIPART, 'Content-Length: 120'], [`${PART}words\r\n--${BOUNDARY}--\r\n`, 'and more']),
  },
  {
    name: 'a length that is no number',
    expect: ['request_malformed', 'closed', '400'],
    send: (target) => byHand(target, [MULTIPART, 'Content-Length: many'], [PART]),
  },
];

const CUT = [
  'samples/almanac.pdf',
  'samples/chelsea.png',
  'samples/rocket.jpg',
  ...[
    'pdf/MEDRPT-2024-PAT-3847_medical_report_scan.pdf',
    'office/test.docx',
    'office/test.xlsx',
    'video/bottle-detection.mp4',
    'audio/jfk.flac',
  ].map((name) => `../shared/data/samples/${name}`),
];

/** A sample cut off at every tenth: nine files, and all that came of them. */
function cutCases(): HostileCase[] {
  return CUT.filter(existsSync).flatMap((path) => {
    const whole = readFileSync(path);
    return Array.from({ length: 9 }, (_, index) => {
      const bytes = whole.subarray(0, Math.floor((whole.length * (index + 1)) / 10));
      return file(`${basename(path)} cut off at ${index + 1}/10`, bytes, [
        'read',
        ...DAMAGED,
        'file_encrypted',
      ]);
    });
  });
}

/** One of each kind, for `make test`; the others have their like among the tests of readers. */
const QUICK = [
  'a pixel flood: 60,000²',
  'a zip bomb: 4 GiB of 260 kB',
  'zip with ../ and absolute names',
  'tar of links, and files through them',
  'a PDF with JavaScript',
  'an XML external entity',
  'a DOCX with links outside',
  'an SVG with network and file links',
  'an HLS playlist to files and addresses',
  'a polyglot: PNG and zip',
  'a name of control characters and slashes',
  'JSON 200 deep',
];

/** @param all those too that take long, or much of the network */
export function hostileCases(all: boolean): HostileCase[] {
  const files = [...FILES, ...READER_CASES, ...cutCases()];
  const requests = REQUESTS.filter(({ costly }) => all || !costly);
  return [...files.filter(({ name }) => all || QUICK.includes(name)), ...requests];
}
