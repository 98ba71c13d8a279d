/**
 * How many words of other libraries ours finds in the same documents, by format: `others.py` beside it writes what they read.
 *
 *     node bench/readers/words.ts others.jsonl
 *
 * For each format: documents, those that both read, share of the words found, share of the pairs of neighbouring words (their order),
 * and the documents with less than .95 of the words.
 */
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { readBytes } from '../../test/rig/readers.ts';

interface Other {
  readonly path: string;
  readonly text?: string;
  readonly error?: string;
}

interface Compared {
  readonly path: string;
  readonly words: number;
  readonly found: number;
  readonly pairs: number;
  readonly pairsFound: number;
}

const LOW = 0.95;

function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** How many of some things are among others, each as often as it is there. */
function shared(wanted: readonly string[], given: readonly string[]): number {
  const left = new Map<string, number>();
  for (const one of given) left.set(one, (left.get(one) ?? 0) + 1);
  return wanted.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count > 0;
  }).length;
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, at) => `${words[at]} ${word}`);
}

async function ourText(path: string): Promise<string | undefined> {
  try {
    const { title = '', blocks } = await readBytes(readFileSync(path));
    return [title, ...blocks.flatMap(({ heading = '', text }) => [heading, text])].join('\n');
  } catch (error) {
    return (error as { code?: string }).code === 'file_empty' ? '' : undefined;
  }
}

const all = readFileSync(process.argv[2] ?? 0, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Other);
const formats = [...new Set(all.map(({ path }) => extname(path).toLowerCase()))].sort();
console.log('format | documents | read by both | words | order | below .95');
for (const format of formats) {
  const documents = all.filter(({ path }) => extname(path).toLowerCase() === format);
  const compared: Compared[] = [];
  const notes: string[] = [];
  for (const { path, text, error } of documents) {
    const ours = await ourText(path);
    if (ours === undefined || text === undefined) {
      notes.push(
        `${basename(path)}: ${ours === undefined ? 'refused by ours' : 'read by ours alone'}${error ? ` (${error})` : ''}`,
      );
      continue;
    }
    const [theirs, own] = [wordsOf(text), wordsOf(ours)];
    const result = {
      path,
      words: theirs.length,
      found: shared(theirs, own),
      pairs: Math.max(0, theirs.length - 1),
      pairsFound: shared(pairsOf(theirs), pairsOf(own)),
    };
    compared.push(result);
    if (result.found < result.words * LOW)
      notes.push(`${basename(path)}: ${result.found} of ${result.words}`);
  }
  const sum = (key: 'words' | 'found' | 'pairs' | 'pairsFound') =>
    compared.reduce((total, one) => total + one[key], 0);
  const share = (part: number, whole: number) => (whole === 0 ? '–' : (part / whole).toFixed(3));
  const low = compared.filter(({ found, words }) => found < words * LOW).length;
  console.log(
    [
      format,
      documents.length,
      compared.length,
      share(sum('found'), sum('words')),
      share(sum('pairsFound'), sum('pairs')),
      low,
    ].join(' | '),
  );
  for (const note of notes) console.log(`    ${note}`);
}
