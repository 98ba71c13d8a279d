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

async function medianMs(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < WARMUP_RUNS; index++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}
