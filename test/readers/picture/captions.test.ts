import sharp from 'sharp';
import t from 'tap';
import { captionOf } from '../../../src/readers/picture/caption.ts';

const ignored = () => undefined;
const grey = sharp({ create: { width: 20, height: 20, channels: 3, background: '#808080' } });

t.test('EXIF becomes text', async (t) => {
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
  const caption = await captionOf(bytes, 'image/jpeg', ignored);
  t.match(caption?.text, /^Caption: A heron stands in the reeds$/m);
  t.match(caption?.text, /^Camera: Hasselblad 500C$/m);
  t.match(caption?.text, /^Taken: 2026-05-17 06:30$/m);
  t.match(caption?.text, /^Artist: Ada$/m);
});

t.test('captions of XMP and the text of an SVG are read, each once', async (t) => {
  const xmp =
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt><rdf:li>A ferry at noon</rdf:li></rdf:Alt></dc:description><dc:subject><rdf:Bag><rdf:li>boats</rdf:li><rdf:li>harbour</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>';
  const bytes = await grey
    .clone()
    .jpeg()
    .withXmp(xmp)
    .withExif({ IFD0: { ImageDescription: 'A ferry at noon' } })
    .toBuffer();
  const { text } = (await captionOf(bytes, 'image/jpeg', ignored))!;
  t.match(text, /^Caption: A ferry at noon\nKeywords: boats, harbour/);
  t.equal(text.match(/ferry/g)?.length, 1);
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>Map of the coast</title><text x="1" y="1">Land’s <tspan>End</tspan></text><script>alert(1)</script></svg>',
  );
  t.equal(
    (await captionOf(svg, 'image/svg+xml', ignored))?.text,
    'Title: Map of the coast\nText: Land’s, End',
  );
});

t.test('a picture without metadata has no caption; damaged metadata is no error', async (t) => {
  t.equal(await captionOf(await grey.clone().png().toBuffer(), 'image/png', ignored), undefined);
  const bytes = await grey
    .clone()
    .jpeg()
    .withExif({ IFD0: { ImageDescription: 'words' } })
    .toBuffer();
  const at = bytes.indexOf('Exif\0\0');
  bytes.fill(0xff, at + 14, at + 40);
  await captionOf(bytes, 'image/jpeg', ignored);
});
