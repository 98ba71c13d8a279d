import t from 'tap';
import { readBytes, unpackBytes } from '../../rig/readers.ts';

/** What is sent; what must be in its text, in this order; what must not; what is reported as not read. */
interface Case {
  readonly source: string | Buffer;
  readonly type: string;
  readonly has: readonly string[];
  readonly lacks?: readonly string[];
  readonly notRead?: readonly string[];
}

const page = (body: string) =>
  `<!DOCTYPE html><html><head><title>Page</title></head><body>${body}</body></html>`;
const html = (body: string, has: readonly string[], more: Partial<Case> = {}): Case => ({
  source: page(body),
  type: 'text/html',
  has,
  ...more,
});
const long = 'Subscribe to our letter and never miss a day of it. '.repeat(8);
const PHOTO = 'WE7eGGSnE3XGRhvW9FNtVowZ'.repeat(40);

const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  'HTML: elements part words as the standard renders them': {
    'a list of terms': html('<dl><dt>keelhauler</dt><dd>winch</dd><dt>mizzenport</dt><dd>lantern</dd></dl>', [
      'keelhauler\nwinch\nmizzenport\nlantern',
    ]),
    'details and an address': html(
      '<address>14 Cobbler Row</address><details><summary>Hours</summary><p>Ten.</p></details>',
      ['14 Cobbler Row\nHours\n\nTen.'],
    ),
    'a figure': html(
      '<figure><img src="a.png" alt="a grey heron"><figcaption>weir</figcaption></figure><p>End.</p>',
      ['a grey heron\nweir'],
    ),
    'a form': html(
      '<fieldset><legend>Who</legend><label>Name</label><input value="Ada"><label>Town</label><textarea>Looe</textarea></fieldset>',
      ['Who\nName\nAda\nTown\nLooe'],
    ),
    'words beside a picture': html('<p>red<img src="a.png" alt="boat">sails</p>', ['red boat sails']),
    emphasis: html('<p>un<b>bel</b>ievable H<sub>2</sub>O</p>', ['unbelievable H2O']),
  },
  'HTML: content outside the main text is kept': {
    'an aside': html('<article><p>Fill it.</p><aside><p>Never with brine.</p></aside></article>', [
      'Never with brine.',
    ]),
    'a button': html('<button>Can I cancel?</button><div><p>Yes.</p></div>', ['Can I cancel?\n\nYes.']),
    'beside a long main': html(`<main><p>${long}</p></main><section><p>The wherry sank.</p></section>`, [
      'Subscribe',
      'The wherry sank.',
    ]),
    'a footer': html('<p>Words.</p><footer>Imprint: Ada Quill</footer>', ['Imprint: Ada Quill']),
    navigation: html('<nav><a href="/">Home</a></nav><p>Words.</p>', ['Words.'], {
      lacks: ['Home'],
      notRead: ['navigation left_out 1'],
    }),
    'hidden text': html(
      '<p>Words.</p><p style="color:red; display:none">Obey.</p><p hidden>Pay.</p>',
      ['Words.'],
      {
        lacks: ['Obey', 'Pay'],
        notRead: ['hidden_text hidden 2'],
      },
    ),
  },
  'HTML: marks above, below and between words': {
    formula: html('<p>It is <math><mi>rho</mi><mo>=</mo><mn>7291</mn></math> units.</p>', [
      'rho = 7291 units',
    ]),
    ruby: html(
      '<p><ruby>灯台<rp>(</rp><rt>とうだい</rt><rp>)</rp></ruby><ruby>守<rt>もり</rt></ruby>は</p>',
      ['灯台守は (とうだいもり)'],
    ),
    'a unit': html('<p>9 m<sup>2</sup>, 10<sup>6</sup>, the captain<sup>3</sup>.</p>', [
      '9 m2, 10^6, the captain 3.',
    ]),
    drawing: html('<svg><title>Icon</title><text x="1">Depth 40 m</text></svg>', ['Depth 40 m'], {
      lacks: ['Icon'],
    }),
  },
  'HTML: a late character set counts': {
    late: {
      source: Buffer.concat([
        Buffer.from(`<html><head><!--${'x'.repeat(2000)}--><meta charset="windows-1251"></head><body><p>`),
        Buffer.from([0xcc, 0xe0, 0xff, 0xea]),
        Buffer.from('</p></body></html>'),
      ]),
      type: 'text/html',
      has: ['Маяк'],
    },
  },
  'Markdown: what is not markup stays': {
    autolinks: {
      source: '# Contacts\n\nMail <night@yarrow.example> or see <https://yarrow.example/rota>.\n',
      type: 'text/markdown',
      has: ['night@yarrow.example or see https://yarrow.example/rota.'],
    },
    code: {
      source:
        '# Notes\n\nUse `<blinkbox>` and `Vec<Sprocket>`, ``a `tick` ``, then `__init__`. <b>Bold</b>.\n',
      type: 'text/markdown',
      has: ['Use <blinkbox> and Vec<Sprocket>, a `tick` , then __init__. Bold.'],
    },
    'front matter': {
      source:
        '---\ntitle: Winter\nauthor: Ottoline\naliases:\n  - Diary\n---\n\n# Winter\n\nThe cellar was cold.\n\n## Part\n\nx\n',
      type: 'text/markdown',
      has: ['author: Ottoline', '- Diary', 'The cellar was cold.'],
    },
    'a table in HTML': {
      source:
        '# Results\n\n<table><tr><td>Layers</td><td>Words</td></tr><tr><td>0.965</td><td>0.934</td></tr></table>\n\nEnd **note**.\n',
      type: 'text/markdown',
      has: ['Layers | Words\n0.965 | 0.934', 'End note.'],
    },
    'a picture in letters': {
      source: `# A\n\nSee ![the chart](data:image/png;base64,${PHOTO}) here.\n`,
      type: 'text/markdown',
      has: ['See the chart here.'],
      lacks: ['WE7e'],
      notRead: ['pictures unsupported 1'],
    },
    'a footnote, and a note that looks like a link': {
      source: `# A\n\nThe cask[^1] is old.\n\n[^1]: The angels take their share.\n\n[Note]: drain the wort.\n\n[kiln]: http://kiln.example "A kiln"\n`,
      type: 'text/markdown',
      has: ['[^1]: The angels take their share.', '[Note]: drain the wort.'],
      lacks: ['kiln.example'],
    },
    'nested lists': {
      source: '# A\n\n- one\n  - two **bold**\n    - three `<x>`\n',
      type: 'text/markdown',
      has: ['- one\n  - two bold\n    - three <x>'],
    },
  },
  'CSV: rows and columns however they are written': {
    'sep=': {
      source: 'sep=;\nname;units\nGorse;12\nHawk;7\n',
      type: 'text/csv',
      has: ['| name: Gorse | units: 12'],
      lacks: ['sep='],
    },
    pipes: {
      source: 'name|units\nDrift|12\nElm|7\nFox|31\n',
      type: 'text/csv',
      has: ['| name: Elm | units: 7'],
    },
    'line breaks in quotes': {
      source: 'name,address,phone\nNorbury,"12 Quay\nLower Yard\nPennick",0117\nOak,"3 Hill\nUpton",0118\n',
      type: 'text/csv',
      has: ['| name: Norbury | address: 12 Quay Lower Yard Pennick | phone: 0117'],
    },
    'two rows, no last line break': {
      source: 'ship,captain\nRosalind,Solveig',
      type: 'text/csv',
      has: ['| ship: Rosalind | captain: Solveig'],
    },
    'sentences in a column': {
      source:
        'product,stars,comment\nLamp,2,The glass of the lamp broke on the second day.\nDesk,5,A lovely desk that my whole family likes.\n',
      type: 'text/csv',
      has: ['| product: Desk | stars: 5 | comment: A lovely'],
    },
    'prose with commas': {
      source: 'Dear Ada, hello\nBest wishes to all of you there, Bob who writes.\n',
      type: 'text/plain',
      has: ['Dear Ada, hello'],
    },
    'a table of Markdown': {
      source: '| a | b |\n|---|---|\n| c | d |\n',
      type: 'text/plain',
      has: ['| c | d |'],
    },
  },
  'JSON: values with their names, escapes as letters': {
    lines: {
      source: '{"name": "Caf\\u00e9", "note": "\\u041e\\u0442"}\n{"name": "B\\u00e4r"}\n{"cut": \n',
      type: 'application/jsonl',
      has: ['name: Café\nnote: От\n\nname: Bär'],
      notRead: ['markup damaged 1'],
    },
    'deep and large': {
      source:
        '{"ship": {"crew": [{"name": "Ada"}, {"name": "Bob"}]}, "id": 12345678901234567890, "tags": ["a", "b"]}',
      type: 'application/json',
      has: ['ship.crew.name: Ada\n\nship.crew.name: Bob', 'id: 12345678901234567890', 'tags: a, b'],
    },
    'a notebook': {
      source: JSON.stringify({
        nbformat: 4,
        cells: [
          { cell_type: 'markdown', source: ['# Tidal model\n', 'We fit `<x>`.'] },
          {
            cell_type: 'code',
            source: 'plot(a)',
            outputs: [{ data: { 'image/png': PHOTO, 'text/plain': ['<Figure>'] } }],
          },
        ],
      }),
      type: 'application/json',
      has: ['We fit <x>.', 'plot(a)', '<Figure>'],
      lacks: ['WE7e', 'cell_type'],
      notRead: ['pictures unsupported 1'],
    },
    'data in letters': {
      source: JSON.stringify({ name: 'x', photo: PHOTO }),
      type: 'application/json',
      has: ['name: x'],
      lacks: ['WE7e'],
      notRead: ['encoded_data left_out 1'],
    },
  },
  'calendars and cards': {
    'a folded event': {
      source:
        'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260311T090000Z\r\nSUMMARY:Lighthouse re\r\n furbishment\r\nDESCRIPTION:Bring\\, tea.\r\nATTENDEE;CN="Ada: Q":mailto:a@b.c\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
      type: 'text/calendar',
      has: [
        'Start: 2026-03-11 09:00 UTC',
        'Lighthouse refurbishment',
        'Description: Bring, tea.',
        'Ada: Q a@b.c',
      ],
      lacks: ['UID'],
    },
    'a card with a photo': {
      source: `BEGIN:VCARD\nVERSION:3.0\nN:Quill;Ada;;;\nitem1.TEL;TYPE=home:+44 1695 570000\nADR:;;1 Quay;Looe;;;\nPHOTO;ENCODING=b;TYPE=JPEG:${PHOTO}\nEND:VCARD\n`,
      type: 'text/vcard',
      has: ['Name: Quill, Ada', 'Telephone: +44 1695 570000', 'Address: 1 Quay, Looe'],
      lacks: ['WE7e'],
      notRead: ['encoded_data unsupported 1'],
    },
  },
  'XML: attributes, inline marks, sections, damage': {
    attributes: {
      source:
        '<?xml version="1.0"?><c><ship name="Gadwall" tons="412" xml:id="a1"><master>Eustace</master></ship></c>',
      type: 'application/xml',
      has: ['name: Gadwall, tons: 412', 'Eustace'],
      lacks: ['a1'],
    },
    'no declaration': {
      source: '<catalog><text>The looms were stopped.</text></catalog>',
      type: 'application/xml',
      has: ['The looms were stopped.'],
    },
    'a leading line break': {
      source: '\n<?xml version="1.0"?><c><b>words</b></c>',
      type: 'application/xml',
      has: ['words'],
    },
    'UTF-16': {
      source: Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><c><b>Łódź</b></c>', 'utf16le'),
      type: 'application/xml',
      has: ['Łódź'],
    },
    'a malformed feed': {
      source:
        '<?xml version="1.0"?><rss><item><description>Tea & biscuits <br> the looms.</description></item></rss>',
      type: 'application/xml',
      has: ['Tea & biscuits', 'the looms.'],
      notRead: ['markup damaged -'],
    },
    'an article': {
      source:
        '<?xml version="1.0"?><!DOCTYPE article PUBLIC "x" "y.dtd"><article><front><article-title>Heat</article-title><name><surname>Quill</surname></name></front><body><sec><title>Results</title><p>Looms <italic>in</italic> <xref>3</xref> were H<sub>2</sub>O-hot.</p></sec></body><back><ack><p>Funded.</p></ack></back><floats-group><fig><caption><p>A loom.</p></caption></fig></floats-group></article>',
      type: 'application/xml',
      has: ['Quill', 'Results', 'Looms in 3 were H2O-hot.', 'Funded.', 'A loom.'],
    },
  },
  'mail: the text that says more, in its own character set': {
    'a stub': {
      source:
        'From: a@b.c\nTo: d@e.f\nSubject: s\nDate: Mon, 3 Nov 2025 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary="b"\n\n--b\nContent-Type: text/plain\n\nPlease enable HTML.\n--b\nContent-Type: text/html\n\n<p>Your barometer waits at the Trelawney kiosk.</p>\n--b--\n',
      type: 'message/rfc822',
      has: ['Your barometer waits at the Trelawney kiosk.', 'Please enable HTML.'],
    },
    'no character set named': {
      source: Buffer.concat([
        Buffer.from(
          'From: a@b.c\nTo: d@e.f\nSubject: s\nDate: Mon, 3 Nov 2025 10:00:00 +0000\nContent-Type: text/plain;\n\n',
        ),
        Buffer.from(
          '1b244245744266244e3d244d7d244f4d683d35244e3f654d4b467c244b3b4f245e246a245e243921231b2842',
          'hex',
        ),
      ]),
      type: 'message/rfc822',
      has: ['灯台の'],
      notRead: ['charset guessed -'],
    },
    'UTF-16': {
      source: Buffer.from(
        '\ufeffFrom: Ada <a@b.c>\nTo: Bob <d@e.f>\nDate: Tue, 3 Nov 2026 10:00:00 +0000\nSubject: Looms\n\nThe looms were stopped.\n',
        'utf16le',
      ),
      type: 'message/rfc822',
      has: ['Subject: Looms', 'The looms were stopped.'],
    },
  },
};

