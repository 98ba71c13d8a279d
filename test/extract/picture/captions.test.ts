import { strToU8, zipSync } from 'fflate';
import sharp from 'sharp';
import t from 'tap';
import { dateShapes, dateText } from '../../../src/extract/office/xlsx-dates.ts';
import { captionOf } from '../../../src/extract/picture/caption.ts';
import { readBytes } from '../../rig/readers.ts';

const grey = sharp({ create: { width: 20, height: 20, channels: 3, background: '#808080' } });

t.test('what EXIF says about a picture becomes words', async (t) => {
  const bytes = await grey
    .clone()
    .jpeg()
    .withExif({
      IFD0: {
        ImageDescription: 'A heron stands in the reeds',
        Make: 'Hasselblad',
        Model: '500C',
        Artist: 'Ada',
      },
      IFD2: { DateTimeOriginal: '2026:05:17 06:30:00' },
    })
    .toBuffer();
  const caption = await captionOf(bytes, 'image/jpeg');
  t.match(caption?.text, /^Caption: A heron stands in the reeds$/m);
  t.match(caption?.text, /^Camera: Hasselblad 500C$/m);
  t.match(caption?.text, /^Taken: 2026-05-17 06:30$/m);
  t.match(caption?.text, /^Artist: Ada$/m);
});

t.test('captions of XMP and the words of an SVG are read, each once', async (t) => {
  const xmp =
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt><rdf:li>A ferry at noon</rdf:li></rdf:Alt></dc:description><dc:subject><rdf:Bag><rdf:li>boats</rdf:li><rdf:li>harbour</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>';
  const bytes = await grey
    .clone()
    .jpeg()
    .withXmp(xmp)
    .withExif({ IFD0: { ImageDescription: 'A ferry at noon' } })
    .toBuffer();
  const { text } = (await captionOf(bytes, 'image/jpeg'))!;
  t.match(text, /^Caption: A ferry at noon\nKeywords: boats, harbour/);
  t.equal(text.match(/ferry/g)?.length, 1);
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>Map of the coast</title><text x="1" y="1">Land’s <tspan>End</tspan></text><script>alert(1)</script></svg>',
  );
  t.equal((await captionOf(svg, 'image/svg+xml'))?.text, 'Title: Map of the coast\nText: Land’s, End');
});

t.test('a picture that says nothing has no caption, and damaged fields are no fault of it', async (t) => {
  t.equal(await captionOf(await grey.clone().png().toBuffer(), 'image/png'), undefined);
  const bytes = await grey
    .clone()
    .jpeg()
    .withExif({ IFD0: { ImageDescription: 'words' } })
    .toBuffer();
  const at = bytes.indexOf('Exif\0\0');
  bytes.fill(0xff, at + 14, at + 40);
  await captionOf(bytes, 'image/jpeg');
});

t.test('dates of spreadsheets are shown as dates, other numbers as they are', async (t) => {
  const cell = (reference: string, style: number, value: string) =>
    `<c r="${reference}" s="${style}"><v>${value}</v></c>`;
  const bytes = zipSync({
    'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>'),
    'xl/_rels/workbook.xml.rels': strToU8('<R><Relationship Id="r1" Target="worksheets/s.xml"/></R>'),
    'xl/styles.xml': strToU8(
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/><numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>',
    ),
    'xl/worksheets/s.xml': strToU8(
      `<worksheet><sheetData><row>${cell('A1', 1, '45658')}${cell('B1', 2, '45658.75')}${cell('C1', 3, '45658')}${cell('D1', 4, '0.5')}${cell('E1', 0, '45658')}</row></sheetData></worksheet>`,
    ),
  });
  const { blocks } = await readBytes(bytes);
  t.equal(blocks[0]?.text, '| 2025-01-01 | 2025-01-01 18:00 | 45658 | 12:00 | 45658');
  t.equal(dateText('0', 'date', true), '1904-01-01');
  t.equal(dateText('-1', 'date', false), undefined);
  t.equal(dateText('1e300', 'date', false), undefined);
  t.same(dateShapes(undefined), []);
  const shapes = dateShapes(
    '<s><numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/><numFmt numFmtId="171" formatCode="[mm]:ss"/><numFmt numFmtId="172" formatCode="[s]"/></numFmts><cellXfs><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="172"/><xf numFmtId="46"/></cellXfs></s>',
  );
  t.same(
    shapes.map((shape) => dateText(`${40 / 24}`, shape!, false)),
    ['40:00', '2400:00', '144000', '40:00'],
    'hours, minutes and seconds in brackets are those of all the days',
  );
  t.equal(dateText(`${90_061 / 86_400}`, 'hours', false), '25:01:01');
});
