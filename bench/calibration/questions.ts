import type { Collection } from './collection.ts';
import { wordsOf } from './named-words.ts';

/** What is asked of an index, and which of the collection's documents answer. */
export interface Asked {
  readonly id: string;
  readonly text: string;
  readonly vector: Float32Array;
  readonly relevant: readonly number[];
}

/** The collection's own queries. */
export function judgedQueries({ set, queryRows, dimensions }: Collection): Asked[] {
  const numbers = new Map(set.documents.map(({ id }, number) => [id, number]));
  return set.queries.map(({ id, text }, row) => ({
    id,
    text,
    vector: queryRows.subarray(row * dimensions, (row + 1) * dimensions),
    relevant: [...set.judgements.get(id)!].flatMap(([document, grade]) =>
      grade > 0 && numbers.has(document) ? [numbers.get(document)!] : [],
    ),
  }));
}

/**
 * Names, numbers and codes of the collection's own texts, each in one to three documents: words with a digit, and words that
 * are written with a capital inside a sentence.
 */
export function exactQueries({ set }: Collection, count: number): Omit<Asked, 'vector'>[] {
  const holders = new Map<string, Set<number>>();
  const kinds = new Map<string, boolean>();
  for (const [number, { title, text }] of set.documents.entries())
    for (const { word, named } of wordsOf(`${title}\n${text}`)) {
      const key = word.toLowerCase();
      if (!holders.has(key)) holders.set(key, new Set());
      holders.get(key)!.add(number);
      if (named) kinds.set(word, true);
    }
  const rare = [...kinds.keys()].filter((word) => holders.get(word.toLowerCase())!.size <= 3).sort();
  const step = Math.max(1, rare.length / count);
  return Array.from({ length: Math.min(count, rare.length) }, (_, at) => rare[Math.floor(at * step)]!).map(
    (word) => ({ id: `exact ${word}`, text: word, relevant: [...holders.get(word.toLowerCase())!] }),
  );
}
