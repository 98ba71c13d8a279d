/**
 * Fits the score calibrations of `models/manifest.json` and judges them on what they were not fitted on.
 *
 *   node bench/calibrate.ts [--data ../shared/data] [--cache /tmp/farthing-calibration]
 *
 * Text: SciFact, the hundred best abstracts of each claim; fitted on every second claim, judged on the others. Pictures:
 * captioned photographs, and changed copies of them; likewise. The first run encodes the abstracts, which takes minutes.
 */
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Calibration } from '../src/domain/fusion.ts';
import { type Encoder, openEncoder } from '../src/encode/encoder.ts';
import { fitLogistic, type Judged, reliabilityOf } from './calibration/logistic.ts';
import { CHANGES, pixelsOf, readPhotographs } from './calibration/photographs.ts';
import { encodePassages, readSciFact } from './calibration/scifact.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { data: { type: 'string' }, cache: { type: 'string' } } });
const data = resolve(values.data ?? join(root, '../shared/data'));
const cacheFolder = resolve(values.cache ?? join(tmpdir(), 'farthing-calibration'));
const DEPTH = 100;
const tenant = 'calibration';

/** One query's results, best first. */
type Results = readonly Judged[];

const encoder = await openEncoder({
  modelsFolder: join(root, 'models'),
  cacheFolder,
  queryWorkers: 1,
  ingestWorkers: 1,
  queryQueueMax: 64,
  ingestQueueMax: 64,
  log: () => {},
});
try {
  judge('text_semantic', await textResults(encoder), 'score');
  const { words, pictures } = await pictureResults(encoder);
  judge('visual_words', words, 'score');
  judge('visual_picture', pictures, 'score');
} finally {
  await encoder.close();
}

/** Fits on all for the manifest, and on one half to judge on the other. */
function judge(list: string, results: readonly Results[], of: Calibration['of']): void {
  const halves = [0, 1].map((half) => results.filter((_, index) => index % 2 === half));
  const half = fitLogistic(halves[0]!.flat(), of);
  const top = halves[1]!.flatMap((one) => one.slice(0, 10));
  const found = (k: number) =>
    results.filter((one) => one.slice(0, k).some(({ relevant }) => relevant)).length / results.length;
  const report = {
    list,
    calibration: fitLogistic(results.flat(), of),
    queries: results.length,
    success_at_1: Number(found(1).toFixed(3)),
    success_at_5: Number(found(5).toFixed(3)),
    ece_all: reliabilityOf(halves[1]!.flat(), half).ece,
    ece_top_10: reliabilityOf(top, half).ece,
    curve_top_10: reliabilityOf(top, half).bins,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

async function textResults(encoder: Encoder): Promise<Results[]> {
  const corpus = await readSciFact(join(data, 'text/scifact'));
  const { owners, dimensions, vectors } = await encodePassages(encoder, corpus, cacheFolder);
  const results: Results[] = [];
  for (const claim of corpus.claims) {
    const { text_semantic: query } = await encoder.encodeQuery(claim.text, { tenant });
    const best = new Float32Array(corpus.abstracts.length).fill(-1);
    owners.forEach((owner, row) => {
      best[owner] = Math.max(
        best[owner]!,
        dot(query!, vectors.subarray(row * dimensions, (row + 1) * dimensions)),
      );
    });
    results.push(ranked(best, (index) => claim.relevant.has(corpus.abstracts[index]!.id)));
  }
  return results;
}

async function pictureResults(encoder: Encoder): Promise<{ words: Results[]; pictures: Results[] }> {
  const spec = encoder.pictureSpec;
  if (!spec) throw new Error('there is no picture model to calibrate');
  const photographs = await readPhotographs(join(data, 'photos'));
  const pixels = await Promise.all(photographs.map((photograph) => pixelsOf(photograph, spec)));
  const { visual_picture: stored = [], visual_words: placed = [] } = await encoder.encodePictures(pixels, {
    tenant,
  });
  const words: Results[] = [];
  for (const [index, { caption }] of photographs.entries()) {
    if (caption === undefined) continue;
    const { visual_words: query } = await encoder.encodeQuery(caption, { tenant });
    words.push(
      ranked(
        Float32Array.from(placed, (row) => dot(query!, row)),
        (other) => other === index,
      ),
    );
  }
  const pictures: Results[] = [];
  for (const change of Object.keys(CHANGES)) {
    for (const [index, photograph] of photographs.entries()) {
      const { visual_picture: query } = await encoder.encodeQueryPicture(
        await pixelsOf(photograph, spec, change),
        { tenant },
      );
      pictures.push(
        ranked(
          Float32Array.from(stored, (row) => dot(query!, row)),
          (other) => other === index,
        ),
      );
    }
  }
  return { words, pictures };
}

function ranked(scores: Float32Array, relevant: (index: number) => boolean): Judged[] {
  const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, DEPTH);
  return order.map((index) => ({ score: scores[index]!, relevant: relevant(index) }));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!;
  return sum;
}
