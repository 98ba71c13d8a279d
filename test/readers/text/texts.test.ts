import t from 'tap';
import { shapeOfCode } from '../../../src/readers/office/xlsx-dates.ts';
import { pictureTypeOf } from '../../../src/readers/picture/picture.ts';
import { csvSeparator, readCsv } from '../../../src/readers/text/csv.ts';
import { readHtml } from '../../../src/readers/text/html.ts';
import { checkHtml } from '../../../src/readers/text/html-limits.ts';
import { readMarkdown } from '../../../src/readers/text/markdown.ts';
import { readXml } from '../../../src/readers/text/plain-xml.ts';
import { readRtf } from '../../../src/readers/text/rtf.ts';
import { recognisedType } from '../../rig/readers.ts';

t.test('a table is told from prose, and each row carries the names of its columns', async (t) => {
  const table = 'Fish,Price,Note\nCod,7,"fresh, ""today"""\nHerring,3,\n';
  t.equal(csvSeparator(table), ',');
  t.equal(csvSeparator(table.replaceAll(',', '\t')), '\t');
  t.equal(
    csvSeparator(
      'He said that cod, which is a white fish, is good.\nShe said that eels, which are long, are fine.\nThey ate of it, all of them together, gladly.\n',
    ),
    undefined,
  );
  t.same(readCsv(table, ',').blocks, [
    {
      text: '| Fish | Price | Note\n| Fish: Cod | Price: 7 | Note: fresh, "today"\n| Fish: Herring | Price: 3',
    },
  ]);
  t.equal(await recognisedType(Buffer.from(table)), 'text/csv');
  t.same(
    readCsv('Part,Note\n7" pipe,2" wide\nvalve,"open\nbulb,"a ""b"", c" \n"x"y,"two\nlines"\nlast,"', ',')
      .blocks,
    [
      {
        text: '| Part | Note\n| Part: 7" pipe | Note: 2" wide\n| Part: valve | Note: "open\n| Part: bulb | Note: a "b", c\n| Part: "x"y | Note: two lines\n| Part: last | Note: "',
      },
    ],
    'a quote counts only at the start of a cell, and only when it is closed',
  );
  const long = `${'many words '.repeat(500)}end`;
  t.equal(readCsv(`Name,Text\na,${long}\n`, ',').blocks[0]!.text, `| Name | Text\n| Name: a | Text: ${long}`);
});

t.test('RTF gives its text, without tables of fonts and colours', async (t) => {
  const source =
    "{\\rtf1\\ansi{\\fonttbl{\\f0 Times;}}{\\*\\generator x;}\\b Caf\\'e9\\b0\\par Two \\{braces\\} and \\u8364?uro.\\par}";
  t.same(readRtf(source), { title: 'Café', blocks: [{ text: 'Two {braces} and €uro.' }] });
  t.doesNotThrow(() => readRtf('{'.repeat(10_000)));
  const textOf = (body: string) => readRtf(`{\\rtf1\\ansi ${body}}`).blocks[0]?.text;
  t.equal(
    textOf(
      'It\\rquote s \\ldblquote here\\rdblquote\\emdash or \\lquote there\\rquote  1\\endash 2 \\bullet  x\\_y\\~z\\-w',
    ),
    'It’s “here”—or ‘there’ 1–2 • x-y zw',
  );
  t.match(
    readRtf('{\\rtf1 one\\\ntwo}'),
    { title: 'one', blocks: [{ text: 'two' }] },
    'a backslash ends a paragraph with its line',
  );
  t.equal(textOf("\\ansicpg1251 \\'d1\\'e2\\'e5\\'f2"), 'Свет');
  t.equal(textOf("\\ansicpg932 \\'93\\'95\\'8c\\'e4 x"), '燈御 x', 'two bytes are one letter');
  t.equal(textOf("\\ansicpg932\\uc2 \\u28783\\'93\\'95!"), '灯!', 'its replacement is skipped');
  t.equal(
    textOf(
      "{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}}\\f0 caf\\'e9 {\\f1 \\'d1\\'e2\\'e5\\'f2} \\'e9",
    ),
    'café Свет é',
    'a font has its character set',
  );
  t.equal(textOf("\\ansicpg99999 caf\\'e9"), 'café');
  t.equal(await recognisedType(Buffer.from(source)), 'application/rtf');
});

