import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import t from 'tap';
import { decodeText, readText } from '../../../src/readers/text/charset.ts';
import { encodedIn } from '../samples/encoded-in.ts';

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

/** A sentence or two in each old character set, as one finds them in files. */
const WRITTEN: readonly (readonly [text: string, ...charsets: string[]])[] = [
  ['Смотритель маяка считал чаек на рассвете.', 'windows-1251', 'koi8-u', 'ibm866'],
  ['Ключ висит за дверью', 'windows-1251'],
  ['Имя;Город;Сумма\nИванов;Москва;120\nПетрова;Казань;75\n', 'windows-1251'],
  ['Ο φύλακας του φάρου μετρούσε τους γλάρους κάθε πρωί.', 'windows-1253'],
  ['Latarnik liczył mewy o świcie i zapisywał ich liczbę w żółtym zeszycie.', 'windows-1250', 'iso-8859-2'],
  ['Strážce majáku počítal racky za úsvitu a zapisoval čísla do žlutého sešitu.', 'windows-1250'],
  ['Az öreg őr a tűz mellett számolta a sirályokat, és egy sárga füzetbe írta.', 'iso-8859-2'],
  ['Fener bekçisi şafakta martıları sayıyor, sayıyı sarı bir deftere yazıyordu.', 'windows-1254'],
  ['שומר המגדלור ספר את השחפים עם שחר', 'windows-1255'],
  ['كان حارس المنارة يعد النوارس عند الفجر', 'windows-1256'],
  ['등대지기는 매일 아침 갈매기를 세고 그 수를 공책에 적었다.', 'euc-kr'],
  ['守塔人每天清晨数海鸥，并把数字写在蓝色的本子里。', 'gbk'],
  ['守塔人每天清晨數海鷗，並把數字寫在藍色的本子裡。', 'big5'],
  ['灯台守は毎朝カモメを数えて、青いノートに書きました。', 'shift_jis', 'euc-jp'],
  ['Le gardien comptait les goélands à l’aube, où les élèves étaient déjà.', 'windows-1252', 'macintosh'],
  ['Der Wärter zählte früh die Möwen und schrieb ihre Zahl in ein grünes Heft.', 'windows-1252', 'macintosh'],
  ['Café Größe', 'windows-1252'],
  ['The keeper’s log – “gulls at dawn” – was never found.', 'windows-1252'],
];

t.test(
  'text that names no character set is read in the likeliest, which is said to be guessed',
  async (t) => {
    for (const [text, ...charsets] of WRITTEN)
      for (const name of charsets)
        for (const times of [1, 20]) {
          const written = Array.from({ length: times }, () => text).join('\n');
          t.same(readText(encodedIn(name, written)), { text: written, charset: { name, guessed: true } });
        }
    t.match(readText(Buffer.from('W\x84rter z\x84hlt fr\x81h die M\x94wen', 'latin1')), {
      text: 'Wärter zählt früh die Möwen',
      charset: { name: 'ibm850', guessed: true },
    });
    t.match(readText(Buffer.from('\x1b$B@hF|$NM<J}\x1b(B, 7')), {
      text: '先日の夕方, 7',
      charset: { name: 'iso-2022-jp', guessed: true },
    });
  },
);

t.test('a character set that the text or its mark names is not guessed', async (t) => {
  for (const [bytes, name] of [
    [Buffer.from('plain'), 'utf-8'],
    [Buffer.from('Größe'), 'utf-8'],
    [Buffer.from('\ufeffGröße'), 'utf-8'],
    [Buffer.from('\ufeffGröße', 'utf16le'), 'utf-16le'],
    [encodedIn('koi8-r', '<meta charset=KOI8-R><p>Свет'), 'koi8-r'],
    [encodedIn('koi8-r', `<!--${'x'.repeat(2000)}--><meta charset=koi8-r><p>Свет`), 'koi8-r'],
  ] as const)
    t.same(readText(bytes)?.charset, { name, guessed: false }, name);
  t.same(readText(Buffer.from('no mark', 'utf16le'))?.charset, { name: 'utf-16le', guessed: true });
});

t.test('bytes that are no text are recognised', async (t) => {
  t.equal(decodeText(randomBytes(5000)), undefined);
  t.equal(decodeText(deflateRawSync(randomBytes(5000))), undefined);
  t.equal(decodeText(Buffer.alloc(500)), undefined);
});

t.test('control characters that part lines keep words apart', async (t) => {
  const text = `first line\vsecond line\u0085third line\x1efourth\x1ffifth\fsixth${' and more'.repeat(20)}`;
  const words = readText(Buffer.from(text))!.text.split(/\s+/);
  t.same(words, `first line second line third line fourth fifth sixth${' and more'.repeat(20)}`.split(' '));
});

t.test('a large text is not judged by a letter that is cut in two', async (t) => {
  // Codes in Cyrillic letters do not look like writing: only valid UTF-8 says that they are text.
  for (const shift of [0, 1]) {
    const codes = Array.from({ length: 60_000 }, (_, at) => `жщцъ${(at * 7919) % 9973}ЫЭЯ`).join('\n');
    const bytes = Buffer.from('x'.repeat(shift) + codes);
    t.match(readText(bytes), { charset: { name: 'utf-8', guessed: false } });
    t.equal(readText(bytes)!.text.length, codes.length + shift);
  }
});
