import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Resources of a process and all that it started, as Linux counts them. */
export interface Usage {
  /** Processor time since the start, of ended children too. */
  readonly cpuSeconds: number;
  /** Memory of their own, and with mapped files and shared pages. */
  readonly anonymousMib: number;
  readonly residentMib: number;
  readonly openFiles: number;
  readonly processes: number;
}

/** Linux counts processor time in hundredths of a second for user programs (USER_HZ). */
const TICKS = 100;
const KIB_PER_MIB = 1024;

export function usageOf(pid: number): Usage {
  const all = treeOf(pid).map(usageOfOne);
  const sum = (of: keyof Usage) => all.reduce((total, one) => total + one[of], 0);
  return {
    cpuSeconds: sum('cpuSeconds'),
    anonymousMib: sum('anonymousMib'),
    residentMib: sum('residentMib'),
    openFiles: sum('openFiles'),
    processes: all.length,
  };
}

/** Sockets that a process itself has open, connections among them. */
export function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const paths = (quietly(() => readdirSync(folder)) ?? []).map((file) =>
    quietly(() => readlinkSync(`${folder}/${file}`)),
  );
  return paths.filter((path) => path?.startsWith('socket:')).length;
}

const LOOK_EVERY_MS = 250;
const IDLE_SHARE = 0.1;
const IDLE_AFTER_MS_MAX = 20_000;

/** Resolves when a server has done what it does after its start, such as starting its readers: less than a tenth of a core. */
export async function untilIdle(pid: number): Promise<void> {
  const most = performance.now() + IDLE_AFTER_MS_MAX;
  let before = usageOf(pid).cpuSeconds;
  while (performance.now() < most) {
    await pause(LOOK_EVERY_MS);
    const now = usageOf(pid).cpuSeconds;
    if ((now - before) * 1000 < IDLE_SHARE * LOOK_EVERY_MS) return;
    before = now;
  }
}

function treeOf(pid: number): number[] {
  const children = quietly(() =>
    readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    ),
  );
  return [pid, ...(children ?? []).flatMap(treeOf)];
}

const NOTHING: Usage = { cpuSeconds: 0, anonymousMib: 0, residentMib: 0, openFiles: 0, processes: 0 };

/** A child that ended meanwhile uses nothing. */
function usageOfOne(pid: number): Usage {
  return (
    quietly(() => {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // utime, stime, cutime and cstime, counted after the name in brackets, which may hold spaces.
      const times = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 15);
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const mib = (name: string) =>
        Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / KIB_PER_MIB;
      return {
        cpuSeconds: times.reduce((total, ticks) => total + Number(ticks), 0) / TICKS,
        anonymousMib: mib('RssAnon'),
        residentMib: mib('VmRSS'),
        openFiles: readdirSync(`/proc/${pid}/fd`).length,
        processes: 1,
      };
    }) ?? NOTHING
  );
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
