import t from 'tap';
import { reflow } from '../../../src/extract/pdf/reflow.ts';
import { recognisedType } from '../../rig/readers.ts';
import { pdfOf, scriptedPdf } from '../samples/hostile.ts';

t.test('each line knows its place in the text, also where hyphens break words', async (t) => {
  const { text, lines } = reflow(
    'A line that is long enough to go on, with a bro\u0002\r\nken word in it\r\nshort\r\n\r\nNext',
  );
  t.match(text, /a broken word in it\nshort|a broken word in it short/);
  t.ok(lines.every(({ at }) => at < text.length));
  t.equal(text.slice(lines[1]!.at, lines[1]!.at + 3), 'ken');
  t.equal(text.slice(lines.at(-1)!.at), 'Next');
});

t.test('text about PDFs is text; a PDF with bytes before it is a PDF', async (t) => {
  const prose = 'A file that begins with %PDF-1.7 is a PDF, and ends with %%EOF.';
  t.equal(await recognisedType(Buffer.from(prose)), 'text/plain');
  const pdf = scriptedPdf('words');
  t.equal(await recognisedType(pdf), 'application/pdf');
  t.equal(await recognisedType(Buffer.concat([Buffer.from('\r\n'), pdf])), 'application/pdf');
  const lettered = pdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [] /Count 0 >>']);
  t.equal(await recognisedType(Buffer.concat([Buffer.from('\n'), lettered])), 'application/pdf');
});
