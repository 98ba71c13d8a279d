import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { type DumpedQuery, dumpCandidates } from './candidates.ts';
import { type Collection, withOthers } from './collection.ts';
import { type Asked, exactQueries, judgedQueries, WordQueries } from './questions.ts';

/** Candidates of a collection's queries, in the whole index and in small ones by their number of Segments. */
export interface Dump {
  readonly full: readonly DumpedQuery[];
  readonly cut: Readonly<Record<string, readonly DumpedQuery[]>>;
  /** One or two words, asked of such small indexes. */
  readonly words: Readonly<Record<string, readonly DumpedQuery[]>>;
  /** The first of the queries in the whole index with 1,000 Segments of other collections beside. */
  readonly beside: readonly DumpedQuery[];
}

const SIZES = [1, 10, 100];
const EXACT_QUERIES = 200;
/** Queries, and as many exact ones, that are asked of small indexes. */
const CUT_QUERIES = 60;
const BESIDE_QUERIES = 300;
const OTHERS = 1000;
/** Parts are skipped, because neighbours resemble each other. */
const STEP = 7;

export async function dumpCollection(
  encoder: Encoder,
  collection: Collection,
  others: readonly Collection[],
): Promise<Dump> {
  const judged = judgedQueries(collection);
  const encoded = (queries: readonly Omit<Asked, 'vector'>[]) => encodedQueries(encoder, queries);
  const exact = await encoded(exactQueries(collection, EXACT_QUERIES));
  const all = [...collection.passages.keys()];
  const full = await dumpCandidates(encoder, collection, [
    { documents: all, queries: [...judged, ...exact] },
  ]);
  const mixed = withOthers(collection, others, OTHERS);
  const beside = await dumpCandidates(encoder, mixed, [
    { documents: [...mixed.passages.keys()], queries: some(judged, BESIDE_QUERIES) },
  ]);
  const asked = [...some(judged, CUT_QUERIES), ...some(exact, CUT_QUERIES)];
  const words: Record<string, DumpedQuery[]> = {};
  const cut: Record<string, DumpedQuery[]> = {};
  const wordQueries = new WordQueries(collection);
  for (const size of SIZES) {
    const parts = partsOf(collection, size);
    cut[size] = await dumpCandidates(encoder, collection, indexesOf(parts, asked));
    const indexes: { documents: number[]; queries: Asked[] }[] = [];
    for (const [turn, documents] of some(parts, CUT_QUERIES).entries())
      indexes.push({ documents, queries: await encoded(wordQueries.of(documents, turn)) });
    words[size] = await dumpCandidates(encoder, collection, indexes);
  }
  return { full, cut, words, beside };
}

async function encodedQueries(encoder: Encoder, queries: readonly Omit<Asked, 'vector'>[]): Promise<Asked[]> {
  const encoded: Asked[] = [];
  for (const query of queries) {
    const { text_semantic: vector } = await encoder.encodeQuery('text', query.text, {
      tenant: 'calibration',
    });
    encoded.push({ ...query, vector: vector! });
  }
  return encoded;
}

/** So many of them, evenly. */
function some<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count);
  return Array.from({ length: Math.min(count, all.length) }, (_, at) => all[Math.floor(at * step)]!);
}

/** Neighbouring documents of about so many Segments together. */
function partsOf({ passages }: Collection, size: number): number[][] {
  const parts: number[][] = [];
  let [part, segments]: [number[], number] = [[], 0];
  for (const [document, of] of passages.entries()) {
    part.push(document);
    segments += of.length;
    if (segments < size) continue;
    parts.push(part);
    [part, segments] = [[], 0];
  }
  return parts;
}

/** For each query an index with its answer and one without. */
function indexesOf(parts: readonly number[][], queries: readonly Asked[]) {
  const asked = new Map<number, Asked[]>();
  const ask = (number: number, query: Asked) => asked.set(number, [...(asked.get(number) ?? []), query]);
  for (const query of queries) {
    const answers = (number: number) => parts[number]!.some((one) => query.relevant.includes(one));
    const at = [...parts.keys()].find(answers);
    if (at !== undefined) ask(at, query);
    const others = [...parts.keys()].map((_, number) => ((at ?? 0) + STEP * (number + 1)) % parts.length);
    const without = others.find((number) => !answers(number));
    if (without !== undefined) ask(without, query);
  }
  return [...asked].map(([number, of]) => ({ documents: parts[number]!, queries: of }));
}
