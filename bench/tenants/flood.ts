import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type BenchWorkspace, quantile } from '../rig/agent.ts';
import type { FloodOrder } from './flooder.ts';

const QUERIES = ['who watches birds in the morning?', 'how deep is the harbour?', 'when does the tide turn?'];

/** Each quiet Tenant searches at a steady rate, answered or not: a slow server must not spare itself by slowing its clients. */
async function searchQuietly(
  workspaces: readonly BenchWorkspace[],
  { seconds, perSecond }: { seconds: number; perSecond: number },
): Promise<number[]> {
  const times: number[] = [];
  const began = performance.now();
  const one = async (workspace: BenchWorkspace, offset: number) => {
    const running: Promise<void>[] = [];
    for (let index = 0; index < seconds * perSecond; index += 1) {
      const due = began + ((index + offset) * 1000) / perSecond;
      await pause(Math.max(0, due - performance.now()));
      const search = workspace.search({ query: QUERIES[index % QUERIES.length]! });
      running.push(search.then(() => void times.push(performance.now() - due)));
    }
    await Promise.all(running);
  };
  await Promise.all(workspaces.map((workspace, index) => one(workspace, index / workspaces.length)));
  return times;
}

interface Flooded {
  readonly answers: Map<number, number>;
  readonly seconds: number;
}

/** @returns what stops the flood, and what was answered to it. */
function flood(
  { url, headers }: Pick<BenchWorkspace, 'url' | 'headers'>,
  perSecond: number,
): () => Promise<Flooded> {
  const bodies = QUERIES.map((query) => JSON.stringify({ query }));
  const workerData: FloodOrder = { url: `${url}/search`, headers, bodies, perSecond };
  const thread = new Worker(join(import.meta.dirname, 'flooder.ts'), { workerData });
  return async () => {
    thread.postMessage('over');
    const [flooded] = await once(thread, 'message');
    return flooded as Flooded;
  };
}

/** The quiet ones without the flood and with it, twice in turns, so that a change of the machine shows. */
export async function compareFlood(
  quiet: readonly BenchWorkspace[],
  flooding: BenchWorkspace,
  { limit, seconds, perSecond }: { limit: number; seconds: number; perSecond: number },
): Promise<object> {
  const alone: number[] = [];
  const beside: number[] = [];
  const answers = new Map<number, number>();
  let floodSeconds = 0;
  await searchQuietly(quiet, { seconds: Math.min(5, seconds), perSecond });
  for (let repeat = 0; repeat < 2; repeat += 1) {
    alone.push(...(await searchQuietly(quiet, { seconds, perSecond })));
    const stop = flood(flooding, 10 * limit);
    beside.push(...(await searchQuietly(quiet, { seconds, perSecond })));
    const flooded = await stop();
    floodSeconds += flooded.seconds;
    for (const [status, count] of flooded.answers) answers.set(status, (answers.get(status) ?? 0) + count);
  }
  const total = [...answers.values()].reduce((sum, count) => sum + count, 0);
  const besideAlone = (share: number) => ({
    value: quantile(beside, share),
    unit: 'ms',
    peer: 'without the flood',
    peer_value: quantile(alone, share),
  });
  return {
    quiet_p50: besideAlone(0.5),
    quiet_p99: besideAlone(0.99),
    flood_per_second: total / floodSeconds,
    flood_answers: Object.fromEntries(answers),
  };
}
