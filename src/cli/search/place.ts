import type { Hit } from '@farthing/client';
import { clockText } from '@farthing/protocol/figures';

const PAGE_WORDS = { page: 'p.', slide: 'slide', sheet: 'sheet', chapter: 'chapter' } as const;

/** Page, time or heading of a hit, for people; empty without any. */
export function place({ page, page_kind = 'page', time_s, heading }: Hit['locator']): string {
  if (page !== undefined) return `${PAGE_WORDS[page_kind]} ${page}`;
  if (time_s !== undefined) return clockText(time_s);
  return heading === undefined ? '' : `“${heading}”`;
}
