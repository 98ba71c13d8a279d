import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { FORMATS } from '../../src/readers/formats.ts';
import { SourceFile } from '../../src/readers/reading/source-file.ts';
import { decodeText } from '../../src/readers/text/charset.ts';
import { deep } from '../rig/deep.ts';
import { Random } from '../rig/random.ts';
import { recognisedType } from '../rig/readers.ts';
import { encodedIn } from './samples/encoded-in.ts';
import { FORMAT_SAMPLES } from './samples/formats.ts';
import { NOISE } from './samples/noise.ts';

const TEXT_TYPES = FORMATS.map(({ mediaType }) => mediaType).filter((type) =>
  /^text\/|rfc822|rtf|\/xml|-flat-xml|\/mbox|\/jsonl?$|x-subrip|ttml/.test(type),
);
/** Formats whose samples are text, or a case of the other format. The order of the table tells them apart. */
const KIN = (type: string): string =>
  TEXT_TYPES.includes(type) || type === 'image/svg+xml'
    ? 'text'
    : /openxml|opendocument|sheet\.binary|epub|zip$/.test(type)
      ? 'zip'
      : type;

t.test('no format takes the sample of another one for its own', async (t) => {
  for (const { mediaType, load } of FORMATS) {
    const reader = await (await load())(mediaType);
    for (const [other, sample] of Object.entries(FORMAT_SAMPLES)) {
      if (KIN(other) === KIN(mediaType)) continue;
      const file = new SourceFile(sample);
      t.equal(await reader.sniff(file), false, `${mediaType} is asked for ${other}`);
    }
  }
});

const BUFFERS = deep(340, 10_000);

t.test(`${BUFFERS} buffers of noise, pixels and sound are no text`, async (t) => {
  const kinds = Object.entries(NOISE);
  const random = new Random(20_261_122);
  const taken: string[] = [];
  for (let count = 0; count < BUFFERS; count++) {
    const [kind, make] = kinds[count % kinds.length]!;
    const bytes = make(random);
    if (isPlainText(bytes)) continue;
    const type = await recognisedType(bytes).catch(() => undefined);
    if (type !== undefined && TEXT_TYPES.includes(type)) taken.push(`${kind}: ${type}`);
  }
  t.same(taken, []);
});

/** Printable ASCII, UTF-8 or UTF-16 by accident. */
function isPlainText(bytes: Buffer): boolean {
  if (isUtf8(bytes) && !/(?![\t\n\f\r])\p{Cc}/u.test(bytes.toString())) return true;
  return ['utf-16le', 'utf-16be'].some((charset) => {
    try {
      return !/(?![\t\n\f\r])\p{C}/u.test(new TextDecoder(charset, { fatal: true }).decode(bytes));
    } catch {
      return false;
    }
  });
}

t.test('text that begins as a signature does is text', async (t) => {
  for (const start of [
    'BM',
    'GIF89a',
    'RIFF and WAVE',
    'ID3',
    'OggS',
    'fLaC',
    'PK',
    'MZ',
    '8BPS',
    'II*',
    'FORM',
  ]) {
    const words = `${start} is how some files begin, und größere Dateien auch.`;
    t.equal(await recognisedType(Buffer.from(words)), 'text/plain', start);
    t.equal(await recognisedType(Buffer.from(words, 'latin1')), 'text/plain', `${start}, Latin-1`);
  }
});

t.test('a zero byte is in no text but UTF-16', async (t) => {
  const words = readFileSync('samples/tea.txt');
  t.equal(await recognisedType(words), 'text/plain');
  await t.rejects(recognisedType(Buffer.concat([words, Buffer.of(0)])), { code: 'media_type_unsupported' });
});

/** Languages that need a character set, beside those of `text/charset.test.ts`. */
const LANGUAGES = {
  'windows-1257': 'lt',
  'windows-874': 'th',
  'iso-8859-5': 'bg',
  'iso-8859-6': 'ar',
  'iso-8859-7': 'el',
  'iso-8859-8': 'he',
  'iso-8859-15': 'fr',
  shift_jis: 'ja',
  gbk: 'zh',
  'euc-kr': 'ko',
};

t.test('text in an old character set is text, in lines, in columns and without white space', async (t) => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  for (const [charset, language] of Object.entries(LANGUAGES)) {
    const countries = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    const names = letters.flatMap((first) => letters.flatMap((second) => countries.of(first + second) ?? []));
    const columns = names.map((name) => `${name.padEnd(50)}|\n`).join('');
    for (const text of [names.join('\n'), JSON.stringify(names), columns])
      t.ok(decodeText(encodedIn(charset, text)), `${language} in ${charset}: ${text.slice(0, 20)}`);
  }
});
