import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import t from 'tap';
import { decodeText } from '../../../src/extract/text/charset.ts';

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
    decodeText(Buffer.from(`a\r\nb\rc\u0001${'d'.repeat(99)}`)),
    `a\nb\nc${'d'.repeat(99)}`,
    'line ends and a stray control character',
  );
});

t.test('UTF-8 stays UTF-8 when the end of the probe cuts a letter in two', async (t) => {
  const text = `${'x'.repeat(256 * 1024 - 1)}ü and more`;
  t.equal(decodeText(Buffer.from(text)), text);
});

t.test('a declared character set is used, unless the bytes say otherwise', async (t) => {
  const page = (charset: string, words: Uint8Array) =>
    Buffer.concat([Buffer.from(`<!doctype html><head><meta charset="${charset}"></head><p>`), words]);
  const koi8 = Buffer.from('f3d7c5d4', 'hex');
  t.match(decodeText(page('koi8-r', koi8)), /<p>Свет$/);
  t.match(
    decodeText(
      Buffer.concat([
        Buffer.from('<html><meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">'),
        Buffer.from('93958ce4', 'hex'),
      ]),
    ),
    />燈御$/,
  );
  t.match(
    decodeText(
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="ISO-8859-2"?><a>'), Buffer.of(0xb1)]),
    ),
    /ą$/,
  );
  t.match(decodeText(page('koi8-r', Buffer.from('Größe'))), /Größe$/, 'UTF-8, whatever it says');
  t.match(decodeText(page('utf-8', Buffer.from('Größe', 'latin1'))), /Größe$/);
  t.match(decodeText(page('no-such-set', Buffer.from('Größe', 'latin1'))), /Größe$/);
  t.equal(
    decodeText(Buffer.from('Say <meta charset=koi8-r> for Größe', 'latin1')),
    'Say <meta charset=koi8-r> for Größe',
  );
});

t.test('the whole text decides on its character set, not only its start', async (t) => {
  const plain = 'many plain words\n'.repeat(20_000);
  t.equal(decodeText(Buffer.from(`${plain}Größe`, 'latin1')), `${plain}Größe`);
  const damaged = Buffer.from(`${'Größe и свет, '.repeat(20)}?`);
  damaged[damaged.length - 1] = 0xff;
  t.match(decodeText(damaged), /Größe и свет, \ufffd$/, 'one damaged letter does not change all others');
});

t.test('bytes that are no text are recognised', async (t) => {
  t.equal(decodeText(randomBytes(5000)), undefined);
  t.equal(decodeText(deflateRawSync(randomBytes(5000))), undefined);
  t.equal(decodeText(Buffer.alloc(500)), undefined);
});
