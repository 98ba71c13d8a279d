import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import t from 'tap';
import { decodeText } from '../../src/extract/charset.ts';

const TEXT = 'Größe, naïve Café — 東京\nsecond line';

t.test('text is decoded whatever its character set', async (t) => {
  t.equal(decodeText(Buffer.from(TEXT)), TEXT);
  t.equal(decodeText(Buffer.from(`\ufeff${TEXT}`)), TEXT, 'with a mark');
  const utf16 = Buffer.from(TEXT, 'utf16le');
  t.equal(decodeText(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])), TEXT);
  t.equal(decodeText(Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()])), TEXT);
  t.equal(
    decodeText(Buffer.from('plain words in a row', 'utf16le')),
    'plain words in a row',
    'UTF-16 without a mark',
  );
  t.equal(
    decodeText(Buffer.from('Größe für €', 'latin1').fill(0x80, 10)),
    'Größe für €',
    'Windows-1252, of which Latin-1 is a part',
  );
  t.equal(
    decodeText(Buffer.from(`a\r\nb\rc\u0000${'d'.repeat(99)}`)),
    `a\nb\nc${'d'.repeat(99)}`,
    'line ends and a stray control character',
  );
});

t.test('a letter that the end of the probe cuts in two does not make UTF-8 something else', async (t) => {
  const text = `${'x'.repeat(256 * 1024 - 1)}ü and more`;
  t.equal(decodeText(Buffer.from(text)), text);
});

t.test('bytes that are no text are told apart', async (t) => {
  t.equal(decodeText(randomBytes(5000)), undefined);
  t.equal(decodeText(deflateRawSync(randomBytes(5000))), undefined);
  t.equal(decodeText(Buffer.alloc(500)), undefined);
});
