import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startServer } from '../rig/agent.ts';
import { latencyOf } from '../rig/drive.ts';
import { usageOf } from '../rig/process-tree.ts';
import { driftOf } from './drift.ts';
import type { SoakOrder, SoakResult } from './traffic.ts';

/**
 * Mixed traffic of many Tenants for a long time: are memory and open files flat? Workspaces are rented, filled, searched and disposed
 * of all the time, so that as much ends as begins. Ends with 1 when memory or files still grow after the first third.
 */
const { MINUTES, WORKSPACES, SEARCHES, UPLOADS } = process.env;
const SAMPLE_SECONDS = 10;
/** Growth over the last two thirds that is still called flat: a collector's saw-tooth is not growth. */
const MEMORY_GROWTH_MAX = 0.1;
const FILES_GROWTH_MAX = 16;

const server = await startServer({ LOCAL_BALANCE_USD: '1000000' });
const samples: { readonly minute: string; readonly memory_mib: number; readonly files: number }[] = [];
const { searchMs, uploadMs, statuses, rented, disposed } = await soak().finally(() => server.stop());
const memory = driftOf(samples.map(({ memory_mib }) => memory_mib));
const files = driftOf(samples.map((one) => one.files));
export const facts = {
  rented,
  disposed,
  answers: statuses,
  search_ms: latencyOf(searchMs),
  upload_ms: latencyOf(uploadMs),
  memory_from_mib: memory.from,
  memory_to_mib: memory.to,
  files_from: files.from,
  files_to: files.to,
  ...Object.fromEntries(samples.map(({ minute, ...rest }) => [`minute ${minute}`, rest])),
};
const isShort = samples.length < 2;
const isFlat = isShort || (memory.share <= MEMORY_GROWTH_MAX && files.by <= FILES_GROWTH_MAX);
console.log(isShort ? 'too short to tell' : isFlat ? 'flat' : 'GROWS');
process.exitCode = isFlat ? 0 : 1;

async function soak(): Promise<SoakResult> {
  const traffic = fork(join(import.meta.dirname, 'traffic.ts'));
  const ended = new Promise<SoakResult>((resolve, reject) => {
    traffic.once('exit', (code) => reject(new Error(`the traffic ended with ${code}`)));
    traffic.once('message', (result) => resolve(result as SoakResult));
  });
  const order: SoakOrder = {
    url: server.url,
    seconds: Number(MINUTES) * 60,
    workspaces: Number(WORKSPACES),
    searchesPerSecond: Number(SEARCHES),
    uploadsPerSecond: Number(UPLOADS),
  };
  traffic.send(order);
  const began = performance.now();
  let isOver = false;
  const over = ended.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  for (let next = 1; !isOver; next += 1) {
    await Promise.race([over, pause(began + next * SAMPLE_SECONDS * 1000 - performance.now())]);
    if (isOver) break;
    const { anonymousMib, openFiles } = usageOf(server.pid);
    const minute = ((performance.now() - began) / 60_000).toFixed(2);
    samples.push({ minute, memory_mib: Math.round(anonymousMib), files: openFiles });
  }
  return over;
}
