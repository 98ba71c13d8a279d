import { readdirSync, readFileSync } from 'node:fs';

/** Processes that this one started and that have not ended. Linux only. */
export function children(): number[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, 'utf8')
        .split(' ')
        .filter(Boolean)
        .map(Number);
    } catch {
      // The thread has ended.
      return [];
    }
  });
}
