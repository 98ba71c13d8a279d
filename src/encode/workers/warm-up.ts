import { performance } from 'node:perf_hooks';
import type { Candidate, Tower } from '../models/tower.ts';
import { PictureRunner } from '../picture/picture-runner.ts';
import { type LastingSession, openLasting } from '../session/lasting-session.ts';
import type { Runner } from '../session/runner.ts';
import { NativeTextRunner } from '../text/native-text-runner.ts';
import { TextRunner } from '../text/text-runner.ts';
import type { TowerReport } from './protocol.ts';

const WARMUP_RUNS = 3;

/** A tower that is open and warm in this worker. */
export interface OpenTower {
  readonly runner: Runner & (TextRunner | NativeTextRunner | PictureRunner);
  /** Absent with the native encoder, which has none. */
  readonly session?: LastingSession;
  readonly report: TowerReport;
}

/** @param labels embeddings of the label bridge, which may be filled later: warming up uses none */
export async function openTower(
  tower: Tower,
  candidate: Candidate,
  labels: Float32Array = new Float32Array(0),
): Promise<OpenTower> {
  const opened = await openRunner(tower, candidate, labels);
  const warmupMs = await medianMs(() => opened.runner.probe());
  return { ...opened, report: { model: tower.model, provider: candidate.provider, warmupMs } };
}

async function openRunner(
  tower: Tower,
  candidate: Candidate,
  labels: Float32Array,
): Promise<Omit<OpenTower, 'report'>> {
  switch (tower.kind) {
    case 'text': {
      if (candidate.provider === 'native') return { runner: await NativeTextRunner.open(tower, candidate) };
      const session = await openLasting(candidate);
      return { session, runner: new TextRunner(tower, candidate, session) };
    }
    case 'picture': {
      const session = await openLasting(candidate);
      return { session, runner: new PictureRunner(tower, candidate, session, labels) };
    }
  }
}

const TRIED_QUERIES = 24;
const TRIED_RUNS = 10;

/** Least milliseconds of one query, and of one input in a full run of an ingest. */
export interface Times {
  readonly queryMs: number;
  readonly rowMs: number;
}

/** How long an open model takes: what else runs here only adds to the least of some runs. */
export async function wallTimesOf(
  { runner }: OpenTower,
  rows: number,
  now = () => performance.now(),
): Promise<Times> {
  const queries = await measured(TRIED_QUERIES, () => runner.probe(), now);
  const runs = await measured(TRIED_RUNS, () => runner.fullRun(rows), now);
  return { queryMs: Math.min(...queries), rowMs: Math.min(...runs) / rows };
}

/** The same in processor time, which does not depend on what else runs here; undefined where it is not known. */
export async function processorTimesOf(opened: OpenTower, rows: number): Promise<Times | undefined> {
  const now = () => opened.runner.processorMs?.() ?? Number.NaN;
  return Number.isNaN(now()) ? undefined : wallTimesOf(opened, rows, now);
}

async function medianMs(run: () => Promise<unknown>): Promise<number> {
  const times = await measured(WARMUP_RUNS, run, () => performance.now());
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

async function measured(runs: number, run: () => Promise<unknown>, now: () => number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < runs; index++) {
    const start = now();
    await run();
    times.push(now() - start);
  }
  return times;
}
