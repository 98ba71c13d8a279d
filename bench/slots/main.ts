import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Usage, untilIdle, usageOf } from '../load/process-tree.ts';
import { quantile, startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';

/**
 * What slots cost a process that holds them all: `make bench NAME=slots SLOTS=1,16,64,128 STARTS=5`. Start, memory, files, intervals
 * and idle processor time, the numbers of slots in turns.
 */

const COUNTS = (process.env.SLOTS || '1,16,64,128').split(',').map(Number);
const STARTS = Number(process.env.STARTS || 5);
const IDLE_MS = 10_000;

interface Start {
  readonly readyMs: number;
  readonly residentMib: number;
  readonly anonymousMib: number;
  readonly openFiles: number;
  readonly intervals: number;
  /** Share of one core. */
  readonly idleShare: number;
}

const preload = resolve(import.meta.dirname, 'intervals.ts');
const folder = mkdtempSync(join(tmpdir(), 'farthing-slots-'));

async function startOnce(slots: number): Promise<Start> {
  const began = performance.now();
  const data = join(folder, String(slots));
  const server = await startServer(
    {
      DATA_DIR: data,
      SLOTS: String(slots),
      QUERY_WORKERS: '1',
      INGEST_WORKERS: '1',
      CACHE_DIR: join(folder, 'cache'),
    },
    { preload, folder },
  );
  const readyMs = performance.now() - began;
  try {
    await untilIdle(server.pid);
    const before = usageOf(server.pid);
    await pause(IDLE_MS);
    const after: Usage = usageOf(server.pid);
    server.child.send('count');
    const [{ intervals }] = (await once(server.child, 'message')) as [{ intervals: number }];
    return {
      readyMs,
      intervals,
      residentMib: after.residentMib,
      anonymousMib: after.anonymousMib,
      openFiles: after.openFiles,
      idleShare: (after.cpuSeconds - before.cpuSeconds) / (IDLE_MS / 1000),
    };
  } finally {
    await server.stop();
  }
}

const median = (starts: readonly Start[], figure: keyof Start) =>
  quantile(
    starts.map((start) => start[figure]),
    0.5,
  );

try {
  const starts = new Map<number, Start[]>(COUNTS.map((slots) => [slots, []]));
  // The first start of a folder makes the slots, and the labels' embeddings: it is not counted.
  for (let turn = 0; turn <= STARTS; turn++)
    for (const slots of COUNTS) {
      const start = await startOnce(slots);
      if (turn > 0) starts.get(slots)!.push(start);
      else console.log(`${slots} slots: made in ${start.readyMs.toFixed(0)} ms`);
    }
  const rows = COUNTS.map((slots) => {
    const of = starts.get(slots)!;
    return {
      slots,
      ready_ms: Math.round(median(of, 'readyMs')),
      resident_mib: Math.round(median(of, 'residentMib')),
      anonymous_mib: Math.round(median(of, 'anonymousMib')),
      open_files: median(of, 'openFiles'),
      intervals: median(of, 'intervals'),
      idle_percent: Number((100 * median(of, 'idleShare')).toFixed(2)),
    };
  });
  console.table(rows);
  console.log(writeRecord('slots', { rows }, machine()));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
