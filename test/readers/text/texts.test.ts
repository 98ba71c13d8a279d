import t from 'tap';
import { shapeOfCode } from '../../../src/readers/office/xlsx-dates.ts';
import { pictureTypeOf } from '../../../src/readers/picture/picture.ts';
import { readHtml } from '../../../src/readers/text/html.ts';
import { checkHtml } from '../../../src/readers/text/html-limits.ts';
import { readMarkdown } from '../../../src/readers/text/markdown.ts';
import { readRtf } from '../../../src/readers/text/rtf.ts';

t.test('RTF: damage and unknown code pages end nothing', async (t) => {
  t.doesNotThrow(() => readRtf('{'.repeat(10_000)));
  t.equal(readRtf("{\\rtf1\\ansi \\ansicpg99999 caf\\'e9}").blocks[0]?.text, 'café');
  const broken = readRtf('{\\rtf1 one\\\ntwo}');
  t.match(broken, { title: 'one', blocks: [{ text: 'two' }] }, 'a backslash ends a paragraph with its line');
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
    const line = mark.repeat(50_000);
    t.equal(readMarkdown(`# Title\n\n${line}\n`).blocks[0]?.text, line, mark);
  }
});
