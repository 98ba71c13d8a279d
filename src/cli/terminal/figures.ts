import type { Hit } from '@farthing/client';
import { clockText, counted } from '@farthing/protocol/figures';
import type { Voice } from '@farthing/protocol/schema/facts';

/** Figures as a terminal shows them. */

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** `43 minutes`, rounded down so as not to promise too much. */
export function durationText(seconds: number): string {
  if (seconds < MINUTE_S) return counted(Math.max(0, Math.floor(seconds)), 'second');
  if (seconds < 2 * HOUR_S) return counted(Math.floor(seconds / MINUTE_S), 'minute');
  if (seconds < 2 * DAY_S)
    return `${counted(Math.floor(seconds / HOUR_S), 'hour')} ${counted(Math.floor((seconds % HOUR_S) / MINUTE_S), 'minute')}`;
  return counted(Math.floor(seconds / DAY_S), 'day');
}

/** What is left of a workspace's time; null: it has no end. */
export function timeLeftText(seconds: number | null): string {
  return seconds === null ? 'it stays' : `${durationText(seconds)} left`;
}

/** `14:20`, with the date if that is not today. @param timestamp RFC 3339 */
export function timeText(timestamp: string, now = new Date()): string {
  const time = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (time.toDateString() === now.toDateString()) return clock;
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}

/** Each kind of value in a terminal. */
export const VOICE: Voice = {
  duration: durationText,
  time: (time: string) => timeText(time),
  moments: momentsText,
};

/** The other moments of a film or recording, in order of time. */
function momentsText(
  moments: Required<Hit>['moments'],
  { most }: { readonly most?: number | undefined },
): string {
  const best = moments.slice(0, most).toSorted((a, b) => a.time_s - b.time_s);
  const more = moments.length - best.length;
  return `also at ${best.map(({ time_s }) => clockText(time_s)).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
