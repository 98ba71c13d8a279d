import t from 'tap';
import { inReadingOrder, linesOf } from '../../../src/readers/pdf/columns.ts';
import { reflow } from '../../../src/readers/pdf/reflow.ts';
import { hasShiftedLetters } from '../../../src/readers/pdf/shifted-map.ts';
import { readBytes, recognisedType } from '../../rig/readers.ts';
import { hostileFile, pdfOf, pdfStream } from '../samples/hostile.ts';

t.test('a hyphen at the end of a line stays where it belongs to the word', async (t) => {
  const other = 'Another line that is as long as all of the others.';
  for (const [line, next, expected] of [
    ['All of the offers are based on the price-', 'performance ratio of last year.', 'price-performance'],
    ['The shop is open on weekdays for a 24-', 'hour period and closed then.', '24-hour'],
    ['We were all sick with the known COVID-', '19 illness in that winter.', 'COVID-19'],
    ['The part with the order number is KX-', '4417 and came in the first week.', 'KX-4417'],
    ['See the chapters on the pages 112-', '118 of the second volume of it.', '112-118'],
    ['A meeting with the new vice-', 'President of the company there.', 'vice-President'],
    ['The many long years of the pre-', 'and post-war times were hard.', 'pre- and post-war'],
    ['The plain text of this old docu-', 'ment has a break within a word.', 'document has'],
  ] as const) {
    const lines = [other, line, next, other];
    const page = lines.map((text, at) => `BT /F1 12 Tf 60 ${700 - at * 16} Td (${text}) Tj ET`).join('\n');
    const pdf = pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      pdfStream(Buffer.from(page)),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ]);
    const { blocks } = await readBytes(pdf);
    t.match(blocks.map(({ text }) => text).join('\n'), expected);
  }
});

t.test('letters that are set apart are words; single letters stay apart', async (t) => {
  const lines = ['5 Tc (Minutes of the board) Tj', '0 Tc (Keys Q W E R T Y) Tj', '6 Tc (INVOICE) Tj'];
  const columns = [...'HELLO'].map((letter, at) => `1 0 0 1 ${60 + at * 40} 600 Tm (${letter}) Tj`);
  const page = lines.map((shown, at) => `BT /F1 12 Tf 60 ${700 - at * 30} Td ${shown} ET`);
  const pdf = pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    pdfStream(Buffer.from([...page, `BT /F1 12 Tf 0 Tc ${columns.join(' ')} ET`].join('\n'))),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]);
  const text = (await readBytes(pdf)).blocks.map((block) => block.text).join('\n');
  for (const words of ['Minutes of the board', 'Q W E R T Y', 'INVOICE', 'H E L L O'])
    t.match(text, words, text);
});

t.test('each line knows its place in the text, also where hyphens break words', async (t) => {
  const raw = 'A line that is long enough to go on, with a bro\u0002\r\nken word in it\r\nshort\r\n\r\nNext';
  const { text, lines } = reflow(raw, linesOf(raw));
  t.match(text, /a broken word in it\nshort|a broken word in it short/);
  t.ok(lines.every(({ at }) => at < text.length));
  t.equal(text.slice(lines[1]!.at, lines[1]!.at + 3), 'ken');
  t.equal(text.slice(lines.at(-1)!.at), 'Next');
});

t.test(
  'letters that stand beside the right ones are told from short texts, formulas and figures',
  async (t) => {
    const shifted = [
      ...'This is to certify that the examination in escapements and pendulums was passed with honour',
    ]
      .map((letter) => (letter === ' ' ? ' ' : String.fromCharCode(letter.charCodeAt(0) + 3)))
      .join('');
    t.equal(hasShiftedLetters(shifted), true);
    for (const text of [
      'Top Left Centered Top Right Bottom Left Centered Bottom Right',
      'x 2 = 9 means x ∈ { 3 , − 3 } .',
      Array.from({ length: 400 }, (_, at) => `${(at * 37) % 100} ${(at * 7919) % 1000}`).join(' '),
    ])
      t.equal(hasShiftedLetters(text), false, text.slice(0, 40));
  },
);

t.test('columns that are drawn row by row come apart, tables keep their rows', async (t) => {
  const order = (rows: readonly (readonly string[])[]): string[] => {
    const text = rows.map((cells) => cells.join(' ')).join('\r\n');
    // Each character is one unit wide, and each cell begins at a multiple of 60.
    const edges: [number, number][] = [];
    for (const cells of rows) {
      for (const [column, cell] of cells.entries())
        for (let at = 0; at <= cell.length; at++) edges.push([column * 60 + at, column * 60 + at + 1]);
      edges.push([0, 0]);
    }
    return inReadingOrder(text, (at) => edges[at]).map(({ from, to }) => text.slice(from, to));
  };
  const [left, right] = ['The wardens inspected the dyke', 'surgeon of the town, whose report'];
  t.same(order([[left, right], [left, right], [left, right], ['The end of it']]), [
    left,
    left,
    left,
    right,
    right,
    right,
    'The end of it',
  ]);
  const table = [
    ['Depot', 'Lanterns'],
    ['Skarvik', '118'],
    ['Tornby', '97'],
  ];
  t.same(order(table), ['Depot Lanterns', 'Skarvik 118', 'Tornby 97']);
  t.same(order([[left, right]]), [`${left} ${right}`]);
});

t.test('text about PDFs is text; a PDF with bytes before it is a PDF', async (t) => {
  const prose = 'A file that begins with %PDF-1.7 is a PDF, and ends with %%EOF.';
  t.equal(await recognisedType(Buffer.from(prose)), 'text/plain');
  const pdf = hostileFile('scripted.pdf');
  t.equal(await recognisedType(pdf), 'application/pdf');
  t.equal(await recognisedType(Buffer.concat([Buffer.from('\r\n'), pdf])), 'application/pdf');
  const lettered = pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [] /Count 0 >>']);
  t.equal(await recognisedType(Buffer.concat([Buffer.from('\n'), lettered])), 'application/pdf');
});
