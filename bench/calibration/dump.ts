import type { Encoder } from '../../src/encode/encoder.ts';
import { type DumpedQuery, dumpCandidates } from './candidates.ts';
import { type Collection, encodedCollection } from './collection.ts';
import { type Asked, exactQueries, judgedQueries } from './questions.ts';

/** What the model may know of a collection's queries, in the whole index and in small ones by their number of Segments. */
export interface Dump {
  readonly full: readonly DumpedQuery[];
  readonly cut: Readonly<Record<string, readonly DumpedQuery[]>>;
}

const SIZES = [1, 10, 100];
const EXACT_QUERIES = 200;
/** Queries that are asked of small indexes. */
const CUT_QUERIES = 60;
/** Parts are skipped, because neighbours resemble each other. */
const STEP = 7;

export async function dumpCollection(encoder: Encoder, folder: string, cacheFolder: string): Promise<Dump> {
  const collection = await encodedCollection(encoder, folder, cacheFolder);
  const judged = judgedQueries(collection);
  const exact: Asked[] = [];
  for (const query of exactQueries(collection, EXACT_QUERIES)) {
    const { text_semantic: vector } = await encoder.encodeQuery('text', query.text, {
      tenant: 'calibration',
    });
    exact.push({ ...query, vector: vector! });
  }
  const all = [...collection.passages.keys()];
  const full = await dumpCandidates(encoder, collection, [
    { documents: all, queries: [...judged, ...exact] },
  ]);
  const step = Math.max(1, Math.floor(judged.length / CUT_QUERIES));
  const asked = judged.filter((_, number) => number % step === 0).slice(0, CUT_QUERIES);
  const cut: Record<string, DumpedQuery[]> = {};
  for (const size of SIZES)
    cut[size] = await dumpCandidates(encoder, collection, indexesOf(collection, size, asked));
  return { full, cut };
}

/** For each query an index with its answer and one without; of neighbouring documents. */
function indexesOf({ passages }: Collection, size: number, queries: readonly Asked[]) {
  const parts: number[][] = [];
  let [part, segments]: [number[], number] = [[], 0];
  for (const [document, of] of passages.entries()) {
    part.push(document);
    segments += of.length;
    if (segments < size) continue;
    parts.push(part);
    [part, segments] = [[], 0];
  }
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
