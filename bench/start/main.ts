import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile, startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';

/**
 * From a spawn to the first `/readyz` that says yes: `make bench NAME=start STARTS=6`. The first
 * start embeds the labels of pictures, the others find them in the cache.
 */

const CLAIM_MS = 1_000;
const starts = Number(process.env.STARTS || 6);
const folder = mkdtempSync(join(tmpdir(), 'farthing-start-'));

/** Waits for the line that a starting server prints, and asks it then: asking all the time would take its processors. */
async function startOnce(): Promise<number> {
  const began = performance.now();
  const server = await startServer({ DATA_DIR: join(folder, 'data') });
  try {
    const answer = await fetch(`${server.url}/readyz`);
    if (answer.status !== 200) throw new Error(`it says that it is ready, and /readyz says ${answer.status}`);
    return performance.now() - began;
  } finally {
    await server.stop();
  }
}

try {
  const first = await startOnce();
  const later: number[] = [];
  while (later.length < starts - 1) later.push(await startOnce());
  const median = quantile(later, 0.5);
  console.log(
    `first start ready after ${first.toFixed(0)} ms, later ones after ${median.toFixed(0)} ms (median of ${later.length})`,
  );
  console.log(writeRecord('start', { first_ms: first, later_ms: later }, machine()));
  process.exitCode = median <= CLAIM_MS ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
