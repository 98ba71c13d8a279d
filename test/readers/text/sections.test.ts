import { readFileSync } from 'node:fs';
import t from 'tap';
import { looksLikeHtml, readHtml } from '../../../src/readers/text/html.ts';
import { looksLikeMarkdown, readMarkdown } from '../../../src/readers/text/markdown.ts';
import { readPlain } from '../../../src/readers/text/plain.ts';

t.test('the first heading of Markdown is its title, deeper ones paths of sections', async (t) => {
  const { title, blocks } = readMarkdown(
    '# Title\n\nIntro.\n\n## One\n\nText one.\n\n### Deep\n\nText deep.\n\nTwo\n---\nText two.\n',
  );
  t.equal(title, 'Title');
  t.same(blocks, [
    { text: 'Intro.' },
    { text: 'One\n\nText one.', heading: 'One' },
    { text: 'Deep\n\nText deep.', heading: 'One › Deep' },
    { text: 'Two\n\nText two.', heading: 'Two' },
  ]);
});

t.test('markup and link targets are dropped; code is unchanged', async (t) => {
  const source =
    '# T\n\nSee **bold** and [the *docs*](http://example.com/x "t"), `code`, snake_case_name, 2 * 3 * 4.\n\n```js\n# no heading **x**\n```\n> quoted\n';
  t.same(readMarkdown(source).blocks, [
    { text: 'See bold and the docs, code, snake_case_name, 2 * 3 * 4.\n\n# no heading **x**\n\nquoted' },
  ]);
});

t.test('front matter gives the title, and its other fields are text', async (t) => {
  const { title, blocks } = readMarkdown('---\ntitle: "From above"\ntags: [a]\n---\n\nBody.\n');
  t.equal(title, 'From above');
  t.same(blocks, [{ text: 'tags: [a]\n\nBody.' }]);
  t.ok(looksLikeMarkdown('---\ntitle: x\n---\n\n# x\n\nWords.\n\n## Part\n\n- one\n- two\n', undefined));
});

t.test('a document that is a title alone has it as text', async (t) => {
  t.same(readMarkdown('# Only a title').blocks, [{ text: 'Only a title' }]);
});

t.test('Markdown is recognised by content; a program is not Markdown', async (t) => {
  t.ok(looksLikeMarkdown(readFileSync('samples/lighthouses.md', 'utf8'), undefined));
  t.ok(looksLikeMarkdown('Words\n\n## Heading\n\n- one\n- two\n', undefined));
  t.notOk(looksLikeMarkdown('#!/bin/sh\n# comment\n\necho\n', undefined));
  t.notOk(looksLikeMarkdown('import os\n# a comment\nprint(1)\n', 'x.py'));
  t.notOk(looksLikeMarkdown('Just some prose, without any mark.', 'notes.md'));
});

t.test('a short first line above an empty one is the title of plain text', async (t) => {
  t.same(readPlain('A title\n\nThe text.\nMore.'), {
    title: 'A title',
    blocks: [{ text: 'The text.\nMore.' }],
  });
  t.same(readPlain('No title, just\ntwo lines.'), { blocks: [{ text: 'No title, just\ntwo lines.' }] });
  t.same(readPlain(`${'long '.repeat(100)}\n\nThe text.`).title, undefined);
  t.same(readPlain('  \n '), { blocks: [] });
});

const PAGE = `<!doctype html><html><head><title>A &amp; B</title><style>.x{}</style><script>alert(1)</script></head>
<body><nav><a href="/">Home</a></nav><h1>A &amp; B</h1><p>First <b>paragraph</b> with a <a href="http://x.example/">link</a>.</p>
<h2>Part</h2><ul><li>one</li><li>two</li></ul><table><tr><th>Name</th><th>Size</th></tr><tr><td>Oak</td><td>30 m</td></tr></table>
<img src="http://evil.example/x.png" alt="A tree"><script>evil()</script><div hidden>secret</div><footer>Imprint</footer></body></html>`;

t.test('HTML gives title and text, without scripts, styles, navigation, addresses of links', async (t) => {
  const { title, blocks, notRead } = readHtml(PAGE);
  t.equal(title, 'A & B');
  t.same(notRead, [
    { what: 'navigation', count: 1, why: 'left_out' },
    { what: 'hidden_text', count: 1, why: 'hidden' },
  ]);
  t.same(
    blocks.map(({ heading }) => heading),
    [undefined, 'Part'],
  );
  const text = blocks.map((block) => block.text).join('\n');
  t.match(text, /First paragraph with a link\./);
  t.match(text, /- one\n ?- two/);
  t.match(text, /Name \| Size\nOak \| 30 m/, 'rows stay rows');
  t.match(text, /A tree/);
  t.notMatch(text, /alert|evil|Home|secret|example|\.x/);
});

t.test('HTML is recognised by content', async (t) => {
  t.ok(looksLikeHtml(PAGE));
  t.ok(looksLikeHtml('<!-- x -->\n<html lang="en"><p>x'));
  t.ok(looksLikeHtml('<p>fragment</p>'));
  t.notOk(looksLikeHtml('<note>xml</note>'));
  t.notOk(looksLikeHtml('a < b and b > c'));
});

t.test('nested and unclosed markup is read, up to a limit', async (t) => {
  const nested = (depth: number) =>
    `<html><body>${'<div>'.repeat(depth)}deep text${'</div>'.repeat(depth)}<p>after</p></body></html>`;
  t.throws(() => readHtml(nested(20_000)), { code: 'document_too_large' }, 'deeper than any page is');
  t.match(
    readHtml(nested(900))
      .blocks.map(({ text }) => text)
      .join(),
    /after/,
  );
  t.ok(readMarkdown('[['.repeat(20_000)).blocks.length <= 1);
  t.ok(readMarkdown(`# t\n\n${'**a '.repeat(20_000)}`).blocks.length <= 1);
});

t.test('a heading in a list or a quotation is a heading, whatever mark is before it', async (t) => {
  const { blocks } = readHtml(
    '<!doctype html><h1>Coast</h1><ul><li><h3>Lighthouse</h3>Tall.</li><li>Piers<ul><li><h4>West <br>pier</h4>Long.</li></ul></li></ul><ol><li><h3>Harbour</h3>Deep.</li></ol><blockquote><h3>Said</h3>Words.</blockquote>',
  );
  t.same(
    blocks.map(({ heading }) => heading),
    ['Lighthouse', 'Lighthouse › West pier', 'Harbour', 'Said'],
  );
  t.match(blocks[0]!.text, /^Lighthouse\n\nTall\.\n- Piers$/);
  t.notMatch(blocks.map(({ text }) => text).join(), /\d/);
});