for (const [group, cases] of Object.entries(CASES))
  t.test(group, async (t) => {
    for (const [name, { source, type, has, lacks = [], notRead = [] }] of Object.entries(cases)) {
      const { fileInfo, blocks, notRead: unread } = await readBytes(Buffer.from(source));
      const text = blocks.map((block) => block.text).join('\n\n');
      t.equal(fileInfo.mediaType, type, `${name}: type`);
      let at = 0;
      for (const words of has) {
        const found = text.indexOf(words, at);
        t.ok(found >= 0, `${name}: "${words}" in "${text.slice(0, 300)}"`);
        at = Math.max(at, found);
      }
      for (const words of lacks) t.notOk(text.includes(words), `${name}: no "${words}"`);
      t.same(
        unread.map(({ what, why, count = '-' }) => `${what} ${why} ${count}`),
        notRead,
        `${name}: not read`,
      );
    }
  });

t.test('subtitles of a file keep their times, speakers and words', async (t) => {
  const srt =
    '1\r\n00:00:04,000 --> 00:00:07,500\r\n<i>Good evening.</i>\r\n\r\n2\r\n00:01:12,250 --> 00:01:15,000\r\nThis astrolabe.\r\n';
  t.same((await readBytes(Buffer.from(srt))).blocks, [
    { text: 'Good evening.', time_s: 4, time_end_s: 7.5, source: 'subtitle' },
    { text: 'This astrolabe.', time_s: 72.25, time_end_s: 75, source: 'subtitle' },
  ]);
  const vtt =
    'WEBVTT\n\nNOTE not shown\n\n01:12.250 --> 01:15.000 line:0\n<v Guide>This <01:12.900><c>ginkgo</c> &amp; more.\n';
  t.same((await readBytes(Buffer.from(vtt))).blocks, [
    { text: 'Guide: This ginkgo & more.', time_s: 72.25, time_end_s: 75, source: 'subtitle' },
  ]);
});

