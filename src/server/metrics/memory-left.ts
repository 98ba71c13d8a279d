import { readFileSync } from 'node:fs';

/** Memory of the machine or of the process's cgroup, in bytes. */
export interface MemoryLeft {
  readonly limit: number;
  /** What may still be taken. Files that the kernel keeps, and may drop, count. */
  readonly left: number;
  readonly of: 'machine' | 'cgroup';
}

/** Files of a cgroup, by version of its interface. */
const GROUPS = {
  2: { root: '/sys/fs/cgroup', limit: 'memory.max', used: 'memory.current', prefix: '' },
  1: {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    used: 'memory.usage_in_bytes',
    prefix: 'total_',
  },
} as const;

/**
 * Memory where there is the smaller share of it left: of the machine, or of the cgroup that ends what is in it at its limit. Readers are in the
 * same cgroup as the server.
 * @param read a file's text; undefined where it cannot be read
 */
export function memoryLeft(read = readOrNothing): MemoryLeft {
  const machine = machineOf(read('/proc/meminfo') ?? '');
  const group = groupOf(read);
  return group && group.left / group.limit < machine.left / machine.limit ? group : machine;
}

function machineOf(meminfo: string): MemoryLeft {
  const bytes = (name: string) => 1024 * numberBehind(meminfo, `${name}:`);
  return { limit: bytes('MemTotal'), left: bytes('MemAvailable'), of: 'machine' };
}

function groupOf(read: typeof readOrNothing): MemoryLeft | undefined {
  const groups = read('/proc/self/cgroup') ?? '';
  const first = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1];
  const { root, limit: limitFile, used: usedFile, prefix } = GROUPS[first === undefined ? 2 : 1];
  const path = first ?? /^0::(.*)$/m.exec(groups)?.[1];
  if (path === undefined) return undefined;
  // Within a container its own group stands at the root.
  const folder = [`${root}${path}`, root].find((each) => read(`${each}/${limitFile}`) !== undefined);
  if (folder === undefined) return undefined;
  // Without a limit it is "max", or more than any machine has.
  const limit = Number(read(`${folder}/${limitFile}`));
  if (!(limit < Number.MAX_SAFE_INTEGER)) return undefined;
  const stat = read(`${folder}/memory.stat`) ?? '';
  const files = numberBehind(stat, `${prefix}active_file`) + numberBehind(stat, `${prefix}inactive_file`);
  const used = Number(read(`${folder}/${usedFile}`)) - files;
  return { limit, left: Math.max(0, limit - used), of: 'cgroup' };
}

function numberBehind(text: string, name: string): number {
  return Number(new RegExp(`^${name}\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
