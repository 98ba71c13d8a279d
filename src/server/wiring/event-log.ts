import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.ts';

/** A full disk or lost etcd fails everything at once: one line a second is enough. */
const UNWRITABLE = /\b(books_unavailable|storage_full): /;
const UNWRITABLE_EVERY_MS = 1000;

/**
 * Counts an event and logs it at its `level`; without one, as a warning if it has an `error`, otherwise as information. Failures to
 * write are logged once a second.
 */
export function eventLog(metrics: Pick<Metrics, 'logged'>, log: Logger): (entry: object) => void {
  let quietUntil = 0;
  return (entry) => {
    metrics.logged(entry);
    const { error, err = error } = entry as { error?: unknown; err?: unknown };
    if (err !== undefined && UNWRITABLE.test(String(err))) {
      const now = performance.now();
      if (now < quietUntil) return;
      quietUntil = now + UNWRITABLE_EVERY_MS;
    }
    const { level = 'error' in entry ? 'warn' : 'info', ...rest } = entry as { level?: EventLevel };
    log[level](rest);
  };
}

type EventLevel = 'info' | 'warn' | 'error';
