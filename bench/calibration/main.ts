/**
 * Fits the score calibrations of `models/manifest.json` and judges them on what they were not fitted on.
 *
 *   npx node bench/calibration/main.ts [--data ../shared/data] [--cache /tmp/farthing-calibration]
 *
 * A confidence compares passages with pictures, so both are fitted to the same circumstances: indexes of ten Segments to
 * all of the set, the ten best of each query, and every query once where its answer is in the index and once where it is
 * not. Text: claims and abstracts of SciFact. Pictures: captioned photographs and changed copies of them; claims, which no
 * photograph answers, count as queries in words as well. Fitted on every second query, judged on the others; the manifest
 * gets the fit on all. What is judged becomes a record, of which the report draws the curves. The first run encodes the abstracts, which takes minutes.
 */
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Encoder } from '../../src/encode/encoder.ts';
import { openEncoder } from '../../src/encode/open-encoder.ts';
import type { Calibration } from '../../src/search/relevance.ts';
import { machine, writeRecord } from '../rig/record.ts';
import type { Reliable } from '../rig/reliability.ts';
import { CHANGES, pixelsOf, readPhotographs } from '../sets/photographs.ts';
import { encodePassages, readSciFact, type SciFact } from '../sets/scifact.ts';
import { fitLogistic, type Judged, reliabilityOf } from './logistic.ts';
import { wordResults } from './words.ts';

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { data: { type: 'string' }, cache: { type: 'string' } } });
const data = resolve(values.data ?? join(root, '../shared/data'));
const cacheFolder = resolve(values.cache ?? join(tmpdir(), 'farthing-calibration'));
/** Hits of a search that somebody looks at. */
const DEPTH = 10;
/** Abstracts of the smaller indexes. */
const SIZES = [10, 100, 1000];
/** One in so many claims is asked for among the photographs: about as many as have a caption. */
const CLAIMS_STEP = 9;
const tenant = 'calibration';

/** One search's results, best first. */
type Results = readonly Judged[];
/** All searches of one query; the first is over the whole set, with its answer in it. */
type Searches = readonly Results[];

const encoder = await openEncoder({
  modelsFolder: join(root, 'models'),
  cacheFolder,
  queryWorkers: 1,
  ingestWorkers: 1,
  queryQueueMax: 64,
  ingestQueueMax: 64,
  log: () => {},
});
const before = machine();
try {
  const corpus = await readSciFact(join(data, 'text/scifact'));
  const text = judge('text_semantic', await textResults(encoder, corpus), 'score');
  const raw = judge(
    'raw_words',
    await wordResults(encoder, corpus, [corpus.abstracts.length, ...SIZES], DEPTH),
    'share',
  );
  const { words, pictures } = await pictureResults(encoder);
  const reliability = [
    text,
    raw,
    judge('visual_words', words, 'score'),
    judge('visual_picture', pictures, 'score'),
  ];
  process.stderr.write(`record: ${writeRecord('calibration', { reliability }, before)}\n`);
} finally {
  await encoder.close();
}

/** Fits on all for the manifest, and on one half to judge on the other. */
function judge(list: string, queries: readonly Searches[], of: Calibration['of']): Reliable {
  const halves = [0, 1].map((half) => queries.filter((_, index) => index % 2 === half).flat(2));
  const half = fitLogistic(halves[0]!, of);
  const whole = queries.map(([first]) => first!);
  const found = (k: number) =>
    whole.filter((one) => one.slice(0, k).some(({ relevant }) => relevant)).length / whole.length;
  const { ece, bins } = reliabilityOf(halves[1]!, half);
  const report = {
    list,
    calibration: fitLogistic(queries.flat(2), of),
    queries: queries.length,
    success_at_1: Number(found(1).toFixed(3)),
    success_at_5: Number(found(5).toFixed(3)),
    ece,
    curve: bins,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  return { set: 'queries that it was not fitted on', list, ece, bins };
}

async function textResults(encoder: Encoder, corpus: SciFact): Promise<Searches[]> {
  const { owners, dimensions, vectors } = await encodePassages(encoder, corpus, cacheFolder);
  const queries: Searches[] = [];
  for (const [number, claim] of corpus.claims.entries()) {
    const { text_semantic: query } = await encoder.encodeQuery('text', claim.text, { tenant });
    const best = new Float32Array(corpus.abstracts.length).fill(-1);
    owners.forEach((owner, row) => {
      best[owner] = Math.max(
        best[owner]!,
        dot(query!, vectors.subarray(row * dimensions, (row + 1) * dimensions)),
      );
    });
    const isAnswer = (index: number) => claim.relevant.has(corpus.abstracts[index]!.id);
    const others = [...best.keys()].filter((index) => !isAnswer(index));
    const answers = [...best.keys()].filter(isAnswer);
    const indexes = [others, ...SIZES.map((size) => spread(others, size, number))];
    queries.push(
      indexes.flatMap((index) => [
        ranked(best, [...answers, ...index], isAnswer),
        ranked(best, index, isAnswer),
      ]),
    );
  }
  return queries;
}

/** `size` of the numbers, evenly spread, others for each query. */
function spread(numbers: readonly number[], size: number, query: number): number[] {
  const step = numbers.length / size;
  return Array.from({ length: size }, (_, at) => numbers[Math.floor((at + (query % 7) / 7) * step)]!);
}

async function pictureResults(encoder: Encoder): Promise<{ words: Searches[]; pictures: Searches[] }> {
  const spec = encoder.pictureSpec;
  if (!spec) throw new Error('there is no picture model to calibrate');
  const photographs = await readPhotographs(join(data, 'photos'));
  const pixels = await Promise.all(photographs.map((photograph) => pixelsOf(photograph, spec)));
  const { visual_picture: stored = [], visual_words: placed = [] } = await encoder.encodeIngest(
    'picture',
    pixels,
    {
      tenant,
    },
  );
  const all = [...photographs.keys()];
  /** With the picture that is meant, and without it. */
  const withAndWithout = (scores: Float32Array, meant: number): Searches => {
    const isMeant = (index: number) => index === meant;
    const others = all.filter((index) => !isMeant(index));
    return [ranked(scores, all, isMeant), ranked(scores, others, isMeant)];
  };
  const against = (query: Float32Array, rows: readonly Float32Array[]) =>
    Float32Array.from(rows, (row) => dot(query, row));
  const words: Searches[] = [];
  for (const [index, { caption }] of photographs.entries()) {
    if (caption === undefined) continue;
    const { visual_words: query } = await encoder.encodeQuery('text', caption, { tenant });
    words.push(withAndWithout(against(query!, placed), index));
  }
  const { claims } = await readSciFact(join(data, 'text/scifact'));
  for (const [number, { text }] of claims.entries()) {
    if (number % CLAIMS_STEP !== 0) continue;
    const { visual_words: query } = await encoder.encodeQuery('text', text, { tenant });
    words.push([ranked(against(query!, placed), all, () => false)]);
  }
  const pictures: Searches[] = [];
  for (const change of Object.keys(CHANGES)) {
    for (const [index, photograph] of photographs.entries()) {
      const { visual_picture: query } = await encoder.encodeQuery(
        'picture',
        await pixelsOf(photograph, spec, change),
        { tenant },
      );
      pictures.push(withAndWithout(against(query!, stored), index));
    }
  }
  return { words, pictures };
}

function ranked(scores: Float32Array, of: readonly number[], relevant: (index: number) => boolean): Judged[] {
  const order = [...of].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, DEPTH);
  return order.map((index) => ({ score: scores[index]!, relevant: relevant(index) }));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
