import t from 'tap';
import { dateText } from '../../../src/readers/office/xlsx-dates.ts';
import { numberFormats } from '../../../src/readers/office/xlsx-numbers.ts';

t.test('dates in spreadsheets are shown as dates, other numbers as their format shows them', async (t) => {
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
