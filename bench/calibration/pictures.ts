import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { native } from '../../src/native/index.ts';
import { readBeirSet, setFolder } from '../sets/beir.ts';
import { pixelsOf, readPhotographs } from '../sets/photographs.ts';

/** Hits of a search that somebody looks at. */
const DEPTH = 10;
/** One in so many of SciFact's claims is asked for among the photographs: about as many as have a caption. */
const QUERIES_STEP = 9;
/** Pictures of small indexes. */
const FEW = [3, 10];
const TENANT = 'calibration';

/** One search's cosines, best first, each with whether it is the picture that is meant. */
type Results = readonly { readonly score: number; readonly lead: number; readonly relevant: boolean }[];
/** All searches of one query; the first is over the whole set, with its answer in it. */
type Searches = readonly Results[];

/**
 * Searches for pictures that words describe: captioned photographs, each caption once where its picture is in the index
 * and once where it is not; claims, which no photograph answers, count as queries as well. `sameness.ts` has pictures found by others.
 */
export async function pictureSearches(encoder: Encoder, photos: string): Promise<Searches[]> {
  const spec = encoder.pictureSpec;
  if (!spec) throw new Error('there is no picture model to calibrate');
  const photographs = await readPhotographs(photos);
  const pixels = await Promise.all(photographs.map((photograph) => pixelsOf(photograph, spec)));
  const { visual_words: placed = [] } = await encoder.encodeIngest('picture', pixels, { tenant: TENANT });
  const all = [...photographs.keys()];
  /** With the picture that is meant, and without it. */
  const withAndWithout = (scores: Float32Array, meant: number): Searches => {
    const isMeant = (index: number) => index === meant;
    const others = all.filter((index) => !isMeant(index));
    const few = FEW.flatMap((count) =>
      [0, 1, 2].map((start) =>
        Array.from({ length: count }, (_, at) => others[(meant + start + 3 * at) % others.length]!),
      ),
    );
    return [others, ...few].flatMap((of) => [
      ranked(scores, [meant, ...of], isMeant),
      ranked(scores, of, isMeant),
    ]);
  };
  const against = (query: Float32Array, rows: readonly Float32Array[]) =>
    Float32Array.from(rows, (row) => dot(query, row));
  const words: Searches[] = [];
  for (const [index, { caption }] of photographs.entries()) {
    if (caption === undefined) continue;
    const { visual_words: query } = await encoder.encodeQuery('text', caption, { tenant: TENANT });
    words.push(withAndWithout(against(query!, placed), index));
  }
  const { queries } = await readBeirSet(setFolder('scifact'));
  for (const [number, { text }] of queries.entries()) {
    if (number % QUERIES_STEP !== 0) continue;
    const { visual_words: query } = await encoder.encodeQuery('text', text, { tenant: TENANT });
    const scores = against(query!, placed);
    const few = FEW.map((count) => all.slice(number % 20, (number % 20) + count));
    words.push([all, ...few].map((of) => ranked(scores, of, () => false)));
  }
  return words;
}

function ranked(scores: Float32Array, of: readonly number[], relevant: (index: number) => boolean): Results {
  const order = [...of].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, DEPTH);
  const leads = native.pictureLeads(order.map((index) => scores[index]!));
  return order.map((index, at) => ({ score: scores[index]!, lead: leads[at]!, relevant: relevant(index) }));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
