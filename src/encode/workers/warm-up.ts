import { performance } from 'node:perf_hooks';
import type { Candidate, PictureTower, TextTower } from '../models/tower.ts';
import { PictureRunner } from '../picture/picture-runner.ts';
import { type LastingSession, openLasting } from '../session/lasting-session.ts';
import { TextRunner } from '../text/text-runner.ts';
import type { TowerReport } from './protocol.ts';

/** A text of about a query's length: what warms a model up, and what providers are compared by. */
const PROBE_TEXT = 'How does a warm current change the weather over an island in winter?';
const PROBE_WORDS = PROBE_TEXT.split(' ').length;
const WARMUP_RUNS = 3;

export interface OpenedText {
  readonly runner: TextRunner;
  readonly session: LastingSession;
  readonly report: TowerReport;
}

export async function openText(tower: TextTower, candidate: Candidate): Promise<OpenedText> {
  const session = await openLasting(candidate);
  const runner = new TextRunner(tower, candidate, session);
  const warmupMs = await median(async () => {
    await probeText(runner);
  });
  return { runner, session, report: { model: tower.model, provider: candidate.provider, warmupMs } };
}

/** The vector that a text model gives for the probe. */
export async function probeText(runner: TextRunner): Promise<Float32Array> {
  const vector = new Float32Array(runner.dimensions);
  await runner.encode([PROBE_TEXT], 'query', vector, 0, vector.length);
  return vector;
}

export interface OpenedPicture {
  readonly runner: PictureRunner;
  readonly session: LastingSession;
  readonly report: TowerReport;
}

export async function openPicture(
  tower: PictureTower,
  candidate: Candidate,
  labels: Float32Array,
): Promise<OpenedPicture> {
  const session = await openLasting(candidate);
  const runner = new PictureRunner(tower, candidate, session, labels);
  // Without words: the labels are embedded only after the text model is warm.
  const warmupMs = await median(async () => {
    await probePicture(runner, tower);
  });
  return { runner, session, report: { model: tower.model, provider: candidate.provider, warmupMs } };
}

/** Milliseconds of one text in a whole run of an ingest, each text as long as the model takes. */
export async function ingestTextMs(runner: TextRunner, rows: number): Promise<number> {
  const texts = Array<string>(rows).fill(`${PROBE_TEXT} `.repeat(Math.ceil(runner.limit / PROBE_WORDS)));
  const vectors = new Float32Array(rows * runner.dimensions);
  const ms = await median(async () => {
    await runner.encode(texts, 'passage', vectors, 0, runner.dimensions);
  });
  return ms / rows;
}

/** Milliseconds of one picture in a whole run of an ingest. */
export async function ingestPictureMs(
  runner: PictureRunner,
  tower: PictureTower,
  rows: number,
): Promise<number> {
  const picture = pattern(tower);
  const rgb = new Uint8Array(rows * picture.length);
  for (let row = 0; row < rows; row++) rgb.set(picture, row * picture.length);
  const vectors = new Float32Array(rows * tower.settings.dimensions);
  const ms = await median(async () => {
    await runner.encode(rgb, rows, 'ingest', vectors, false);
  });
  return ms / rows;
}

/** The vector that a picture model gives for the pattern. */
export async function probePicture(runner: PictureRunner, tower: PictureTower): Promise<Float32Array> {
  const vector = new Float32Array(tower.settings.dimensions);
  await runner.encode(pattern(tower), 1, 'query', vector, false);
  return vector;
}

/** A picture with edges, ramps and colours. */
function pattern({ settings: { width, height } }: PictureTower): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rgb[at++] = (x * 255) / width;
      rgb[at++] = (y * 255) / height;
      rgb[at++] = ((x >> 4) ^ (y >> 4)) & 1 ? 220 : 40;
    }
  }
  return rgb;
}

async function median(run: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < WARMUP_RUNS; index++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}
