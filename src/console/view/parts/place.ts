import type { Hit } from '@farthing/client';
import { clockText } from '@farthing/protocol/figures';

/** Where in its file a hit is, in words. @param time another moment of it */
export function placeOf({ item, locator }: Hit, time = locator.time_s): string {
  if (time !== undefined) return `at ${clockText(time)}${lengthOf(item.duration_s)}`;
  if (locator.page !== undefined)
    return `${locator.page_kind ?? 'page'} ${locator.page}${item.pages === undefined ? '' : ` of ${item.pages}`}`;
  if (item.width !== undefined && item.height !== undefined) return `${item.width} × ${item.height} pixels`;
  return locator.heading ?? '';
}

function lengthOf(seconds: number | undefined): string {
  return seconds === undefined ? '' : ` of ${clockText(seconds)}`;
}

export function titleOf({ item }: Hit): string {
  return item.title ?? item.name;
}

/** The format of a file in a word: the end of its name, or else of its type. */
export function formatOf({ name, media_type }: Pick<Hit['item'], 'name' | 'media_type'>): string {
  const [, end = media_type.split('/').at(-1)!] = /\.([a-z0-9]{1,5})$/i.exec(name) ?? [];
  return end.toUpperCase();
}

/** Marks recognised text. */
export function sourceOf({ text_source, ocr_confidence, speech_confidence }: Hit): string | undefined {
  if (text_source === undefined || text_source === 'native') return undefined;
  const share = ocr_confidence ?? speech_confidence;
  const sure = share === undefined ? '' : `, ${Math.round(share * 100)} % sure`;
  if (text_source === 'speech') return `heard${sure}`;
  return text_source === 'ocr' ? `read from the picture${sure}` : `from ${text_source}`;
}
