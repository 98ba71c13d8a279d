import t from 'tap';
import { printable, visible, visibleWith } from '../../../src/protocol/file/file-name.ts';

/** Characters that a person does not see. */
const UNSEEN = [
  '\u200b',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u2060',
  '\ufeff',
  '\u{e0041}',
  '\u{e007f}',
  '\x1b',
  '\x07',
  '\x9b',
];

t.test('what nobody sees is taken out of texts and names', async (t) => {
  for (const unseen of UNSEEN) {
    const code = unseen.codePointAt(0)!.toString(16);
    t.equal(visible(`gulls${unseen} at dawn${unseen}`), 'gulls at dawn', code);
    t.equal(printable(` ${unseen}log${unseen}.txt`), 'log.txt', code);
  }
});

t.test('what belongs to a text stays', async (t) => {
  const text = 'a\tb\r\nc\fd می‌خواهم 👩‍👩‍👧 so\u00adft';
  t.equal(visible(text), text);
  t.equal(visible('one\u2028two'), 'one\ntwo', 'ends of lines');
  t.equal(printable('a\tb\nc'), 'abc', 'but not in a name');
});

t.test('places point at the same characters', async (t) => {
  const text = '\u2066gulls\u2069 at \u200bdawn';
  const marks = [{ at: text.indexOf('dawn') }, { at: text.indexOf('gulls') }, { at: 0 }];
  const shown = visibleWith(text, marks);
  t.same(shown, { text: 'gulls at dawn', marks: [{ at: 0 }, { at: 0 }, { at: 9 }] });
  t.same(visibleWith('gulls', undefined), { text: 'gulls' });
});