t.test('RTF: what stands beside the text is read, what nobody sees is told', async (t) => {
  for (const [source, expected] of [
    [
      '{\\info{\\title Lease}{\\author Ann}}{\\header Wexcombe mill}{\\headerf Wexcombe mill}One.\\par',
      {
        title: 'Lease',
        blocks: [{ text: 'One.' }, { heading: 'Header and footer', text: 'Wexcombe mill' }],
      },
    ],
    [
      'The loom{\\footnote Of oak.} stands.{\\*\\atnauthor Ann}{\\*\\annotation Not ours.} Still.',
      { title: 'The loom', blocks: [{ text: 'Note: Of oak.\n\n stands.\n\nComment: Not ours.\n\n Still.' }] },
    ],
    [
      '{\\shp{\\*\\shpinst\\shpleft0{\\shptxt In a box.\\par}}}After.',
      { title: 'In a box.', blocks: [{ text: 'After.' }] },
    ],
    [
      'One{\\v  secret}\\v  more\\v0  two{\\deleted  gone}.',
      {
        blocks: [{ text: 'One two.' }],
        notRead: [
          { what: 'hidden_text', count: 2, why: 'hidden' },
          { what: 'revisions', count: 1, why: 'left_out' },
        ],
      },
    ],
    [
      '{\\*\\shppict{\\pict\\bin4 }}{{}}{\\nonshppict{\\x 1}}{\\object{\\*\\objdata 0105}{\\result Shown.}}',
      {
        blocks: [{ text: 'Shown.' }],
        notRead: [
          { what: 'pictures', count: 1, why: 'unsupported' },
          { what: 'attachments', count: 1, why: 'unsupported' },
        ],
      },
    ],
    ["{\\fonttbl{\\f0\\fcharset238 A;}}\\deff0 \\'b3\\'f3d\\'9f", { blocks: [{ text: 'łódź' }] }],
  ] as const)
    t.match(readRtf(`{\\rtf1\\ansi ${source}}`), expected, source);
});

t.test('XML gives the text of its elements, and none of its entities', async (t) => {
  const source =
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "bomb">]><a><title>Boats</title><p>Two &x; oars</p><p>One mast</p></a>';
  t.same(readXml(source), { title: 'Boats', blocks: [{ text: 'Two &x; oars\n\nOne mast' }] });
  t.match(readXml('<?xml version="1.0"?><a>oars'), {
    blocks: [{ text: 'oars' }],
    notRead: [{ what: 'markup', why: 'damaged' }],
  });
});

t.test('every pattern takes linear time: with a slower one, this test would not end', async (t) => {
  const many = 400_000;
  t.equal(await pictureTypeOf(Buffer.from(`${'<!---->'.repeat(1_000)}x`)), undefined);
  t.equal(await pictureTypeOf(Buffer.from('<!-- a --><!-- b -->\n<svg>')), 'image/svg+xml');
  const code = '`'.repeat(many);
  for (const [source, text] of [
    [`words ${'<!--'.repeat(many)}`, `words ${'<!--'.repeat(many)}`],
    ['a <!-- hidden --> b <!-- open', 'a  b <!-- open'],
    [`x${code}`, `x${code}`],
  ] as const)
    t.ok(readMarkdown(source).blocks[0]!.text === text, source.slice(0, 20));
  t.ok(readMarkdown(`#${' #'.repeat(many)}x\n\nwords`).blocks[0]!.text.endsWith(' #x\n\nwords'));
  t.match(readMarkdown('# Title ##\n\n## Part # \n\nwords'), {
    title: 'Title',
    blocks: [{ heading: 'Part' }],
  });
  const spaces = ' '.repeat(many);
  t.match(readHtml(`<pre>a${spaces}b</pre>`).blocks[0]!.text, /^a +b$/);
  t.match(readHtml(`<table><tr>${'<td></td>'.repeat(150_000)}<td>x</td></tr></table>`).blocks[0]!.text, /x$/);
  t.equal(shapeOfCode(`${'m'.repeat(many)}h`), 'time');
});

t.test('a page that would take a parser minutes is refused before it is parsed', async (t) => {
  const many = 1_000_000;
  const names = Array.from({ length: many }, (_, at) => `a${at}`).join(' ');
  for (const [what, page] of [
    ['nested elements', '<div>'.repeat(many)],
    ['elements that nobody ends', '<b>'.repeat(many)],
    ['nested tables', '<table><tr><td>'.repeat(many)],
    ['a million paragraphs', '<p>w</p>'.repeat(many)],
    ['an element of a million attributes', `<p ${names}>words`],
    ['attributes with values', `<p ${'a="b>" '.repeat(many)}>words`],
    ['a long list', '<li>w'.repeat(many)],
  ] as const)
    t.throws(() => readHtml(`<!doctype html><body>${page}`), { code: 'document_too_large' }, what);
  for (const [what, page] of [
    ['comments without end', '<!--'.repeat(many)],
    ['declarations without end', '<!'.repeat(many)],
    ['a script full of tags', `<script>${'"<div>"'.repeat(many)}</script>`],
    ['a comment full of tags', `<!-- ${'<div>'.repeat(many)} -->`],
    ['a list of items without ends', `<ul>${'<li>w'.repeat(5_000)}</ul>`],
    ['rows without ends', `<table>${'<tr><td>w<td>w'.repeat(5_000)}</table>`],
    ['breaks', 'w<br>'.repeat(5_000)],
    ['elements that are empty', '<x/>'.repeat(5_000)],
  ] as const)
    t.doesNotThrow(() => checkHtml(`<!doctype html><body>${page}`), what);
});

t.test('marks without end in one line of Markdown stay as they are', async (t) => {
  for (const mark of ['[', '![a](', '**a', '`a', '<a']) {
    const line = mark.repeat(200_000);
    t.equal(readMarkdown(`# Title\n\n${line}\n`).blocks[0]?.text, line, mark);
  }
});
