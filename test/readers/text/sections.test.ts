import { readFileSync } from 'node:fs';
import t from 'tap';
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

t.test('markup is dropped, link targets are a section at the end; code is unchanged', async (t) => {
  const source =
    '# T\n\nSee **bold** and [the *docs*](http://example.com/x "t"), `code`, snake_case_name, 2 * 3 * 4.\n\n```js\n# no heading **x**\n```\n> quoted\n';
  t.same(readMarkdown(source).blocks, [
    { text: 'See bold and the docs, code, snake_case_name, 2 * 3 * 4.\n\n# no heading **x**\n\nquoted' },
    { text: 'the docs: http://example.com/x', heading: 'Links' },
  ]);
});

t.test('Markdown is recognised by content; a program is not Markdown', async (t) => {
  t.ok(looksLikeMarkdown(readFileSync('samples/lighthouses.md', 'utf8'), undefined));
  t.ok(looksLikeMarkdown('Words\n\n## Heading\n\n- one\n- two\n', undefined));
  t.notOk(looksLikeMarkdown('#!/bin/sh\n# comment\n\necho\n', undefined));
  t.notOk(looksLikeMarkdown('import os\n# a comment\nprint(1)\n', 'x.py'));
  t.ok(looksLikeMarkdown('Just some prose, without any mark.', 'notes.md'));
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
