import { setTimeout as timeout } from 'node:timers/promises';
import type { Pause } from './kv.ts';

/** Waits for work to end, at most so many milliseconds. @param pause by another clock @throws errors of the work until then */
export async function within(milliseconds: number, work: Promise<unknown>, pause?: Pause): Promise<void> {
  const over = new AbortController();
  const late = pause?.(milliseconds) ?? timeout(milliseconds, undefined, { signal: over.signal });
  try {
    await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
