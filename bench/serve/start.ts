import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../rig/agent.ts';

/** From a spawn to the first `/readyz` that says yes. The first start embeds the labels of pictures, the others find them in the cache. */
const STARTS = Number(process.env.STARTS);
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

const first = await startOnce();
const later: number[] = [];
while (later.length < STARTS - 1) later.push(await startOnce());
rmSync(folder, { recursive: true, force: true });
export const facts = { first_ms: first, later_ms: later };
