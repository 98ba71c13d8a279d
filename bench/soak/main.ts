import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { latencyOf } from '../load/drive.ts';
import { usageOf } from '../load/process-tree.ts';
import { writeReport } from '../report/report.ts';
import { startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';
import { driftOf } from './drift.ts';
import type { SoakOrder, SoakTold } from './traffic.ts';

/**
 * Mixed traffic of many Tenants for a long time: are memory and open files flat? `make soak MINUTES=30`. Workspaces are rented, filled,
 * searched and disposed of all the time, so that as much ends as begins. Ends with 1 when memory or files still grow after the first third.
 */

const MINUTES = Number(process.env.MINUTES || 30);
const SAMPLE_SECONDS = 10;
const ORDER: Omit<SoakOrder, 'url'> = {
  seconds: MINUTES * 60,
  workspaces: Number(process.env.WORKSPACES || 20),
  searchesPerSecond: Number(process.env.SEARCHES || 8),
  uploadsPerSecond: Number(process.env.UPLOADS || 0.5),
};
/** Growth over the last two thirds that is still called flat: a collector's saw-tooth is not growth. */
const MEMORY_GROWTH_MAX = 0.1;
const FILES_GROWTH_MAX = 16;

const of = machine();
console.log(`${of.processor}, ${of.cores} cores, Node ${of.node}, load before ${of.load_before.join(' ')}`);
console.log(
  `${MINUTES} minutes, ${ORDER.workspaces} workspaces at a time, ${ORDER.searchesPerSecond} searches and ${ORDER.uploadsPerSecond} uploads a second`,
);
const server = await startServer({ LOCAL_BALANCE_USD: '1000000' });
const samples: Sample[] = [];
try {
  const told = await soak();
  const drift = {
    memory: driftOf(samples.map(({ anonymous_mib }) => anonymous_mib)),
    files: driftOf(samples.map(({ open_files }) => open_files)),
  };
  const flat = drift.memory.share <= MEMORY_GROWTH_MAX && drift.files.by <= FILES_GROWTH_MAX;
  const figures = {
    statuses: told.statuses,
    rented: told.rented,
    disposed: told.disposed,
    search_ms: latencyOf(told.searchMs),
    upload_ms: latencyOf(told.uploadMs),
  };
  console.log(JSON.stringify({ ...figures, drift }, null, 1));
  console.log(
    `${flat ? 'flat' : 'GROWS'}: memory ${drift.memory.from.toFixed(0)} → ${drift.memory.to.toFixed(0)} MiB, open files ${drift.files.from} → ${drift.files.to}`,
  );
  const path = writeRecord('soak', { minutes: MINUTES, order: ORDER, ...figures, drift, flat, samples }, of);
  console.log(`record: ${path}\nreport: ${await writeReport(path)}`);
  process.exitCode = flat ? 0 : 1;
} finally {
  await server.stop();
}

interface Sample {
  readonly minute: number;
  readonly anonymous_mib: number;
  readonly resident_mib: number;
  readonly open_files: number;
  readonly processes: number;
  readonly cpu_seconds: number;
}

async function soak(): Promise<SoakTold> {
  const traffic = fork(join(import.meta.dirname, 'traffic.ts'));
  const done = new Promise<SoakTold>((resolve, reject) => {
    traffic.once('exit', (code) => reject(new Error(`the traffic ended with ${code}`)));
    traffic.once('message', (told) => resolve(told as SoakTold));
  });
  const began = performance.now();
  traffic.send({ url: server.url, ...ORDER } satisfies SoakOrder);
  let over = false;
  const ended = done.finally(() => {
    over = true;
  });
  ended.catch(() => {});
  for (let next = 1; !over; next += 1) {
    await Promise.race([ended, pause(began + next * SAMPLE_SECONDS * 1000 - performance.now())]);
    if (!over) sample((performance.now() - began) / 60_000, next);
  }
  return ended;
}

function sample(minute: number, number: number): void {
  const { anonymousMib, residentMib, openFiles, processes, cpuSeconds } = usageOf(server.pid);
  samples.push({
    minute: Number(minute.toFixed(2)),
    anonymous_mib: Math.round(anonymousMib),
    resident_mib: Math.round(residentMib),
    open_files: openFiles,
    processes,
    cpu_seconds: Number(cpuSeconds.toFixed(1)),
  });
  if (number % 6 === 1) {
    console.log(
      `  ${minute.toFixed(1).padStart(5)} min   memory ${anonymousMib.toFixed(0)} MiB (resident ${residentMib.toFixed(0)})   files ${openFiles}   processes ${processes}`,
    );
  }
}
