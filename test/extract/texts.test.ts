import t from 'tap';
import { csvSeparator, readCsv } from '../../src/extract/csv.ts';
import { readXml } from '../../src/extract/plain-xml.ts';
import { recognise } from '../../src/extract/recognise.ts';
import { reflow } from '../../src/extract/reflow.ts';
import { readRtf } from '../../src/extract/rtf.ts';

t.test('a table in text is told from prose, and each row carries the names of its columns', async (t) => {
  const table = 'Fish,Price,Note\nCod,7,"fresh, ""today"""\nHerring,3,\n';
  t.equal(csvSeparator(table), ',');
  t.equal(csvSeparator(table.replaceAll(',', '\t')), '\t');
  t.equal(
    csvSeparator('Cod, which is white, is good.\nHerring, which is fat, is too.\nEels, long, are rare.\nx'),
    ',',
  );
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
  t.match(await recognise(Buffer.from(table), undefined), { mediaType: 'text/csv' });
});

t.test('RTF gives its text without its tables of fonts and colours', async (t) => {
  const source =
    "{\\rtf1\\ansi{\\fonttbl{\\f0 Times;}}{\\*\\generator x;}\\b Caf\\'e9\\b0\\par Two \\{braces\\} and \\u8364?uro.\\par}";
  t.same(readRtf(source), { title: 'Café', blocks: [{ text: 'Two {braces} and €uro.' }] });
  t.doesNotThrow(() => readRtf('{'.repeat(10_000)));
  t.match(await recognise(Buffer.from(source), undefined), { mediaType: 'application/rtf' });
});

t.test('XML gives the text of its elements, and none of its entities', async (t) => {
  const source =
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "bomb">]><a><title>Boats</title><p>Two &x; oars</p><p>One mast</p></a>';
  t.same(readXml(source), { title: 'Boats', blocks: [{ text: 'Two &x; oars\n\nOne mast' }] });
  t.throws(() => readXml('<?xml version="1.0"?><a>'), { code: 'file_corrupt' });
});

t.test('lines of a page know where they stand in its text, whatever hyphens break them', async (t) => {
  const { text, lines } = reflow(
    'A line that is long enough to go on, with a bro\u0002\r\nken word in it\r\nshort\r\n\r\nNext',
  );
  t.match(text, /a broken word in it\nshort|a broken word in it short/);
  t.ok(lines.every(({ at }) => at < text.length));
  t.equal(text.slice(lines[1]!.at, lines[1]!.at + 3), 'ken');
  t.equal(text.slice(lines.at(-1)!.at), 'Next');
});
