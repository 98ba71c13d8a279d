import { performance } from 'node:perf_hooks';
import type { Candidate, Tower } from '../models/tower.ts';
import { PictureRunner } from '../picture/picture-runner.ts';
import { type LastingSession, openLasting } from '../session/lasting-session.ts';
import type { Session } from '../session/session.ts';
import { TextRunner } from '../text/text-runner.ts';
import type { TowerReport } from './protocol.ts';

const WARMUP_RUNS = 3;

/** A tower that is open and warm in this worker. */
export interface OpenTower {
  readonly runner: TextRunner | PictureRunner;
  readonly session: LastingSession;
  readonly report: TowerReport;
}

/** @param labels embeddings of the label bridge, which may be filled later: warming up uses none */
export async function openTower(
  tower: Tower,
  candidate: Candidate,
  labels: Float32Array = new Float32Array(0),
): Promise<OpenTower> {
  const session = await openLasting(candidate);
  const runner = runnerOf(tower, candidate, session, labels);
  const warmupMs = await medianMs(() => runner.probe());
  return { runner, session, report: { model: tower.model, provider: candidate.provider, warmupMs } };
}

function runnerOf(
  tower: Tower,
  candidate: Candidate,
  session: Session,
  labels: Float32Array,
): OpenTower['runner'] {
  switch (tower.kind) {
    case 'text':
      return new TextRunner(tower, candidate, session);
    case 'picture':
      return new PictureRunner(tower, candidate, session, labels);
  }
}

/** Milliseconds of one input in a full run of an ingest. */
export async function ingestRowMs({ runner }: OpenTower, rows: number): Promise<number> {
  return (await medianMs(() => runner.fullRun(rows))) / rows;
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
