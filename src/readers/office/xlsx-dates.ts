/** What a number format shows of a count of days: date, time of day, or all the hours, minutes or seconds. */
export type DateShape = 'date' | 'time' | 'both' | 'hours' | 'minutes' | 'seconds';

/** Built-in formats that show dates and times (ECMA-376 part 1, 18.8.30, with those of other languages). */
const DATES = [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58];
const TIMES = [18, 19, 20, 21, 32, 33, 34, 35, 45, 47];
const BOTH = [22];
const HOURS = [46];
/** Letters in brackets count beyond a day, an hour or a minute. */
const ELAPSED: Readonly<Record<string, DateShape>> = { h: 'hours', m: 'minutes', s: 'seconds' };

const DAY_MS = 86_400_000;
/** Day 0 of the two systems (18.17.4.1). The first counts a 29 February 1900 that never was: it begins a day early. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** The last day that spreadsheets know: 31 December 9999. */
const DAYS_MAX = 2_958_466;

/** A count of days in ISO 8601, as much of it as its format shows; undefined for a number that is no day. */
export function dateText(value: string, shape: DateShape, is1904: boolean): string | undefined {
  const days = Number(value);
  if (value.trim() === '' || !(days >= 0 && days < DAYS_MAX)) return undefined;
  const seconds = Math.round((days * DAY_MS) / 1000);
  const [date, time] = new Date((is1904 ? EPOCH_1904 : EPOCH_1900) + seconds * 1000)
    .toISOString()
    .split('T') as [string, string];
  const clock = time.slice(0, 8).replace(/:00$/, '');
  const two = (value: number): string => `${value}`.padStart(2, '0');
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return {
    date,
    time: clock,
    both: `${date} ${clock}`,
    hours: `${Math.floor(minutes / 60)}:${two(minutes % 60)}${rest === 0 ? '' : `:${two(rest)}`}`,
    minutes: `${minutes}:${two(rest)}`,
    seconds: `${seconds}`,
  }[shape];
}

/** Of a built-in format; undefined where it shows no date. */
export function shapeOfId(id: number): DateShape | undefined {
  if (HOURS.includes(id)) return 'hours';
  return DATES.includes(id) ? 'date' : TIMES.includes(id) ? 'time' : BOTH.includes(id) ? 'both' : undefined;
}

/** By the letters of the code, without quoted text, colours and languages. Beside days and years, an m is a month. */
export function shapeOfCode(code: string): DateShape | undefined {
  const letters = code
    .split(';')[0]!
    .replace(/"[^"]{0,255}"|\\.|_.|\*.|\[(?![hms]+\])[^\]]{0,255}\]/gi, '')
    .toLowerCase();
  // "General" and "Standard" are no dates, whatever their letters.
  if (/general|standard|[#0?]/.test(letters.replace(/s[.,]0+/g, 's'))) return undefined;
  const elapsed = /\[([hms])/.exec(letters)?.[1];
  if (elapsed !== undefined) return ELAPSED[elapsed];
  const hasTime = /[hs]/.test(letters);
  const hasDay = /[yd]/.test(letters) || (!hasTime && letters.includes('m'));
  return hasDay ? (hasTime ? 'both' : 'date') : hasTime ? 'time' : undefined;
}
