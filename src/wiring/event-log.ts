import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.ts';

/** What fails everywhere at the same time, when nothing can be written: a line a second of it is enough. */
const OF_ALL = /\b(books_unavailable|storage_full): /;
const OF_ALL_EVERY_MS = 1000;

/**
 * Logs an event and counts it: at its `level`, or as a warning where it tells of an error, and else as information. What a full disk
 * fails is logged once a second.
 */
export function eventLog(metrics: Pick<Metrics, 'logged'>, log: Logger): (entry: object) => void {
  let quietUntil = 0;
  return (entry) => {
    metrics.logged(entry);
    const { error, err = error } = entry as { error?: unknown; err?: unknown };
    if (err !== undefined && OF_ALL.test(String(err))) {
      const now = performance.now();
      if (now < quietUntil) return;
      quietUntil = now + OF_ALL_EVERY_MS;
    }
    const { level = 'error' in entry ? 'warn' : 'info', ...rest } = entry as { level?: EventLevel };
    log[level](rest);
  };
}

type EventLevel = 'info' | 'warn' | 'error';
