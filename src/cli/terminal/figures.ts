/** Figures as people read them. */

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];
const STEP = 1000;
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** `1 file`, `2 files` */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? singular : plural}`;
}

/** `0.90 USD`, `0.0175 USD` @param usd a decimal */
export function usdText(usd: string): string {
  const [whole, cents = ''] = usd.split('.');
  return `${whole}.${cents.padEnd(2, '0')} USD`;
}

/** `1.2 MB` */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / STEP ** power;
  return `${power === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** `43 minutes`, rounded down: what is left is never promised too high. */
export function durationText(seconds: number): string {
  if (seconds < MINUTE_S) return counted(Math.max(0, Math.floor(seconds)), 'second');
  if (seconds < 2 * HOUR_S) return counted(Math.floor(seconds / MINUTE_S), 'minute');
  if (seconds < 2 * DAY_S)
    return `${counted(Math.floor(seconds / HOUR_S), 'hour')} ${counted(Math.floor((seconds % HOUR_S) / MINUTE_S), 'minute')}`;
  return counted(Math.floor(seconds / DAY_S), 'day');
}

/** `14:20`, with the date if that is not today. @param timestamp RFC 3339 */
export function timeText(timestamp: string, now = new Date()): string {
  const time = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (time.toDateString() === now.toDateString()) return clock;
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}
