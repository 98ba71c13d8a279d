import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds on a processor since the start, by the name of the thread. */
export type ThreadTimes = Readonly<Record<string, number>>;

/** Times of a process and its children, which count under `children`. Linux counts nanoseconds for each thread. */
export function processorTimes(pid: number): ThreadTimes {
  const times: Record<string, number> = {};
  const add = (name: string, ms: number): void => {
    times[name] = (times[name] ?? 0) + ms;
  };
  for (const thread of quietly(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
    const folder = `/proc/${pid}/task/${thread}`;
    const name =
      Number(thread) === pid
        ? 'main'
        : (quietly(() => readFileSync(`${folder}/comm`, 'utf8').trim()) ?? 'ended');
    add(name, quietly(() => Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1e6) ?? 0);
    const children =
      quietly(() => readFileSync(`${folder}/children`, 'utf8').split(' ').filter(Boolean)) ?? [];
    for (const child of children)
      add(
        'children',
        Object.values(processorTimes(Number(child))).reduce((sum, ms) => sum + ms, 0),
      );
  }
  return times;
}

/** A thread or child that ended meanwhile uses nothing. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
