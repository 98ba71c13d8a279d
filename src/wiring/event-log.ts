import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.ts';

/** Logs an event and counts it: at its `level`, or as a warning where it tells of an error, and else as information. */
export function eventLog(metrics: Pick<Metrics, 'logged'>, log: Logger): (entry: object) => void {
  return (entry) => {
    metrics.logged(entry);
    const { level = 'error' in entry ? 'warn' : 'info', ...rest } = entry as { level?: EventLevel };
    log[level](rest);
  };
}

type EventLevel = 'info' | 'warn' | 'error';

