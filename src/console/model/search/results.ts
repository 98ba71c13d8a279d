import type { Hit, SearchAnswer } from '@farthing/client';
import { shownFirst } from '@farthing/protocol/search';
import { type Asked, type Filter, KINDS, type Kind } from '../state/asked.ts';

export function isKind(text: string | undefined): text is Kind {
  return text !== undefined && Object.hasOwn(KINDS, text);
}

export function kindOf({ item: { media_type } }: Pick<Hit, 'item'>): Kind {
  if (media_type.startsWith('video/')) return 'film';
  if (media_type.startsWith('audio/')) return 'sound';
  return media_type.startsWith('image/') ? 'picture' : 'text';
}

/** Names a hit's page, film or file, which a search for more like it leaves out. */
export function placeNameOf({ item, locator }: Pick<Hit, 'item' | 'locator'>): string {
  return locator.page === undefined ? item.id : `${item.id}.${locator.page}`;
}

/** Whether the server draws pictures of an item's pages or moments. */
export function hasPagePicture({ item: { media_type } }: Pick<Hit, 'item'>): boolean {
  return /^(image|video)\/|^application\/pdf$/.test(media_type);
}

export function isShown(hit: Hit, { kind, item }: Filter): boolean {
  return (kind === undefined || kindOf(hit) === kind) && (item === undefined || hit.item.id === item);
}

/** The hits that are shown before the less likely ones are asked for. What is like a hit is compared, and not folded. */
export function firstOf({ like }: Pick<Asked, 'like'>, hits: readonly Hit[]): readonly Hit[] {
  return like === undefined ? shownFirst(hits) : hits;
}

/** Kinds of an answer's hits with their counts, in the table's order. */
export function kindCounts(hits: readonly Hit[]): { readonly kind: Kind; readonly count: number }[] {
  return (Object.keys(KINDS) as Kind[])
    .map((kind) => ({ kind, count: hits.filter((hit) => kindOf(hit) === kind).length }))
    .filter(({ count }) => count > 0);
}

export interface FoundItem {
  readonly id: string;
  readonly name: string;
  readonly count: number;
}

/** Items of an answer's hits, best first. */
export function foundItems(hits: readonly Hit[]): FoundItem[] {
  const items = new Map<string, FoundItem>();
  for (const { item } of hits) {
    const { count } = items.get(item.id) ?? { count: 0 };
    items.set(item.id, { id: item.id, name: item.name, count: count + 1 });
  }
  return [...items.values()];
}

/** First hits that decide whether an answer is one of pictures. */
const LEADING = 6;

/** Words are read in a list; pictures are compared in a grid. */
export function layoutOf({ picture, query }: Asked, { hits }: Pick<SearchAnswer, 'hits'>): 'list' | 'grid' {
  if (picture && query === '') return 'grid';
  const leading = hits.slice(0, LEADING);
  return leading.length > 0 && leading.every((hit) => kindOf(hit) === 'picture') ? 'grid' : 'list';
}

/** A moment of a recording. */
export interface FoundMoment {
  readonly time_s: number;
  readonly confidence: number;
}

/** Moments of a film's or recording's hit in order of time, its best among them: a film that is found by its name has none that is best. */
export function momentsOf({ locator: { time_s }, confidence, moments = [] }: Hit): FoundMoment[] {
  const best = time_s === undefined ? [] : [{ time_s, confidence }];
  return [...best, ...moments].sort((a, b) => a.time_s - b.time_s);
}

/** `k` of the next, deeper search; undefined when there is none. */
export function deeper(k: number, found: number): number | undefined {
  return found < k ? undefined : [100, 300, 1000].find((depth) => depth > k);
}
