import t from 'tap';
import { dateText } from '../../../src/readers/office/xlsx-dates.ts';
import { numberFormats } from '../../../src/readers/office/xlsx-numbers.ts';
import { readBytes } from '../../rig/readers.ts';
import { zipOf } from '../samples/archives.ts';

t.test('dates in spreadsheets are shown as dates, other numbers as their format shows them', async (t) => {
  const cell = (reference: string, style: number, value: string) =>
    `<c r="${reference}" s="${style}"><v>${value}</v></c>`;
  const bytes = zipOf({
    'xl/workbook.xml': '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': '<R><Relationship Id="r1" Target="worksheets/s.xml"/></R>',
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/><numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>',
    'xl/worksheets/s.xml': `<worksheet><sheetData><row>${cell('A1', 1, '45658')}${cell('B1', 2, '45658.75')}${cell('C1', 3, '45658')}${cell('D1', 4, '0.5')}${cell('E1', 0, '45658')}</row></sheetData></worksheet>`,
  });
  const { blocks } = await readBytes(bytes);
  t.equal(blocks[0]?.text, '| 2025-01-01 | 2025-01-01 18:00 | 45658.0 days | 12:00 | 45658');
  t.equal(dateText('0', 'date', true), '1904-01-01');
  t.equal(dateText('-1', 'date', false), undefined);
  t.equal(dateText('1e300', 'date', false), undefined);
  t.same(numberFormats(undefined), []);
  const formats = numberFormats(
    '<s><numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/><numFmt numFmtId="171" formatCode="[mm]:ss"/><numFmt numFmtId="172" formatCode="[s]"/></numFmts><cellXfs><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="172"/><xf numFmtId="46"/></cellXfs></s>',
  );
  t.same(
    formats.map(({ date }) => dateText(`${40 / 24}`, date!, false)),
    ['40:00', '2400:00', '144000', '40:00'],
    'hours, minutes and seconds in brackets count all the days',
  );
  t.equal(dateText(`${90_061 / 86_400}`, 'hours', false), '25:01:01');
});
