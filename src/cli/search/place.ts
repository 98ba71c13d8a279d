import type { Hit } from '@farthing/client';

const PAGE_WORDS = { page: 'p.', slide: 'slide', sheet: 'sheet', chapter: 'chapter' } as const;
const HOUR_S = 3600;

/** Page, time or heading of a hit, for people; empty without any. */
export function place({ page, page_kind = 'page', time_s, heading }: Hit['locator']): string {
  if (page !== undefined) return `${PAGE_WORDS[page_kind]} ${page}`;
  if (time_s !== undefined) return clockTime(time_s);
  return heading === undefined ? '' : `“${heading}”`;
}

/** `1:02` or `1:00:02` */
export function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / HOUR_S), Math.floor((whole % HOUR_S) / 60)];
  const rest = String(whole % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}
