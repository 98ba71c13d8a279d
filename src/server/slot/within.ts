import { setTimeout as pause } from 'node:timers/promises';

/** Waits for work to end, at most so many milliseconds. @throws what the work throws by then */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, pause(milliseconds, undefined, { signal: over.signal })]);
  } finally {
    over.abort();
  }
}
