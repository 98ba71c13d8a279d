import { performance } from 'node:perf_hooks';
import { type LastingSession, openLasting } from './lasting-session.ts';
import { PictureRunner } from './picture-runner.ts';
import type { TowerReport } from './protocol.ts';
import { TextRunner } from './text-runner.ts';
import type { Candidate, PictureTower, TextTower } from './tower.ts';

/** A text of about a query's length: what warms a model up, and what providers are compared by. */
const PROBE_TEXT = 'How does a warm current change the weather over an island in winter?';
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

/** The vector that a picture model gives for a pattern with edges, ramps and colours. */
export async function probePicture(runner: PictureRunner, tower: PictureTower): Promise<Float32Array> {
  const { width, height, dimensions } = tower.settings;
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++)
      rgb.set(
        [(x * 255) / width, (y * 255) / height, ((x >> 4) ^ (y >> 4)) & 1 ? 220 : 40],
        (y * width + x) * 3,
      );
  }
  const vector = new Float32Array(dimensions);
  await runner.encode(rgb, 1, 'query', vector, false);
  return vector;
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
