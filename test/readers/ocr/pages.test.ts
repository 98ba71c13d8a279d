import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testExtractor } from '../../rig/readers.ts';

/** Pages drawn with the DejaVu fonts, skewed, bent, shrunk, darkened to one side and noisy, with what they say. */
const FOLDER = join(import.meta.dirname, 'pages');

/** Share of the characters that are wrong: the edits that make one text of the other (Levenshtein, 1965). */
function characterError(read: string, truth: string): number {
  let row = Array.from({ length: truth.length + 1 }, (_, at) => at);
  for (const [above, letter] of [...read].entries()) {
    const next = [above + 1];
    for (let at = 1; at <= truth.length; at++)
      next.push(Math.min(row[at]! + 1, next[at - 1]! + 1, row[at - 1]! + (letter === truth[at - 1] ? 0 : 1)));
    row = next;
  }
  return row[truth.length]! / truth.length;
}

/** Rows of a table without the names of their columns, which they carry. */
const withoutNames = (text: string): string =>
  text.replace(/^\|.*$/gm, (row) => row.replace(/\| ?(?:[\p{L} ]+: )?/gu, ''));

const plain = (text: string): string => withoutNames(text).normalize('NFKC').replace(/\s+/g, ' ').trim();

const pages = readdirSync(FOLDER).filter((name) => !name.endsWith('.txt'));

async function errorOf({ read }: ReturnType<typeof testExtractor>, page: string): Promise<number> {
  const { blocks } = await read(join(FOLDER, page));
  const truth = readFileSync(join(FOLDER, page.replace(/\.\w+$/, '.txt')), 'utf8');
  return characterError(plain(blocks.map(({ text }) => text).join('\n')), plain(truth));
}

t.test('pages in five languages, in columns and as a table are read in their order', async (t) => {
  const extractor = testExtractor(t, { languages: ['auto'] });
  for (const page of pages) {
    const error = await errorOf(extractor, page);
    // Processors add in different orders: a letter more or less.
    t.ok(error <= 0.025, `${page}: ${error.toFixed(3)} of its characters are wrong`);
  }
});

t.test('with named languages Tesseract reads', async (t) => {
  const extractor = testExtractor(t, { languages: ['eng'] });
  for (const page of process.env.ALL_PAGES ? pages : ['table.png']) {
    const error = await errorOf(extractor, page);
    t.comment(`${page}: ${error.toFixed(3)} of its characters are wrong`);
    t.ok(error < (page === 'table.png' ? 0.1 : 1), page);
  }
});
