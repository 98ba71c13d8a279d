import { readFileSync } from 'node:fs';
import { FORMAT_SAMPLES } from '../readers/samples/formats.ts';
import { DAMAGED, file, GIVEN_UP, type HostileCase, TOO_LARGE } from './case.ts';
import {
  boastfulParquet,
  circularSectors,
  circularSqlite,
  crowdedSevenZip,
  heicFlood,
  largePng,
  longPdf,
  sevenZipBomb,
  silence,
} from './reader-files.ts';

const ANY = ['read', ...GIVEN_UP, ...DAMAGED];

export const READER_CASES: readonly HostileCase[] = [
  file('a 7z bomb: 1 GiB of 150 kB', sevenZipBomb(), TOO_LARGE),
  file('a 7z bomb that says 1 MiB', sevenZipBomb(2 ** 20), ANY),
  file('a 7z of a million million files', crowdedSevenZip(), [...TOO_LARGE, ...DAMAGED]),
  file('a Parquet file that unfolds', readFileSync('test/readers/reports/other/unfolding.parquet'), ANY),
  file('a Parquet file with a footer of 2 GiB', boastfulParquet(), [...TOO_LARGE, ...DAMAGED]),
  file('a SQLite database whose pages go round', circularSqlite(), ANY),
  ...['msword', 'vnd.ms-excel', 'vnd.ms-outlook', 'vnd.ms-powerpoint'].map((type) =>
    file(`sectors that go round: ${type}`, circularSectors(FORMAT_SAMPLES[`application/${type}`]!), ANY),
  ),
  file('an RTF of two million groups', `{\\rtf1 words ${'{'.repeat(2_000_000)}`, ANY),
  file('an RTF that skips 2 GiB', '{\\rtf1 words \\bin2147483647 more}', ANY),
  file('an RTF whose letters are replaced a billion times', '{\\rtf1\\uc999999999 \\u228 words}', ANY),
  file('an XML file 300,000 deep', `<?xml version="1.0"?>${'<a>'.repeat(300_000)}words`, ANY),
  file(
    'an XML element of 500,000 attributes',
    `<?xml version="1.0"?><a ${Array.from({ length: 500_000 }, (_, at) => `b${at}=""`).join(' ')}>words</a>`,
    ANY,
  ),
  file('a HEIC flood: 60,000²', heicFlood(), [...TOO_LARGE, ...DAMAGED]),
  file('a picture of 100 megapixels', () => largePng(10_000), ['read', ...TOO_LARGE]),
  file('ten hours of silence', () => silence(36_000), ['read', ...TOO_LARGE]),
  file('a PDF of 4,000 pages', () => longPdf(4000), ['read', ...TOO_LARGE]),
  file('a text of a million lines', `# Gulls\n${'\n'.repeat(1_000_000)}words`, ['read', ...TOO_LARGE]),
  file('a table of a million rows', `a,b\n${',\n'.repeat(1_000_000)}words,1`, ANY, 'rows.csv'),
  file('a calendar of one line that never ends', `BEGIN:VCALENDAR\nSUMMARY:${'x\n '.repeat(500_000)}`, ANY),
];
