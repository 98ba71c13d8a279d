import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Finding } from '@farthing/protocol/schema/operator';
import { ok, warning } from '../finding.ts';

/** Whether a cgroup limits the threads of the server and its readers: no other limit counts a reader's without the server's. */
export function threads(cgroups = '/proc/self/cgroup', mounted = '/sys/fs/cgroup'): Finding {
  const limit = pidsMax(cgroups, mounted);
  return limit === undefined
    ? warning(
        'threads',
        'not limited',
        'A file that takes a reader over could start threads until the machine has none left. Set pids.max: TasksMax in a systemd unit, --pids-limit for a container.',
      )
    : ok('threads', `at most ${limit}, by pids.max`);
}

/** The lowest limit of the process's cgroup and those around it; undefined where none has one. */
function pidsMax(cgroups: string, mounted: string): number | undefined {
  const limits = readFileSync(cgroups, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
      if (path === undefined) return [];
      // Version 2 has no controllers in its line; version 1 has a folder for them.
      if (controllers === '') return around(mounted, path);
      return controllers?.split(',').includes('pids') ? around(join(mounted, 'pids'), path) : [];
    });
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

function around(mounted: string, path: string): number[] {
  const limit = limitOf(join(mounted, path, 'pids.max'));
  const limits = limit === undefined ? [] : [limit];
  return path === '/' ? limits : [...limits, ...around(mounted, dirname(path))];
}

function limitOf(file: string): number | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === 'max' ? undefined : Number(text);
  } catch {
    return undefined;
  }
}