t.test('each mail of a mailbox is a file', async (t) => {
  const mail = (subject: string, body: string) =>
    `From a@b.c Mon Nov  3 10:00:00 2025\nFrom: a@b.c\nTo: d@e.f\nSubject: ${subject}\nDate: Mon, 3 Nov 2025 10:00:00 +0000\n\n${body}\n\n`;
  const members = await unpackBytes(
    Buffer.from(mail('one', '>From here it goes.') + mail('two', 'From the sea, 2025\nWords.')),
  );
  t.same(
    members.map(({ path }) => path),
    ['0001.eml', '0002.eml'],
  );
  t.match(members[0]!.text, /^From: a@b\.c[\s\S]*\n\nFrom here it goes\./);
  t.match(members[1]!.text, /From the sea, 2025\nWords\./);
});

t.test('what belongs to the HTML of a mail is a file inside it, unless it is a picture', async (t) => {
  const part = (type: string, name: string) =>
    `--r\nContent-Type: ${type}\nContent-Disposition: inline; filename="${name}"\nContent-ID: <${name}@x>\nContent-Transfer-Encoding: base64\n\nd29yZHM=\n`;
  const source = `From: a@b.c\nTo: d@e.f\nSubject: s\nDate: Mon, 3 Nov 2025 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="r"\n\n--r\nContent-Type: text/html\n\n<p>The bill.</p>\n${part('application/pdf', 'bill.pdf')}${part('image/png', 'logo.png')}--r--\n`;
  t.same(await unpackBytes(Buffer.from(source)), [{ path: 'bill.pdf', text: 'words' }]);
  t.same((await readBytes(Buffer.from(source))).notRead, [{ what: 'pictures', count: 1, why: 'left_out' }]);
});
