import type { Collection } from './collection.ts';
import { wordsOf } from './named-words.ts';

/** A query of an index, and the collection's documents that answer it. */
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

/** A word of two that is asked for together with one that the documents do not have, and what else is asked of them. */
const PAIRS = ['unknown name', 'other word', 'both', 'one'] as const;
/** Words of more documents tell little. */
const COMMON = 0.05;

/**
 * Queries of one or two words for some documents: one of theirs with a name, or a word, of the collection's other documents, which
 * nothing answers; two words of one document; one word. The word that is not there comes first or last.
 */
export class WordQueries {
  readonly #words: readonly (readonly { readonly word: string; readonly named: boolean }[])[];
  readonly #sets: readonly ReadonlySet<string>[];

  constructor({ set }: Collection) {
    const all = set.documents.map(({ title, text }) => [...wordsOf(`${title}\n${text}`)]);
    this.#sets = all.map((of) => new Set(of.map(({ word }) => word.toLowerCase())));
    const counts = new Map<string, number>();
    for (const of of this.#sets) for (const word of of) counts.set(word, (counts.get(word) ?? 0) + 1);
    const tells = (word: string) => counts.get(word.toLowerCase())! < all.length * COMMON;
    this.#words = all.map((of) => of.filter(({ word }) => /^\p{L}\p{Ll}{3,}$/u.test(word) && tells(word)));
  }

  /** @param turn another one gives other words */
  of(documents: readonly number[], turn: number): Omit<Asked, 'vector'>[] {
    const small = (document: number) =>
      this.#words[document]!.flatMap(({ word }) => (/^\p{Ll}/u.test(word) ? word : []));
    const has = (word: string) => documents.some((document) => this.#sets[document]!.has(word.toLowerCase()));
    const some = (of: readonly string[], at: number) => of[(at * 7919) % Math.max(1, of.length)];
    const home = small(documents[turn % documents.length]!);
    const [own, other] = [some(home, turn), some(home, turn + 1)];
    const away = (named: boolean) => {
      for (let step = 1; step < 50; step += 1) {
        const words = this.#words[(documents[0]! + step * 31) % this.#words.length]!;
        const word = some(
          words.flatMap((of) => (of.named === named && !has(of.word) ? of.word : [])),
          turn,
        );
        if (word !== undefined) return word;
      }
      return undefined;
    };
    const asked = { 'unknown name': away(true), 'other word': away(false), both: other, one: '' };
    return PAIRS.flatMap((kind) => {
      const beside = asked[kind];
      if (own === undefined || beside === undefined || beside === own) return [];
      const text = (turn % 2 === 0 ? `${own} ${beside}` : `${beside} ${own}`).trim();
      const words = text.toLowerCase().split(' ');
      const relevant = documents.filter((document) => words.every((word) => this.#sets[document]!.has(word)));
      return { id: `${kind}: ${text}`, text, relevant };
    });
  }
}
